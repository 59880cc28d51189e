"""Withdrawn cases: named with a reason, counted nowhere, run by nothing."""

from pathlib import Path

import pytest

import shuffledp as sdp
from shuffledp_papers.contents.papers import PAPERS
from shuffledp_papers.court.case_registry import all_cases, case_named
from shuffledp_papers.court.small.counterexample import COUNTEREXAMPLES
from shuffledp_papers.court.small.programs import PROGRAMS
from shuffledp_papers.court.withdrawn import (
    WITHDRAWN,
    WithdrawalReason,
    withdrawal_of,
    withdrawn_names,
)

NAMES = withdrawn_names()
PAGE = Path(sdp.__file__).parents[2] / "docs" / "papers" / "court.md"


def test_what_was_not_stated_is_withdrawn_and_for_which_reason() -> None:
    reasons = {
        name: withdrawal.reason for withdrawal in WITHDRAWN for name in withdrawal.cases
    }

    misprints = {"V5", "V5-small", "V9", "V9-2", "V20", "V21"}
    assert {
        n for n, r in reasons.items() if r is WithdrawalReason.MISPRINT
    } == misprints
    assert {reasons[name] for name in ("V12", "V12-small", "V17")} == {
        WithdrawalReason.INFERENCE
    }
    assert reasons["V13"] is WithdrawalReason.CORRECTED
    assert (
        sum(name.split("-")[0] in {"V1", "V2", "V3", "V3b", "V3c"} for name in NAMES)
        == 15
    )
    assert len(NAMES) == len(set(NAMES)) == 25


def test_withdrawn_cases_are_neither_cases_nor_programs_nor_evidence() -> None:
    cases = {case.name for case in all_cases()} | {
        small.name for small in COUNTEREXAMPLES
    }
    evidence = {
        name for paper in PAPERS for each in paper.contents for name in each.cases
    }

    assert not cases & set(NAMES)
    assert not evidence & set(NAMES)
    assert not set(PROGRAMS) & set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_withdrawn_case_says_so_when_it_is_asked_for(name: str) -> None:
    withdrawal = withdrawal_of(name.lower())

    assert withdrawal is not None
    assert withdrawal.sentence(name.lower()).startswith(f"{name} is withdrawn (")
    with pytest.raises(sdp.InvalidInputError, match=f"{name} is withdrawn"):
        case_named(name)


@pytest.mark.skipif(not PAGE.is_file(), reason="docs/ is not here")
def test_the_page_lists_them_with_their_reasons_and_not_as_fallen() -> None:
    text = PAGE.read_text(encoding="utf-8")
    tried, withdrawn = text.split("## Withdrawn")

    for each in WITHDRAWN:
        words = (", ".join(each.cases), each.claim, each.reason, each.explanation)
        assert f"| {' | '.join(words)} |" in withdrawn
    for name in NAMES:
        assert f"| {name} | " not in tried
