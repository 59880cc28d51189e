"""Counts of a crowd follow the law of people who randomize one by one."""

import time
from typing import Any

import numpy as np
import pytest
from covering import covering
from scipy.stats import chi2

from shuffledp import (
    HadamardResponse,
    InvalidInputError,
    KRandomizedResponse,
    LocalHashing,
    SubsetSelection,
    SystemRandom,
    UnaryEncoding,
)
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.types import Floats, Ints

# Of each comparison, of some twenty: a false alarm in 2e-7 of all seeds.
FALSE_ALARM = 1e-8
TRIALS = 20_000

SMALL = [
    (KRandomizedResponse(3), [2, 0, 1]),
    (KRandomizedResponse(4), [1, 1, 0, 2]),
    (HadamardResponse(2), [2, 1]),
    (HadamardResponse(5), [1, 0, 1, 0, 1]),
    (LocalHashing(3, 2), [1, 1, 1]),
    (LocalHashing(4, 3), [1, 0, 0, 2]),
    (LocalHashing(7, 2), [0, 1, 0, 0, 0, 1, 0]),
    (SubsetSelection(4, 2), [1, 0, 2, 0]),
    (SubsetSelection(5, 3), [0, 1, 0, 0, 1]),
    (SubsetSelection(3, 1), [1, 2, 0]),
    (UnaryEncoding(3), [2, 0, 1]),
    (UnaryEncoding(3, "optimized"), [0, 1, 1]),
]


def two_samples(first: Ints, second: Ints) -> tuple[float, float]:
    """Pearson's statistic for one law behind both, and where it is too large.

    Outcomes so rare that both samples have fewer than 10 are put together.
    """
    outcomes, places = np.unique(
        np.vstack([first, second]), axis=0, return_inverse=True
    )
    places = places.reshape(-1)
    size = len(outcomes)
    table = np.array(
        [np.bincount(part, minlength=size) for part in np.split(places, 2)], dtype=float
    )
    common = table.sum(axis=0) >= 10
    rare = table[:, ~common].sum(axis=1, keepdims=True)
    table = (
        np.hstack([table[:, common], rare]) if rare.sum() >= 10 else table[:, common]
    )
    if table.shape[1] == 1:
        return abs(float(table[0, 0] - table[1, 0])), 10.0
    expected = table.sum(axis=0) / 2.0
    statistic = float(((table - expected) ** 2 / expected).sum())
    return statistic, float(chi2.isf(FALSE_ALARM, table.shape[1] - 1))


def one_by_one(
    device: FrequencyOracle, holders: list[int], level: float, rng: np.random.Generator
) -> Ints:
    """Support counts of many small crowds of the same people, shape (trials, k)."""
    held = np.repeat(np.arange(len(holders)), holders)
    values = np.tile(held, TRIALS)
    messages = device.randomize(values, np.full(values.size, level), rng=rng)
    trials = np.repeat(np.arange(TRIALS), held.size)
    return device.support_counts(messages, trials, TRIALS)


@pytest.mark.few_cases(5)
@covering(("level", [0.0, 1.3, 30.0]), (("device", "holders"), SMALL), ids=repr)
def test_whole_outcomes_are_as_likely_as_one_by_one(
    device: FrequencyOracle, holders: list[int], level: float
) -> None:
    rng = np.random.default_rng(5)

    drawn = device.draw_support_counts(
        np.tile(holders, (TRIALS, 1)), np.full(TRIALS, level), rng=rng
    )

    statistic, limit = two_samples(drawn, one_by_one(device, holders, level, rng))
    assert drawn.dtype.kind == "i"
    assert statistic < limit


def test_comparison_notices_another_law() -> None:
    device, rng = KRandomizedResponse(3), np.random.default_rng(5)

    drawn = device.draw_support_counts(
        np.tile([2, 0, 1], (TRIALS, 1)), np.full(TRIALS, 1.2), rng=rng
    )

    statistic, limit = two_samples(drawn, one_by_one(device, [2, 0, 1], 1.3, rng))
    assert statistic > limit


@pytest.mark.parametrize(
    "device",
    [
        KRandomizedResponse(128),
        HadamardResponse(128),
        LocalHashing(128, 7),
        SubsetSelection(128, 5),
        UnaryEncoding(128),
    ],
    ids=repr,
)
def test_ten_billion_people_take_a_moment(device: FrequencyOracle) -> None:
    levels, rng = np.array([0.5, 1.0, 4.0]), np.random.default_rng(6)
    holders = np.full((3, 128), 10**10 // 384)
    holders[:, 0] *= 10
    started = time.process_time()

    drawn = device.draw_support_counts(holders, levels, rng=rng)

    assert time.process_time() - started < 1.0
    keep, flip = device.densities(levels)
    expected = expected_support(holders, keep, flip)
    # Supporting is at most a coin flip per person: six standard errors of 3 * 128 counts.
    deviation = 6.0 * np.sqrt(holders.sum(axis=1, keepdims=True) / 4.0)
    assert np.all(np.abs(drawn - expected) < deviation)


def expected_support(holders: Ints, keep: Floats, flip: Floats) -> Floats:
    everybody = holders.sum(axis=1, keepdims=True)
    mean: Floats = holders * keep[:, None] + (everybody - holders) * flip[:, None]
    return mean


@pytest.mark.parametrize(("device", "holders"), SMALL, ids=repr)
def test_nobody_supports_nothing(device: FrequencyOracle, holders: list[int]) -> None:
    nobody = np.zeros((2, len(holders)), dtype=np.int64)

    drawn = device.draw_support_counts(
        nobody, np.array([0.0, 1.0]), rng=np.random.default_rng(1)
    )

    assert drawn.tolist() == nobody.tolist()


@pytest.mark.parametrize(
    "holders",
    [
        np.array([[1, 2]]),
        np.array([1, 2, 3]),
        np.array([[1.0, 2.0, 3.0]]),
        np.array([[1, -1, 3]]),
        np.array([[2**62, 2**62, 2**62]]),
        np.array([[1, 2, 3], [1, 2, 3]]),
    ],
)
def test_crowds_that_make_no_sense_are_refused(holders: Any) -> None:
    for device in (KRandomizedResponse(3), UnaryEncoding(3)):
        with pytest.raises(InvalidInputError, match="people"):
            device.draw_support_counts(
                holders, np.array([1.0]), rng=np.random.default_rng(1)
            )


def test_crowds_are_for_simulations() -> None:
    rng: Any = SystemRandom()
    with pytest.raises(InvalidInputError, match="simulations"):
        KRandomizedResponse(3).draw_support_counts(
            np.array([[1, 2, 3]]), np.array([1.0]), rng=rng
        )


@pytest.mark.parametrize(
    "device", [LocalHashing(1000, 101), SubsetSelection(10_000, 5000)], ids=repr
)
def test_crowds_that_would_take_too_long_are_refused(device: FrequencyOracle) -> None:
    holders = np.ones((1, device.num_categories), dtype=np.int64)
    holders[0, 0] = 10**9

    with pytest.raises(InvalidInputError, match="would take"):
        device.draw_support_counts(
            holders, np.array([1.0]), rng=np.random.default_rng(1)
        )
