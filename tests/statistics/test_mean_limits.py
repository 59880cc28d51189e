"""Ranges near the limits of numbers, and refusals."""

from typing import Any

import numpy as np
import pytest
from oracles.means import mean_by

from shuffledp import (
    ClipLaplace,
    InvalidInputError,
    KRandomizedResponse,
    Laplace,
    Mean,
    OneBit,
    Population,
    Reports,
    ShuffledReports,
    UnknownLevelError,
    shuffle,
)
from shuffledp.randomizers.catalog import NUMBER_MECHANISMS
from shuffledp.statistics.mean.rehearsal import collect_mean
from shuffledp.statistics.rehearsed_collection import STEPS
from shuffledp.types import Mode

PEOPLE = Population.from_counts({2.0: 200, 4.0: 200})
MODES: tuple[Mode, ...] = ("agnostic", "stratified")


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mechanism", NUMBER_MECHANISMS)
@pytest.mark.parametrize(
    ("low", "high"),
    [(1e9, 1e9 + 1.0), (-1e-300, 1e-300), (-8e307, 8e307), (-1.7e308, 1.7e308)],
)
def test_ranges_of_any_size_give_the_same_estimate(
    mechanism: str, mode: Mode, low: float, high: float
) -> None:
    half, middle = high / 2.0 - low / 2.0, low / 2.0 + high / 2.0
    share = np.tile([-0.5, 0.0, 0.25, 0.5], 100)

    found = []
    for near, far, values in [
        (-1.0, 1.0, share),
        (low, high, middle + half * share),
    ]:
        protocol, rng = mean_by(mechanism, near, far, mode), np.random.default_rng(61)
        reports = protocol.randomize(values, rng.permutation(PEOPLE.budgets()), rng=rng)
        found.append(protocol.estimate(shuffle(reports, rng=rng), PEOPLE))

    # At 1e9 the values themselves are rounded to 1e-7, which may change a coin.
    unit, other = found
    assert abs((other.value - middle) / half - unit.value) < 1e-6
    for name in ("standard_error", "population_error", "bias_limit"):
        # The same messages, but for a coin; relative.
        assert getattr(other, name) / half == pytest.approx(
            getattr(unit, name), rel=1e-6
        )
    predicted = mean_by(mechanism, low, high, mode).predicted_error(PEOPLE)
    assert predicted / half == pytest.approx(
        mean_by(mechanism, -1.0, 1.0, mode).predicted_error(PEOPLE), rel=1e-12
    )


def test_an_estimate_beyond_the_largest_number_is_refused() -> None:
    protocol = Mean(-1.7e308, 1.7e308)
    levels = np.full(400, 0.1)
    people = Population.from_counts({0.1: 400})
    ones = np.ones(400, dtype=np.uint8)

    with pytest.raises(InvalidInputError, match="largest number"):
        protocol.estimate(ShuffledReports(protocol.identity, ones, levels), people)


@pytest.mark.parametrize("mechanism", ["one-bit", "clip-laplace"])
@pytest.mark.parametrize("mode", MODES)
def test_level_zero_for_all_is_refused(mechanism: str, mode: Mode) -> None:
    protocol = mean_by(mechanism, 0.0, 1.0, mode)
    people = Population.from_counts({0.0: 100})
    rng = np.random.default_rng(62)
    reports = protocol.randomize(np.full(100, 0.5), people.budgets(), rng=rng)

    with pytest.raises(InvalidInputError, match="above 0"):
        protocol.estimate(shuffle(reports, rng=rng), people)
    with pytest.raises(InvalidInputError, match="above 0"):
        protocol.predicted_error(people)


@pytest.mark.parametrize("mechanism", NUMBER_MECHANISMS)
@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([np.nan, 0.5], [1.0, 1.0]),
        ([np.inf, 0.5], [1.0, 1.0]),
        ([-0.01, 0.5], [1.0, 1.0]),
        ([0.5, 1.01], [1.0, 1.0]),
        ([0.5], [1.0, 1.0]),
        ([[0.5, 0.5]], [1.0, 1.0]),
        (["0.5", "0.5"], [1.0, 1.0]),
        ([0.5, 0.5], [1.0, np.nan]),
        ([0.5, 0.5], [1.0, -1.0]),
        ([0.5, 0.5], [1.0, 701.0]),
    ],
)
def test_bad_values_and_levels_are_refused(
    mechanism: str, values: list[float], levels: list[float]
) -> None:
    with pytest.raises(InvalidInputError):
        mean_by(mechanism, 0.0, 1.0).randomize(
            values, levels, rng=np.random.default_rng(1)
        )


@pytest.mark.parametrize("mechanism", NUMBER_MECHANISMS)
def test_nobody_sends_nothing(mechanism: str) -> None:
    reports = mean_by(mechanism, 0.0, 1.0).randomize(
        [], [], rng=np.random.default_rng(1)
    )

    assert reports.messages.shape == (0,)
    with pytest.raises(InvalidInputError, match="per level"):
        mean_by(mechanism, 0.0, 1.0).estimate(
            shuffle(reports, rng=np.random.default_rng(1)), PEOPLE
        )


