"""Approximate deltas are close to sums in fifty digits, however small they are."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.counts.bucket_pair import BucketChange, BucketPair
from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.planning.wish import Wish
from shuffledp.statistics.questionnaire.approximate_delta import approximate_delta
from shuffledp.statistics.questionnaire.questionnaire_plan import plan_questionnaire


def flips(level: float, times: int, *, moved: bool = False) -> BucketChange:
    """Binary randomized responses, each of loss +level or -level."""
    right = 1.0 / (1.0 + math.exp(-level))
    pair = BucketPair(
        np.array([1.0 - right, right]), np.array([right, 1.0 - right]), 0.0, 0.0
    )
    return BucketChange(pair, moved, times)


def exact_flips(level: float, times: int, epsilon: float) -> mp.mpf:
    with mp.workdps(50):
        right = 1 / (1 + mp.exp(-mp.mpf(level)))
        return mp.fsum(
            mp.binomial(times, k)
            * right**k
            * (1 - right) ** (times - k)
            * -mp.expm1(epsilon - (2 * k - times) * mp.mpf(level))
            for k in range(times + 1)
            if (2 * k - times) * mp.mpf(level) > epsilon
        )


def exact_move(mean: float, epsilon: float) -> mp.mpf:
    """A message among Poisson many moves from one bucket to another.

    With X + 1 and Y messages against X and Y + 1, the loss is log(x / y).
    """
    with mp.workdps(50):
        m = mp.mpf(mean)
        most = int(mean + 40 * math.sqrt(mean) + 200)
        masses = [mp.exp(-m) * m**k / mp.factorial(k) for k in range(most)]
        # P(X + 1 = x) P(Y = y) - e^eps P(X = x) P(Y + 1 = y), where it is positive.
        growth, tails = mp.exp(mp.mpf(epsilon)), [mp.mpf(0)]
        for mass in reversed(masses):
            tails.append(tails[-1] + mass)
        tails.reverse()
        total = mp.mpf(0)
        for y in range(most):
            least = int(mp.floor(growth * y)) + 1
            if least > most - 1:
                break
            total += masses[y] * tails[least - 1]
            if y:
                total -= growth * masses[y - 1] * tails[least]
        return total


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 2.0, 5.0, 8.0, 11.0, 12.4])
def test_flips_are_close_to_a_binomial_sum(epsilon: float, moved: bool) -> None:
    times = 200

    # A flip that moves is two of them.
    about = approximate_delta(
        [flips(0.08, times // 2 if moved else times, moved=moved)], epsilon
    )

    exact = float(exact_flips(0.08, times, epsilon))
    assert 1e-32 < exact < 0.6
    assert about == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.8, 1.0, 1.2])
def test_moved_messages_are_close_to_a_double_sum(epsilon: float) -> None:
    change = PoissonNoise(200.0).certified(1.0, buckets=8, moved=True, times=1)

    about = approximate_delta([change], epsilon)

    exact = float(exact_move(200.0, epsilon))
    assert 1e-33 < exact < 0.1
    assert about == pytest.approx(exact, rel=0.02)


def test_groups_are_composed() -> None:
    both = approximate_delta([flips(0.1, 60), flips(0.1, 90)], 10.0)

    assert both == pytest.approx(float(exact_flips(0.1, 150, 10.0)), rel=0.05)
    assert both < 1e-10


def test_nothing_is_beyond_the_largest_loss() -> None:
    # 10 losses of 0.1 at most.
    assert approximate_delta([flips(0.1, 10)], 1.0001) == 1e-300
    assert approximate_delta([flips(0.1, 10)], 0.999) > 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-15, 1e-20, 1e-25])
def test_plans_are_found_at_small_deltas(delta: float) -> None:
    asked = (sdp.NumberQuestion("age", 0, 100),)

    plan = plan_questionnaire(asked, Wish(targets={1.0: 10_000}, delta=delta))

    (level,) = plan.guarantee.levels
    # The search is close: little of the target is left over.
    assert 0.99 < level.epsilon_central <= 1.0
    assert level.delta_central == delta
