"""Searches from close by: few steps, and a number that fits and is nearly the largest."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.accounting.calibration.near_search import nearly_largest

WIDTH = 1e-4


@given(
    answer=st.floats(0.01, 100.0),
    away=st.floats(-0.05, 0.05),
    slope=st.floats(0.5, 2.0),
    known=st.floats(0.8, 1.2),
    bend=st.floats(-2.0, 2.0),
)
def test_few_steps_lead_to_a_number_that_fits(
    answer: float, away: float, slope: float, known: float, bend: float
) -> None:
    tried = []

    def excess(number: float) -> float:
        tried.append(number)
        log = math.log(number / answer)
        return slope * log + 0.5 * slope * bend * log * abs(log)

    start = answer * math.exp(away)
    found = nearly_largest(excess, start, known * slope, 1e3, WIDTH)

    # By a slope that is known to a fifth; from step to step a little more may be left.
    most_left = 3.0 * 1.4 ** (len(tried) - 1) * WIDTH
    assert answer * math.exp(-most_left) <= found <= answer * (1.0 + 1e-12)
    assert found in tried
    assert len(tried) <= 6


@pytest.mark.parametrize("seed", range(20))
def test_where_the_last_digits_are_rough_it_still_fits(seed: int) -> None:
    tried: dict[float, float] = {}

    def excess(number: float) -> float:
        rough = np.random.default_rng([seed, int(number * 1e6)]).uniform(-1e-3, 1e-3)
        tried[number] = 1.5 * math.log(number / 7.0) + rough
        return tried[number]

    found = nearly_largest(excess, 6.9, 1.4, 1e3, WIDTH)

    assert tried[found] <= 0.0
    assert 6.9 < found < 7.02


def test_the_more_steps_are_taken_the_more_is_left() -> None:
    left = iter([-9.0 * WIDTH, -5.0 * WIDTH, -5.0 * WIDTH, -5.0 * WIDTH, -5.0 * WIDTH])
    tried = []

    def excess(number: float) -> float:
        tried.append(number)
        return next(left)

    found = nearly_largest(excess, 2.0, 1.0, 3.0, WIDTH)

    # 2, 2.8, 3.9 and 5.5 widths may be left.
    assert len(tried) == 4
    assert found == tried[-1]


def test_the_largest_number_of_use_is_an_answer() -> None:
    assert nearly_largest(lambda number: number - 9.0, 2.0, 1.0, 3.0, WIDTH) == 3.0


def test_from_afar_it_is_found_all_the_same() -> None:
    found = nearly_largest(lambda n: math.log(n / 50.0), 1e-3, 40.0, 1e3, WIDTH)

    assert 50.0 * math.exp(-3.0 * WIDTH) <= found <= 50.0


def test_numbers_are_rounded_before_they_are_tried() -> None:
    tried = []

    def excess(number: float) -> float:
        tried.append(number)
        return math.log(number / 6.3)

    found = nearly_largest(excess, 5.0, 1.0, 100.0, WIDTH, rounded=math.floor)

    assert found == 6.0
    assert all(number == int(number) for number in tried)
    assert len(set(tried)) == len(tried)
