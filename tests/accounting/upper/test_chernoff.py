"""The closed form lies above the double sum, and not far."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.multiprecision import BlanketSum

from shuffledp import Population
from shuffledp.accounting.upper.blanket import blanket_bounds
from shuffledp.accounting.upper.chernoff import ChernoffBound, chernoff_bounds
from shuffledp.cover import Cover
from shuffledp.randomizers.kary_response import KRandomizedResponse

SHARES = (0.01, 0.1, 0.3, 0.6, 0.85, 0.97)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("num_categories", "counts", "victim"),
    [
        (2, {1.0: 60}, 1.0),
        (2, {0.3: 12, 1.0: 9, 2.5: 9}, 2.5),
        (3, {0.5: 20, 4.0: 10}, 4.0),
        (17, {0.5: 10, 1.0: 10, 2.0: 10}, 0.5),
        (17, {1.0: 40}, 1.0),
    ],
)
def test_delta_is_above_the_double_sum_in_fifty_digits(
    num_categories: int, counts: dict[float, int], victim: float
) -> None:
    oracle = BlanketSum(counts, victim, num_categories)
    people, position = Population.from_counts(counts), sorted(counts).index(victim)
    device = KRandomizedResponse(num_categories)
    covers = device.covers([victim], people, delta=1e-6)

    (bound,) = chernoff_bounds(covers, people.counts, [position])
    pairs = [(oracle.delta(x * victim), bound.delta(x * victim)) for x in SHARES]

    for exact, upper in pairs:
        # Chernoff loses about sqrt(log(1 / delta)), and more where few messages are hit.
        assert exact <= upper <= 20 * exact


def test_delta_at_zero_is_above_the_double_sum_by_the_loss_of_a_root() -> None:
    counts = {1.0: 60}
    people = Population.from_counts(counts)
    covers = KRandomizedResponse(2).covers([1.0], people, delta=1e-6)

    (bound,) = chernoff_bounds(covers, people.counts, [0])

    # E|S| <= sqrt(E[S^2]) loses sqrt(pi / 2) = 1.25 of normal losses; the mean of
    # 1 / (m + 1) over about 32 messages, some percent more.
    exact = BlanketSum(counts, 1.0, 2).delta(0.0)
    assert exact <= bound.delta(0.0) <= 1.3 * exact


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("spread", [3.0, 5.0, 8.0])
def test_rounding_of_a_billion_people_is_on_the_safe_side(spread: float) -> None:
    people = Population.from_counts({0.5: 10**9, 2.0: 10**9})
    (pairs,) = KRandomizedResponse(5).covers([2.0], people, delta=1e-9)
    (bound,) = chernoff_bounds([pairs], people.counts, [1])
    assert isinstance(bound, ChernoffBound)
    epsilon = spread * 3.2e-5

    upper = bound.delta(epsilon)

    with mp.workdps(60):
        growth = mp.expm1(epsilon)
        chances = [mp.mpf(float(p)) for p in bound.probabilities]
        losses = [
            mp.mpf(float(d)) - growth * mp.mpf(float(b))
            for d, b in zip(pairs[0].differences, pairs[0].bases, strict=True)
        ]

        def bounded(theta: mp.mpf) -> mp.mpf:
            masses = [mp.mpf(float(m)) for m in pairs[0].masses]
            terms = zip(masses, losses, strict=True)
            x = mp.fsum(m * mp.expm1(theta * y) for m, y in terms) / mp.fsum(masses)
            crowd = list(zip(bound.counts, chances, strict=True))
            log_g = mp.fsum(int(n) * mp.log1p(p * x) for n, p in crowd)
            slope = mp.fsum(int(n) * p / (1 + p * x) for n, p in crowd)
            return mp.exp(log_g) / (slope * mp.e * theta)

        best = min(
            (mp.mpf(10) ** (mp.mpf(k) / 50 - 6) for k in range(200)), key=bounded
        )
        least = min(bounded(best * (1 + mp.mpf(k) / 5000)) for k in range(-300, 300))
        # What the best theta of the oracle may miss, and by how much one of few is off.
        assert least * (1 - 1e-6) <= upper <= 1.2 * least
    assert upper < 0.01


def test_nobody_else_leaves_the_message_alone() -> None:
    people = Population.from_counts({1.0: 2})
    cover = KRandomizedResponse(2).covers([1.0], people, delta=1e-6)[0][0]

    (bound,) = chernoff_bounds([(cover,)], np.array([2]), [0], absent=1)

    # E[(L)_+] with L of one message, which is binary response at level 1.
    alone = (math.e - 1.0) / (math.e + 1.0)
    assert alone <= bound.delta(0.0) <= 1.5 * alone


@given(
    masses=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    shift=st.integers(-4, 4),
    gamma=st.floats(0.01, 1.0),
    count=st.integers(2, 10**7),
    epsilon=st.floats(1e-3, 1.0),
)
def test_delta_is_above_the_integral_for_any_cover(
    masses: list[int], shift: int, gamma: float, count: int, epsilon: float
) -> None:
    omega = np.array(masses) / sum(masses)
    # Densities on x' are omega's own; those on x have the same total.
    change = 0.1 * np.array([shift / masses[0], -shift / masses[1], 0.0])
    cover = Cover(np.array([gamma]), omega, change, np.ones(3))
    counts = np.array([count])

    (bound,) = chernoff_bounds([(cover,)], counts, [0])
    (integral,) = blanket_bounds([(cover,)], counts, [0], tail=1e-30)

    upper, exact = bound.delta(epsilon), 0.0
    if shift:
        exact = integral.delta(epsilon) * (1.0 - integral.slack(epsilon))
    # The integral's smoothing raises it by a millionth.
    assert upper >= exact * (1.0 - 1e-4)
