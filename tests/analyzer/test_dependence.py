import numpy as np
import pytest
from oracles.means import mean_by

from shuffledp import Mean, Population
from shuffledp.analyzer.dependence import Dependence, dependence
from shuffledp.types import Floats, Ints

PEOPLE = Population.from_counts({0.5: 200, 1.0: 300, 3.0: 100})
COUNTS = PEOPLE.counts.astype(np.float64)
KINDS = np.repeat([0, 1, 2], PEOPLE.counts)


def measured(values: Floats, kinds: Ints, mechanism: str = "one-bit") -> Dependence:
    slopes = mean_by(mechanism, 0.0, 1.0).channel(PEOPLE).slopes(0.5)
    sums = np.bincount(kinds, values, minlength=3)[:, None].astype(np.float64)
    return dependence(slopes, COUNTS, sums, np.array([values @ values]))


def test_bias_is_that_of_the_agnostic_estimate() -> None:
    values = np.where(KINDS == 2, 0.9, 0.2)
    protocol, rng, runs = Mean(0.0, 1.0), np.random.default_rng(81), 5_000

    found = measured(values, KINDS)

    levels = np.tile(PEOPLE.budgets(), runs)
    sent = protocol.randomize(np.tile(values, runs), levels, rng=rng).messages
    low, high = protocol.channel(PEOPLE).average(np.array([0.0, 1.0]))
    estimates = (sent.reshape(runs, 600).mean(axis=1) - low) / (high - low)
    off = estimates.mean() - values.mean()
    # Five standard errors: a false alarm in 6e-7 of all seeds.
    assert abs(off - found.largest_bias) < 5.0 * estimates.std() / np.sqrt(runs)
    assert found.largest_bias > 0.1
    assert found.suspected


@pytest.mark.slow
def test_random_levels_raise_an_alarm_as_rarely_as_stated() -> None:
    rng, runs = np.random.default_rng(82), 4_000
    values = rng.random(600)

    p_values = np.array(
        [measured(values, rng.permutation(KINDS)).p_value for _ in range(runs)]
    )

    # Uniform: 4,000 of them know a chance of 0.05 to 0.0034; five times that.
    assert abs(np.mean(p_values < 0.05) - 0.05) < 0.017
    # Four alarms are expected; 15 come up once in 50,000 seeds.
    assert np.sum(p_values < 1e-3) < 15


def test_several_numbers_raise_no_more_false_alarms() -> None:
    rng, slopes = np.random.default_rng(83), np.array([0.2, 0.5, 0.9])
    held = rng.integers(10, size=600)
    squares = np.bincount(held, minlength=10).astype(np.float64)

    hits = 0
    for _ in range(2_000):
        cells = np.bincount(rng.permutation(KINDS) * 10 + held, minlength=30)
        found = dependence(slopes, COUNTS, cells.reshape(3, 10).astype(float), squares)
        hits += found.p_value < 0.05

    # At most 0.05 of 2,000 plus five standard errors.
    assert hits < 100 + 49
    assert hits > 10


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_noise_of_equal_slopes_raises_no_alarm(mechanism: str) -> None:
    values = np.where(KINDS == 2, 0.9, 0.2)

    found = measured(values, KINDS, mechanism)

    assert not found.suspected
    # Rounding.
    assert abs(found.largest_bias) < 1e-12


def test_one_level_cannot_depend_on_anything() -> None:
    values = np.linspace(0.0, 1.0, 50)

    found = dependence(
        np.array([0.3]),
        np.array([50.0]),
        np.array([[values.sum()]]),
        np.array([values @ values]),
    )

    assert (found.largest_bias, found.p_value, found.suspected) == (0.0, 1.0, False)


@pytest.mark.parametrize("value", [0.0, 1.0, 1e9])
def test_equal_values_depend_on_nothing(value: float) -> None:
    found = measured(np.full(600, value), KINDS)

    assert not found.suspected
    # Relative rounding.
    assert abs(found.largest_bias) <= 1e-12 * max(value, 1.0)


def test_one_person_is_no_reason_for_an_alarm() -> None:
    found = dependence(
        np.array([0.3]), np.array([1.0]), np.array([[0.7]]), np.array([0.49])
    )

    assert found.p_value == 1.0
