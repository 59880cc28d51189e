import re
from pathlib import Path

import pytest

import shuffledp
from shuffledp_papers.court.case import CourtVerdict, judge
from shuffledp_papers.court.case_registry import all_cases, case_named, judge_all
from shuffledp_papers.court.court_page import document
from shuffledp_papers.court.small.programs import PROGRAMS

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
PAGE = Path(shuffledp.__file__).parents[2] / "docs" / "papers" / "court.md"
needs_docs = pytest.mark.skipif(not PAGE.is_file(), reason="docs/ is not here")


def test_a_page_has_the_numbers_of_its_rulings_and_programs_of_claims_that_fall() -> (
    None
):
    rulings = [judge(case_named(name)) for name in ("V10", "V10-2", "C17")]

    page = document(rulings)

    assert "| 0.693 | 0.0234 | 0.0703 | 0.0703 |" in page
    assert "fall (2)" in page
    assert "stand (1)" in page
    assert f"V10, V10-2:\n\n```python\n{PROGRAMS['V10'].text}```" in page
    assert page.count("```python") == 1


@needs_docs
def test_the_page_of_the_documentation_lists_every_case_and_program() -> None:
    page = PAGE.read_text(encoding="utf-8")
    falls, stands = page.split("## Claims that stand")

    for case in all_cases():
        part = falls if case.expected is CourtVerdict.VIOLATED else stands
        assert f"| {case.name} | {case.bound}: {case.source} | {case.setting} |" in part
    for program in PROGRAMS.values():
        assert program.text in page


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
