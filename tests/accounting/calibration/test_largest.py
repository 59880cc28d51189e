"""The largest number that fits is found in few looks, however crooked what is looked at."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.accounting.calibration.calibration_search import (
    excess_of,
    largest,
    normal_spread,
)
from shuffledp.accounting.epsilon_solver import round_down
from shuffledp.errors import CertificationError

# Straight, flat nearly everywhere, steep nearly everywhere, and a mere yes or no.
SHAPES: dict[str, Callable[[float], float]] = {
    "straight": lambda log: log,
    "flat": lambda log: math.copysign(min(abs(log), 0.01) ** 3, log),
    "steep": lambda log: math.copysign(abs(log) ** 0.2, log),
    "yes or no": lambda log: 1.0 if log > 0.0 else -1.0,
    "plateau": lambda log: -2.0 if log <= 0.0 else 1e-6,
}


@given(
    shape=st.sampled_from(sorted(SHAPES)),
    end=st.floats(1e-6, 100.0),
    start=st.floats(1e-6, 100.0),
    width=st.sampled_from([1e-7, 1e-3]),
)
def test_what_is_found_fits_and_a_little_more_does_not(
    shape: str, end: float, start: float, width: float
) -> None:
    looks: list[float] = []

    def excess(number: float) -> float:
        looks.append(number)
        return SHAPES[shape](math.log(number / end))

    found = largest(excess, start, 700.0, width)

    assert excess(found) <= 0.0
    assert excess(found * (1.0 + 1.01 * width)) > 0.0
    # Bisection of a factor of 2 to seven digits takes 24, after the factor is found.
    assert len(looks) <= 60


def test_rounded_numbers_are_evaluated_once_each() -> None:
    looks: list[float] = []

    def excess(number: float) -> float:
        looks.append(number)
        return 1.0 if number > 0.3 else -2.0

    found = largest(excess, 1.0, 700.0, rounded=round_down)

    assert found == 0.3
    assert len(looks) == len(set(looks))
    assert all(number == round_down(number) for number in looks)


@pytest.mark.parametrize("end", [0.03, 2.0, 30.0])
def test_straight_excesses_need_few_looks(end: float) -> None:
    looks: list[float] = []

    def excess(number: float) -> float:
        looks.append(number)
        return 0.8 * math.log(number / end) + 0.05 * math.log(number / end) ** 3

    largest(excess, 0.02, 700.0)

    # Bisection took 24 and more.
    assert len(looks) <= 20


def test_the_most_is_enough_where_all_fits() -> None:
    assert largest(lambda _: -1.0, 1.0, 700.0) == 700.0


def test_nothing_fits() -> None:
    with pytest.raises(CertificationError, match="1e-12"):
        largest(lambda _: 1.0, 1.0, 700.0)


@given(delta=st.floats(0.0, 1.0), promised=st.floats(1e-300, 0.999))
def test_an_excess_is_positive_exactly_where_the_promise_is_broken(
    delta: float, promised: float
) -> None:
    assert (excess_of(delta, promised) > 0.0) == (delta > promised)


def test_excesses_of_normal_losses_are_about_the_logarithm_of_what_is_too_much() -> (
    None
):
    epsilon, spread = 0.05, normal_spread(0.05, 1e-6)

    def divergence(mu: float) -> float:
        """Balle and Wang (2018), of unit normals at this distance."""
        first = 0.5 * math.erfc((epsilon / mu - 0.5 * mu) / math.sqrt(2.0))
        second = 0.5 * math.erfc((epsilon / mu + 0.5 * mu) / math.sqrt(2.0))
        return first - math.exp(epsilon) * second

    assert divergence(spread) == pytest.approx(1e-6, rel=0.05)
    for factor in (0.9, 1.1):
        share = excess_of(divergence(factor * spread), 1e-6) / math.log(factor)
        # Deltas fall a little slower than the tail of the loss itself.
        assert 0.5 < share < 1.0


@pytest.mark.parametrize("end", [2e-12, 1e-9, 1e-6])
def test_small_ends_are_found_from_large_starts(end: float) -> None:
    # Of a mere yes or no no stride is longer than the usual ones.
    found = largest(lambda number: 1.0 if number > end else -1.0, 700.0, 700.0)

    assert found <= end < found * (1.0 + 2e-7)


def test_large_ends_are_found_from_tiny_starts_in_few_looks() -> None:
    looks: list[float] = []

    def excess(number: float) -> float:
        looks.append(number)
        return 1.0 if number > 0.3 else -1.0

    found = largest(excess, 1e-12, 1e300)

    assert found <= 0.3 < found * (1.0 + 2e-7)
    assert len(looks) < 60
