"""Reports say what they are, and what makes no sense is none."""

from typing import Any

import numpy as np
import pytest
from oracles.reports import identity

from shuffledp import InvalidInputError
from shuffledp.reports import Reports, ShuffledReports

KINDS = [Reports, ShuffledReports]
Kind = type[Reports] | type[ShuffledReports]
AGNOSTIC, STRATIFIED = identity("agnostic"), identity("stratified")


@pytest.mark.parametrize("kind", KINDS)
def test_reports_know_who_made_them_and_whether_levels_stay(kind: Kind) -> None:
    bits, levels = np.zeros((3, 2), dtype=np.bool_), np.ones(3)

    apart, together = kind(AGNOSTIC, bits, levels), kind(STRATIFIED, bits, levels)

    assert (apart.identity, together.identity) == (AGNOSTIC, STRATIFIED)
    assert (apart.linked, together.linked) == (False, True)
    assert apart.num_users == 3
    assert apart.arrangement == "rows"
    assert apart.cohorts is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("messages", "levels"),
    [
        (np.arange(3), np.ones(2)),
        (np.arange(4).reshape(2, 2), np.ones((2, 2))),
        (np.array(1), np.array(1.0)),
        (np.zeros((3, 2), dtype=int), np.ones(2)),
        (np.zeros((2, 3), dtype=int), np.ones(3)),
        (np.zeros((2, 0), dtype=int), np.ones(2)),
        (np.zeros((2, 2, 2), dtype=int), np.ones(2)),
        (np.zeros((2, 2)), np.ones(2)),
        (np.array([["a", "b"]]), np.ones(1)),
        (np.array([[None, 1]]), np.ones(1)),
        (np.zeros((2, 2), dtype=int), np.ones((2, 1))),
        (np.arange(2), [1.0, 1.0]),
        (np.arange(2), np.array([1, 1])),
        (np.arange(2), np.array(["1", "1"])),
        ([0, 1], np.ones(2)),
        (None, np.ones(2)),
    ],
)
def test_reports_of_wrong_shapes_and_kinds_are_refused(
    kind: Kind, messages: Any, levels: Any
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        kind(AGNOSTIC, messages, levels)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "cohorts",
    [
        np.zeros(2, dtype=int),
        np.zeros((3, 1), dtype=int),
        np.zeros(3),
        [0, 0, 0],
        np.array(["a", "b", "c"]),
    ],
)
def test_cohorts_of_wrong_shapes_and_kinds_are_refused(
    kind: Kind, cohorts: Any
) -> None:
    with pytest.raises(InvalidInputError, match="cohorts"):
        kind(AGNOSTIC, np.arange(3), np.ones(3), "columns", cohorts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arrangement", ["row", "", None, 1])
def test_unknown_arrangements_are_refused(kind: Kind, arrangement: Any) -> None:
    with pytest.raises(InvalidInputError, match="arrangement"):
        kind(AGNOSTIC, np.arange(3), np.ones(3), arrangement)


@pytest.mark.parametrize("kind", KINDS)
def test_stratified_messages_carry_levels(kind: Kind) -> None:
    with pytest.raises(InvalidInputError, match="carry"):
        kind(STRATIFIED, np.arange(3), None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stranger", [None, "frequency", AGNOSTIC.record])
def test_reports_of_nobody_in_particular_are_refused(kind: Kind, stranger: Any) -> None:
    with pytest.raises(InvalidInputError, match="identity"):
        kind(stranger, np.arange(3), np.ones(3))
