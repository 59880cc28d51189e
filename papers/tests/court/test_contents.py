"""What a paper's contents call refuted no reading saves; what falls there, they name."""

import pytest

from shuffledp_papers.contents.paper_item import PaperItem, State
from shuffledp_papers.contents.papers import PAPERS
from shuffledp_papers.court.case import CourtVerdict
from shuffledp_papers.court.case_registry import all_cases
from shuffledp_papers.court.stated_claim import CLAIMS, ClaimVerdict, claims_of

CASES = {case.name: case for case in all_cases()}
ENTRIES = [
    pytest.param(entry, id=f"{paper.prefix} {entry.place}")
    for paper in PAPERS
    for entry in paper.contents
]


def falls(name: str) -> bool:
    return CASES[name].expected is CourtVerdict.VIOLATED


@pytest.mark.parametrize("entry", ENTRIES)
def test_entries_name_cases_that_there_are(entry: PaperItem) -> None:
    assert set(entry.cases) <= set(CASES)


@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_called_refuted_is_false_under_every_reading_and_nothing_else_is(
    entry: PaperItem,
) -> None:
    verdicts = {
        claim.verdict
        for name in entry.cases
        if falls(name)
        for claim in claims_of(name)
    }

    if entry.state is State.REFUTED:
        assert ClaimVerdict.FALSE in verdicts
    elif entry.state is State.HOLDS:
        assert ClaimVerdict.FALSE not in verdicts


def test_refuted_items_are_the_statements_that_no_reading_saves() -> None:
    refuted = [
        entry
        for paper in PAPERS
        for entry in paper.contents
        if entry.state is State.REFUTED
    ]
    named = set()
    for entry in refuted:
        for name in filter(falls, entry.cases):
            false = {
                claim.name
                for claim in claims_of(name)
                if claim.verdict is ClaimVerdict.FALSE
            }
            # A case of another verdict refutes nothing.
            assert false, name
            named |= false

    assert named == {
        claim.name for claim in CLAIMS if claim.verdict is ClaimVerdict.FALSE
    }
    assert len(refuted) == len(named)


def test_every_claim_that_falls_is_an_entry_of_its_paper() -> None:
    named = {name for paper in PAPERS for each in paper.contents for name in each.cases}
    # V8-2 and V8-small are V8 in another setting.
    beginnings = {name.split("-")[0] for name in named}
    fallen = {name.split("-")[0] for name in CASES if falls(name)}

    assert len(fallen) >= 15
    assert fallen <= beginnings
