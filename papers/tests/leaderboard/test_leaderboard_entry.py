"""Entries: where an epsilon lies, what status a bound has, and records of both."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.published_bounds import published_bound
from shuffledp_papers.leaderboard.entry import (
    ComparedPoint,
    Entry,
    EntryStatus,
    Leaderboard,
    Standing,
    compare,
    entry_status,
    rounded_up,
)
from shuffledp_papers.leaderboard.grid import GridPoint
from shuffledp_papers.leaderboard.measured_work import Cost

EQUAL = Setting(sdp.Population.from_counts({1.0: 1_000}), sdp.KRandomizedResponse(10))
MIXED = Setting(sdp.Population.from_counts({0.5: 500, 1.0: 500}), sdp.Laplace())


@pytest.mark.parametrize(
    ("number", "comparison"),
    [
        (0.0999999, Standing.BELOW),
        # As large as the attack is not below it.
        (0.1, Standing.TIGHTER),
        (0.1999989, Standing.TIGHTER),
        # Rounded up to six digits it is the certificate.
        (0.1999991, Standing.EQUAL),
        (0.2, Standing.EQUAL),
        (0.2000001, Standing.LOOSER),
    ],
)
def test_a_number_lies_below_between_or_above(
    number: float, comparison: Standing
) -> None:
    assert compare(number, attack=0.1, certified=0.2) is comparison


@given(st.floats(1e-300, 1e300))
def test_epsilons_are_rounded_up_by_less_than_a_unit_of_the_sixth_digit(
    number: float,
) -> None:
    rounded = rounded_up(number)

    assert number <= rounded
    assert rounded == float(f"{rounded:.5e}")
    assert Fraction(rounded) <= Fraction(number) * (1 + Fraction(1, 10**5))


@pytest.mark.parametrize(
    ("name", "equal", "mixed"),
    [
        ("feldman2021-numerical", EntryStatus.PROVEN, EntryStatus.HEURISTIC),
        ("feldman2023-numerical", EntryStatus.PROVEN, EntryStatus.HEURISTIC),
        ("feldman2023-closed", EntryStatus.WITHDRAWN, EntryStatus.HEURISTIC),
        ("feldman2023-kary", EntryStatus.WITHDRAWN, EntryStatus.HEURISTIC),
        ("wang2024-variation-ratio", EntryStatus.FALSE, EntryStatus.HEURISTIC),
        ("hypothesis-testing", EntryStatus.EVALUATED, EntryStatus.EVALUATED),
        ("apes", EntryStatus.SLIP, EntryStatus.SLIP),
        ("eapes-pure", EntryStatus.EVALUATED, EntryStatus.EVALUATED),
    ],
)
def test_a_status_depends_on_the_setting(
    name: str, equal: EntryStatus, mixed: EntryStatus
) -> None:
    bound = published_bound(name)

    assert entry_status(bound, EQUAL) is equal
    assert entry_status(bound, MIXED) is mixed


def board() -> Leaderboard:
    entries = (
        Entry("one", EntryStatus.FALSE, 0.05, Standing.BELOW, "", Cost(0.1, 2.0)),
        Entry(
            "two", EntryStatus.PROVEN, None, Standing.NONE, "too few", Cost(0.0, None)
        ),
    )
    point = GridPoint("laplace", "1:1000", 1e-6, 1)
    compared = ComparedPoint(point, 0.1, 0.2, Cost(0.3, None), entries)
    return Leaderboard(
        1, "0", "2026-01-02", "some", {"one": "a", "two": "b"}, (compared,)
    )


def test_a_record_is_read_as_it_was_written() -> None:
    record = json.loads(json.dumps(board().to_dict()))

    assert Leaderboard.from_dict(record) == board()


def test_records_of_anything_else_are_refused() -> None:
    record = board().to_dict()

    for wrong in ({}, record | {"format": "other"}, record | {"points": [{}]}):
        with pytest.raises(sdp.InvalidInputError, match="Expected"):
            Leaderboard.from_dict(wrong)
