"""Intervals hold the truth where noise changes few messages, and are normal elsewhere."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, poisson

from shuffledp.analyzer.interval import half_width, reach
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

USUAL = (0.8, 0.9, 0.95, 0.99, 0.999)
# Equal up to rounding: an error as large as the half width is inside.
INSIDE = 1.0 + 1e-12


def worst_misses(
    confidences: tuple[float, ...], gained: Floats, lost: Floats
) -> Floats:
    """Returns the probability that A - B misses its mean, over 1 - confidence.

    Args:
        confidences: Of intervals with the true standard error and a step of 1.
        gained: Probabilities of A = 0, 1, ...
        lost: Those of B, independent of A.
    """
    difference = np.convolve(gained, lost[::-1])
    number = np.arange(difference.size) - (lost.size - 1.0)
    error = np.abs(number - difference @ number)
    variance = float(difference @ error**2)
    return np.array(
        [
            difference[error > INSIDE * half_width(each, variance**0.5, 1.0)].sum()
            / (1.0 - each)
            for each in confidences
        ]
    )


def poisson_masses(mean: float) -> Floats:
    masses: Floats = poisson.pmf(np.arange(int(mean + 10.0 * mean**0.5 + 16.0)), mean)
    return masses


@pytest.mark.parametrize("part", [0.0, 0.1, 0.25, 0.4, 0.5])
def test_few_changed_messages_are_inside_often_enough(part: float) -> None:
    # From hardly any message to many; around 1 / (1 - confidence) the worst are sharp.
    for mean in np.geomspace(5e-4, 60.0, 80).tolist():
        misses = worst_misses(
            USUAL, poisson_masses((1.0 - part) * mean), poisson_masses(part * mean)
        )

        # Truncated tails are below 1e-12, and 1 - 0.999 is known to 1e-13.
        assert np.all(misses <= 1.0 + 1e-9)


@pytest.mark.parametrize(("num_gained", "num_lost"), [(1, 0), (1, 1), (2, 3), (20, 1)])
def test_messages_of_few_people_are_inside_often_enough(
    num_gained: int, num_lost: int
) -> None:
    probabilities = np.geomspace(1e-4, 0.5, 40).tolist()
    for probability, ratio in itertools.product(probabilities, (0.2, 1.0)):
        gained = binom.pmf(np.arange(num_gained + 1), num_gained, probability)
        lost = binom.pmf(np.arange(num_lost + 1), num_lost, ratio * probability)

        assert np.all(worst_misses(USUAL, gained, lost) <= 1.0 + 1e-9)


@pytest.mark.slow
def test_no_confidence_is_missed_by_more_than_stated() -> None:
    confidences = tuple(np.linspace(0.3, 0.995, 140).tolist())
    for mean in np.geomspace(1e-3, 20.0, 150).tolist():
        for part in (0.0, 0.25, 0.5):
            gained = poisson_masses((1.0 - part) * mean)
            misses = worst_misses(confidences, gained, poisson_masses(part * mean))
            assert misses.max() <= 1.06


@pytest.mark.parametrize("decay", [1e-3, 0.02, 0.1, 0.3, 0.7])
def test_rare_noise_of_several_messages_is_inside_often_enough(decay: float) -> None:
    # Geometric noise, the difference of two numbers: excess kurtosis is large.
    number = np.arange(-200, 201).astype(np.float64)
    masses = decay ** np.abs(number)
    masses /= masses.sum()
    variance = float(masses @ number**2)
    excess = float(masses @ number**4) / variance**2 - 3.0

    for confidence in USUAL:
        half = half_width(confidence, variance**0.5, 1.0, excess)

        assert masses[np.abs(number) > INSIDE * half].sum() <= 1.0 - confidence


@pytest.mark.parametrize("confidence", USUAL)
def test_continuous_noise_has_normal_intervals(confidence: float) -> None:
    errors = np.array([0.0, 1e-300, 1.0, 1e300, np.inf])

    widths = half_width(confidence, errors, 0.0)

    np.testing.assert_array_equal(widths, reach(confidence) * errors)


@pytest.mark.parametrize(
    ("confidence", "most"), [(0.8, 1.01), (0.95, 1.0075), (0.99, 1.01)]
)
def test_plentiful_noise_has_nearly_normal_intervals(
    confidence: float, most: float
) -> None:
    # Bits of 10,000 people at level 1, of which 2,689 are changed in the mean.
    error = (10_000 * 0.268941 * (1.0 - 0.268941)) ** 0.5

    ratio = half_width(confidence, error, 1.0) / (reach(confidence) * error)

    assert 1.0 < ratio < most


def test_no_interval_is_wider_than_that_of_chebyshev_or_narrower_than_normal() -> None:
    errors = np.geomspace(1e-9, 1e3, 200)
    for confidence in (1e-6, *USUAL):
        widths = half_width(confidence, errors, 1.0)
        limit = errors / (1.0 - confidence) ** 0.5

        normal = reach(confidence) * errors
        assert np.all(normal <= widths)
        # The normal quantile is below the limit of Chebyshev at every confidence.
        assert np.all(widths <= limit)
        assert np.all(np.diff(widths) > 0.0)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, float("nan")])
def test_no_other_number_is_a_confidence(confidence: float) -> None:
    with pytest.raises(InvalidInputError, match="confidence"):
        half_width(confidence, 1.0, 1.0)
