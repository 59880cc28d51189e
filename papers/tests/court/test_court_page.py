import re
from collections import Counter
from pathlib import Path

import pytest

import shuffledp
from shuffledp_papers.court.case import CourtVerdict, judge
from shuffledp_papers.court.case_registry import all_cases, case_named, judge_all
from shuffledp_papers.court.court_page import document
from shuffledp_papers.court.small.programs import PROGRAMS
from shuffledp_papers.court.stated_claim import (
    CLAIMS,
    ClaimVerdict,
    claims_of,
    counts_of_verdicts,
    dependents,
    earlier_names,
)

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
PAGE = Path(shuffledp.__file__).parents[2] / "docs" / "papers" / "court.md"
CASES = {case.name: case for case in all_cases()}
needs_docs = pytest.mark.skipif(not PAGE.is_file(), reason="docs/ is not here")


def test_a_page_has_the_numbers_of_its_rulings_and_programs_of_claims_that_fall() -> (
    None
):
    rulings = [judge(case_named(name)) for name in ("V10", "V10-2", "C17")]

    page = document(rulings)

    assert "| 0.693 | 0.0234 | 0.0703 | 0.0703 | false under every reading |" in page
    assert "fall, as they are read (2)" in page
    assert "stand (1)" in page
    comment = claims_of("V10")[0].comment
    assert f"V10, V10-2:\n\n```python\n{comment}{PROGRAMS['V10'].text}```" in page
    assert page.count("```python") == 1


@needs_docs
def test_the_page_of_the_documentation_lists_every_case_and_program() -> None:
    page = PAGE.read_text(encoding="utf-8")
    falls, stands = page.split("## Claims that stand")

    for case in all_cases():
        part = falls if case.expected is CourtVerdict.VIOLATED else stands
        source = f"{case.bound}: {case.statement.source}"
        assert f"| {case.name} | {source} | {case.setting} |" in part
    for program in PROGRAMS.values():
        assert program.text in page


@needs_docs
def test_every_statement_has_its_reading_adversary_and_verdict_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    false = counts_of_verdicts()["false under every reading"]

    fallen = [claim.verdict for claim in dependents()].count(ClaimVerdict.FALSE)
    assert f"| false under every reading | {false} | {fallen} |" in page
    for claim in CLAIMS:
        start = page.index(f"### {claim.source}\n\n**{claim.verdict}**; `{claim.name}`")
        record = page[start:].split("\n### ")[0].split("\n## ")[0]
        for formula in claim.statement:
            assert f"* `{formula}`" in record
        for text in (claim.reading, claim.adversary, claim.neighbors, claim.charitable):
            assert text in record


@needs_docs
def test_every_verdict_that_changed_is_argued() -> None:
    changes = (PAGE.parent / "verdicts.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", changes, re.M
    )
    listed = {
        name: now
        for cases, _, now, why in rows
        for name in cases.split(", ")
        if why.strip() and name.startswith(("V", "C"))
    }

    names = {case.name for case in all_cases()} | set(earlier_names())
    assert set(listed) == names
    for name, now in listed.items():
        case = CASES.get(name)
        stands = case is not None and case.expected is CourtVerdict.CONSISTENT
        verdict = ClaimVerdict.HOLDS if stands else claims_of(name)[0].verdict
        assert now == verdict, name


@needs_docs
def test_the_summary_of_changes_is_the_sum_of_its_rows() -> None:
    changes = (PAGE.parent / "verdicts.md").read_text(encoding="utf-8")
    summary, rows = changes.split("\n| cases | before | now | why |\n")
    counted = Counter(
        (before.split(":")[0], now)
        for cases, before, now in re.findall(
            r"^\| ([VC][^|]+) \| ([^|]+) \| ([^|]+) \|", rows, re.M
        )
        for _ in cases.split(", ")
    )
    headings, _, *lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in summary.splitlines()
        if line.startswith("|")
    ]

    assert headings[1:] == list(ClaimVerdict)
    for before, *cells in lines:
        name, total = re.fullmatch(r"(.+) \((\d+)\)", before).groups()  # type: ignore[union-attr]
        printed = {
            verdict: int(cell or 0)
            for verdict, cell in zip(headings[1:], cells, strict=True)
        }
        assert printed == {verdict: counted[name, verdict] for verdict in ClaimVerdict}
        assert int(total) == sum(printed.values())
    assert len(lines) == len({before for before, _ in counted})


@needs_docs
@pytest.mark.slow
def test_the_page_of_the_documentation_is_what_the_command_writes() -> None:
    kept = PAGE.read_text(encoding="utf-8").splitlines()
    written = document(judge_all(all_cases())).splitlines()

    assert len(kept) == len(written)
    for before, now in zip(kept, written, strict=True):
        if before == now:
            continue
        # Attacks on Gaussian noise are sums whose order is the processor's: the third
        # digit of what they show may be another one.
        assert before.startswith("| C")
        assert NUMBER.sub("", before) == NUMBER.sub("", now)
        numbers = [list(map(float, NUMBER.findall(line))) for line in (before, now)]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.011)
