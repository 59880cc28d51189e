"""Ranges near the limits of numbers, and what is refused."""

import numpy as np
import pytest

from shuffledp import (
    InvalidInputError,
    Mean,
    Population,
    Reports,
    ShuffledReports,
    UnknownLevelError,
    shuffle,
)
from shuffledp.statistics.mean.protocol import MEAN_MECHANISMS, MeanMechanism
from shuffledp.types import Mode

PEOPLE = Population.from_counts({2.0: 200, 4.0: 200})
MODES: tuple[Mode, ...] = ("agnostic", "stratified")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mechanism", MEAN_MECHANISMS)
@pytest.mark.parametrize(
    ("low", "high"),
    [(1e9, 1e9 + 1.0), (-1e-300, 1e-300), (-8e307, 8e307), (-1.7e308, 1.7e308)],
)
def test_ranges_of_any_size_give_the_same_estimate(
    mechanism: MeanMechanism, mode: Mode, low: float, high: float
) -> None:
    half, middle = high / 2.0 - low / 2.0, low / 2.0 + high / 2.0
    share = np.tile([-0.5, 0.0, 0.25, 0.5], 100)

    found = []
    for near, far, values in [
        (-1.0, 1.0, share),
        (low, high, middle + half * share),
    ]:
        protocol, rng = Mean(near, far, mechanism, mode), np.random.default_rng(61)
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
    predicted = Mean(low, high, mechanism, mode).predicted_error(PEOPLE)
    assert predicted / half == pytest.approx(
        Mean(-1.0, 1.0, mechanism, mode).predicted_error(PEOPLE), rel=1e-12
    )


def test_an_estimate_beyond_the_largest_number_is_refused() -> None:
    protocol = Mean(-1.7e308, 1.7e308)
    levels = np.full(400, 0.1)
    people = Population.from_counts({0.1: 400})
    ones = np.ones(400, dtype=np.uint8)

    with pytest.raises(InvalidInputError, match="largest number"):
        protocol.estimate(ShuffledReports(ones, levels, linked=False), people)


@pytest.mark.parametrize("mechanism", ["one-bit", "clip-laplace"])
@pytest.mark.parametrize("mode", MODES)
def test_level_zero_for_all_is_refused(mechanism: MeanMechanism, mode: Mode) -> None:
    protocol = Mean(0.0, 1.0, mechanism, mode)
    people = Population.from_counts({0.0: 100})
    rng = np.random.default_rng(62)
    reports = protocol.randomize(np.full(100, 0.5), people.budgets(), rng=rng)

    with pytest.raises(InvalidInputError, match="above 0"):
        protocol.estimate(shuffle(reports, rng=rng), people)
    with pytest.raises(InvalidInputError, match="above 0"):
        protocol.predicted_error(people)


@pytest.mark.parametrize("mechanism", MEAN_MECHANISMS)
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
    mechanism: MeanMechanism, values: list[float], levels: list[float]
) -> None:
    with pytest.raises(InvalidInputError):
        Mean(0.0, 1.0, mechanism).randomize(
            values, levels, rng=np.random.default_rng(1)
        )


@pytest.mark.parametrize("mechanism", MEAN_MECHANISMS)
def test_nobody_sends_nothing(mechanism: MeanMechanism) -> None:
    reports = Mean(0.0, 1.0, mechanism).randomize([], [], rng=np.random.default_rng(1))

    assert reports.messages.shape == (0,)
    with pytest.raises(InvalidInputError, match="per level"):
        Mean(0.0, 1.0, mechanism).estimate(
            shuffle(reports, rng=np.random.default_rng(1)), PEOPLE
        )


def test_only_shuffled_reports_of_these_people_and_mode_are_analyzed() -> None:
    protocol, people = Mean(0.0, 1.0), Population.from_counts({1.0: 2})
    bits, levels = np.array([0, 1]), np.array([1.0, 1.0])

    with pytest.raises(InvalidInputError, match="not shuffled"):
        protocol.estimate(Reports(bits, levels, linked=False), people)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="other mode"):
        protocol.estimate(ShuffledReports(bits, levels, linked=True), people)
    with pytest.raises(UnknownLevelError):
        protocol.estimate(ShuffledReports(bits, levels + 1.0, linked=False), people)
    with pytest.raises(InvalidInputError, match="messages"):
        protocol.estimate(ShuffledReports(bits + 1, levels, linked=False), people)


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
    low: float, high: float, mechanism: MeanMechanism, mode: Mode
) -> None:
    with pytest.raises(InvalidInputError):
        Mean(low, high, mechanism, mode)


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
