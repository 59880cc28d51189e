"""The lines that bound the error of an integral's points are where steps are longest."""

import math

import numpy as np
import pytest

from shuffledp.accounting.upper.integrals.line_distance import line_distance

# Digits of the tolerance, as the logarithm of 1e9.
DIGITS = math.log(1e9)


@pytest.mark.parametrize("deviation", [0.1, 1.0, 30.0, 1e4])
def test_of_normal_losses_it_is_near_the_best(deviation: float) -> None:
    def growth(distance: float) -> float:
        return 0.5 * (distance * deviation) ** 2

    found = line_distance(1.0, growth)

    distances = np.geomspace(1e-6, 0.9, 2_000)
    lengths = distances / (DIGITS + 0.5 * (distances * deviation) ** 2)
    assert 0.8 * lengths.max() <= found / (DIGITS + growth(found))
    assert 0.0 < found <= 0.9
    assert growth(found) < 40.0


def test_far_lines_are_taken_where_nothing_grows() -> None:
    assert line_distance(7.0, lambda _: 0.0) == pytest.approx(6.3)
    assert line_distance(7.0, lambda _: -3.0) == pytest.approx(6.3)


@pytest.mark.parametrize("growth", [math.nan, math.inf, 40.0])
def test_what_grows_too_much_everywhere_is_refused(growth: float) -> None:
    with pytest.raises(OverflowError):
        line_distance(1.0, lambda _: growth)


def test_a_saddle_that_is_no_number_is_refused() -> None:
    with pytest.raises(OverflowError):
        line_distance(math.nan, lambda _: 0.0)