def test_only_shuffled_reports_of_these_people_and_mode_are_analyzed() -> None:
    protocol, people = Mean(0.0, 1.0), Population.from_counts({1.0: 2})
    bits, levels = np.array([0, 1]), np.array([1.0, 1.0])

    me, other = protocol.identity, Mean(0.0, 1.0, "stratified").identity

    with pytest.raises(InvalidInputError, match="not shuffled"):
        protocol.estimate(Reports(me, bits, levels), people)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="stratified"):
        protocol.estimate(ShuffledReports(other, bits, levels), people)
    with pytest.raises(UnknownLevelError):
        protocol.estimate(ShuffledReports(me, bits, levels + 1.0), people)
    with pytest.raises(InvalidInputError, match="messages"):
        protocol.estimate(ShuffledReports(me, bits + 1, levels), people)
    with pytest.raises(InvalidInputError, match="'rows'"):
        protocol.estimate(ShuffledReports(me, bits, levels, "columns"), people)


@pytest.mark.parametrize(
    ("low", "high", "mechanism", "mode"),
    [
        (1.0, 1.0, "one-bit", "agnostic"),
        (1.0, 0.0, "one-bit", "agnostic"),
        (0.0, np.nan, "one-bit", "agnostic"),
        (0.0, np.inf, "one-bit", "agnostic"),
        (0.0, 5e-324, "one-bit", "agnostic"),
        (0.0, "1", "one-bit", "agnostic"),
        (0.0, 1.0, "two-bit", "agnostic"),
        (0.0, 1.0, "one-bit", "both"),
    ],
)
def test_protocols_that_make_no_sense_are_refused(
    low: float, high: float, mechanism: str, mode: Mode
) -> None:
    with pytest.raises(InvalidInputError):
        mean_by(mechanism, low, high, mode)


@pytest.mark.parametrize(
    "randomizer",
    [KRandomizedResponse(2), OneBit, "one-bit", 3, np.arange(3), Mean(0.0, 1.0)],
    ids=repr,
)
def test_randomizers_of_anything_but_numbers_are_refused(randomizer: Any) -> None:
    with pytest.raises(InvalidInputError, match="randomizer of numbers"):
        Mean(0.0, 1.0, randomizer=randomizer)


@pytest.mark.parametrize(
    "randomizer", [OneBit(0.0, 2.0), ClipLaplace(1.0), Laplace(0.0, 0.5)], ids=repr
)
def test_randomizers_of_wider_or_narrower_ranges_are_refused(randomizer: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"as wide as \[0, 1\]"):
        Mean(0.0, 1.0, randomizer=randomizer)


@pytest.mark.parametrize(
    ("mean", "spread"),
    [(-0.1, 0.0), (1.1, 0.0), (np.nan, 0.0), (0.5, 0.6), (0.5, -0.1), (0.5, np.nan),
     (0.1, 0.4), (0.0, 0.1)],
)  # fmt: skip
def test_a_mean_and_a_spread_that_no_values_have_are_refused(
    mean: float, spread: float
) -> None:
    with pytest.raises(InvalidInputError):
        Mean(0.0, 1.0).predicted_error(PEOPLE, mean=mean, spread=spread)


def test_predicted_bias_of_strata_is_the_average_over_people() -> None:
    counts = {0.5: 30, 2.0: 10}

    together = mean_by("clip-laplace", -1.0, 1.0, "stratified").predicted_bias(
        Population.from_counts(counts), mean=0.5
    )

    # A single level has no strata: its bias limit is that of the other mode.
    agnostic = mean_by("clip-laplace", -1.0, 1.0)
    single = [
        agnostic.predicted_bias(Population.from_counts({level: 1}), mean=0.5)
        for level in counts
    ]
    assert together == pytest.approx(0.75 * single[0] + 0.25 * single[1], rel=1e-9)
    assert together > 0.0


def test_impossible_spreads_are_refused_before_anything_is_collected() -> None:
    steps: list[str] = []

    with pytest.raises(InvalidInputError, match="Expected a spread from 0 to 30"):
        collect_mean(
            np.array([30.0, 40.0]),
            np.array([1.0, 1.0]),
            protocol=Mean(20.0, 80.0),
            delta=1e-3,
            rng=np.random.default_rng(1),
            spread=30.5,
            on_step=steps.append,
        )

    assert steps == []
    collect_mean(
        np.array([30.0, 40.0]),
        np.array([1.0, 1.0]),
        protocol=Mean(20.0, 80.0),
        delta=1e-3,
        rng=np.random.default_rng(1),
        on_step=steps.append,
    )
    assert tuple(steps) == STEPS
