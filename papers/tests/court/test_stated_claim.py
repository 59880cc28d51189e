"""Every case has a statement and a verdict; refuted is only what no reading saves."""

from dataclasses import replace
from typing import Any

import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.court.case import CourtVerdict
from shuffledp_papers.court.case_registry import all_cases, case_named
from shuffledp_papers.court.stated_claim import (
    CLAIMS,
    ClaimVerdict,
    StatedClaim,
    claim_named,
    claims_of,
    counts_of_verdicts,
    dependents,
    earlier_names,
    refutations,
)

CASES = {case.name: case for case in all_cases()}
NAMED = {name for claim in CLAIMS for name in claim.cases}
# Cases of 0.2.0 that were withdrawn later, and are not run.
EARLIER = [
    "V1",
    "V1-2",
    "V1-small",
    "V2-2",
    "V2-3",
    "V2-4",
    "V2-small",
    "V3",
    "V3-2",
    "V3-small",
    "V3b",
    "V3b-small",
    "V3c",
    "V3c-small",
    "V5",
    "V5-small",
    "V9",
    "V9-2",
    "V12",
    "V12-small",
    "V13",
    "V17",
    "V20",
    "V21",
]


def test_every_case_is_of_a_statement_and_every_name_is_of_a_case() -> None:
    assert set(CASES) == NAMED
    assert sorted(earlier_names()) == sorted(EARLIER)
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_verdicts_are_what_the_cases_show(claim: StatedClaim) -> None:
    falls = {CASES[name].expected is CourtVerdict.VIOLATED for name in claim.cases}

    if claim.verdict is ClaimVerdict.HOLDS:
        assert falls <= {False}
    if claim.verdict in (ClaimVerdict.FALSE, ClaimVerdict.ASYMPTOTIC):
        assert True in falls
    for name in claim.earlier:
        with pytest.raises(InvalidInputError, match=f"{name} is no longer run"):
            case_named(name.lower())


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_records_are_complete_and_in_one_line(claim: StatedClaim) -> None:
    assert all(claim.statement)
    for heading, text in claim.record:
        assert text, heading
        assert "\n" not in text
        assert not text.endswith(".")


@pytest.mark.parametrize(
    ("verdict", "given"),
    [
        (ClaimVerdict.FALSE, {"constants": "C > 0, not given"}),
        (ClaimVerdict.FALSE, {"cases": ()}),
        (ClaimVerdict.ASYMPTOTIC, {"constants": "none"}),
        (ClaimVerdict.HOLDS, {"falls_with": ("apes-lemma-7",)}),
        (ClaimVerdict.WITHDRAWN, {"errata": ()}),
    ],
)
def test_a_verdict_that_the_record_does_not_bear_is_refused(
    verdict: ClaimVerdict, given: dict[str, Any]
) -> None:
    (sound,) = (claim for claim in CLAIMS if claim.name == "apes-theorem-4")

    with pytest.raises(InvalidInputError, match="apes-theorem-4"):
        replace(sound, verdict=verdict, **given)


def test_a_constant_that_is_not_named_is_never_counted_as_refuted() -> None:
    open_constants = [claim for claim in CLAIMS if claim.constants != "none"]

    assert len(open_constants) >= 4
    assert ClaimVerdict.FALSE not in {claim.verdict for claim in open_constants}
    assert sum(counts_of_verdicts().values()) == len(CLAIMS) - len(dependents())


def test_what_falls_with_another_statement_is_not_counted_beside_it() -> None:
    counted = counts_of_verdicts()[str(ClaimVerdict.FALSE)]
    false = [claim for claim in CLAIMS if claim.verdict is ClaimVerdict.FALSE]

    assert counted == len(false) - len([claim for claim in false if claim.falls_with])
    assert f"{counted} errors are refuted: {len(false)} of {len(CLAIMS)}" in (
        refutations()
    )
    assert {"testing-theorem-1", "segmented-theorem-3", "apes-lemma-8"} <= {
        claim.name for claim in dependents()
    }
    for claim in dependents():
        for name in claim.falls_with:
            assert claim_named(name).verdict is not ClaimVerdict.HOLDS
            # Each chain ends at a statement that is counted.
            assert claim.name not in claim_named(name).falls_with
        assert ", ".join(claim.falls_with) in dict(claim.record)["falls with"]
    with pytest.raises(InvalidInputError, match="got 'V10'"):
        claim_named("V10")


def test_corrections_name_the_version_and_the_statements_of_it() -> None:
    (correction,) = claim_named("feldman2023-any").errata

    assert "Lemma 3.5" in correction.numbers
    assert dict(claim_named("feldman2023-any").record)["authors' errata"] == (
        f"{correction.version}, of {', '.join(correction.numbers)}: {correction.text}"
    )
    assert dict(claim_named("apes-lemma-7").record)["authors' errata"] == "none known"


def test_cases_are_found_by_name_and_others_are_refused() -> None:
    assert claims_of("v8c")[0].name == "testing-theorem-2"
    assert [claim.name for claim in claims_of("V10")] == [
        "wang2024-reduction",
        "segmented-theorem-2",
    ]
    with pytest.raises(InvalidInputError, match="got 'V0'"):
        claims_of("V0")
