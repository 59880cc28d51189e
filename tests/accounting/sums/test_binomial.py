import numpy as np
import pytest
from oracles import multiprecision as oracle
from scipy.special import betainc

from shuffledp.accounting.sums.binomial import (
    binomial_weight,
    deviation,
    largest_likely,
    relative_error,
)

DEVIATIONS = [-36.0, -10.0, -3.0, -0.5, 0.0, 0.5, 3.0, 10.0, 36.0]


def allowed(trials: int) -> float:
    return float(relative_error(np.array([float(trials)]))[0])


@pytest.mark.parametrize("trials", [1, 2, 7, 15, 16, 17, 40, 1000, 10**5, 10**7, 10**9])
@pytest.mark.parametrize("probability", [0.5, 2 / 17, 0.9, 1e-3, 1.0 - 1e-3])
def test_weights_stay_within_a_third_of_the_allowed_error(
    trials: int, probability: float
) -> None:
    spread = np.sqrt(trials * probability * (1.0 - probability))
    points = {round(trials * probability + z * spread) for z in DEVIATIONS}
    x = sorted({min(max(point, 0), trials) for point in points} | {0, trials})

    weights = binomial_weight(np.array(x, dtype=np.float64), float(trials), probability)

    for point, weight in zip(x, weights, strict=True):
        exact = oracle.binomial_weight(point, trials, probability)
        # Below 1e-290 doubles themselves lose digits; the accountant drops such terms.
        if exact > 1e-290:
            assert abs(weight - exact) < exact * allowed(trials) / 3


@pytest.mark.parametrize("trials", [3, 16, 40, 1000, 10**5, 10**7, 10**9])
def test_tails_stay_within_a_third_of_the_allowed_error(trials: int) -> None:
    reach = [z for z in (3.0, 6.0, 10.0, 20.0, 30.0, 36.0) if z**2 < trials]
    first = [int(trials / 2 + z * np.sqrt(trials) / 2) + 1 for z in (*reach, 1.5)]
    first = [min(c, trials) for c in first if trials < 10**9 or c != first[-1]]

    tails = [float(betainc(float(c), trials - c + 1.0, 0.5)) for c in first]

    for c, tail in zip(first, tails, strict=True):
        exact = oracle.fair_tail(c, trials)
        assert abs(tail - exact) < exact * allowed(trials) / 3


def test_weight_is_zero_outside_the_support_and_exact_at_certain_coins() -> None:
    x = np.array([-1.0, 0.0, 3.0, 4.0])

    outside = binomial_weight(x, 3.0, 0.25)
    certain = binomial_weight(x, 3.0, 1.0)

    assert outside[0] == outside[3] == 0.0
    assert certain.tolist() == [0.0, 0.0, 1.0, 0.0]


def test_coins_that_never_succeed_give_zero_for_certain() -> None:
    x = np.array([0.0, 2.0, 3.0])

    never = binomial_weight(x, 3.0, 0.0)

    assert never.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("probability", [0.01, 0.3, 0.5])
@pytest.mark.parametrize("tail", [1e-2, 1e-9, 1e-40])
def test_deviation_contains_all_but_twice_the_tail(
    probability: float, tail: float
) -> None:
    trials = 400
    mean = trials * probability

    reach = float(deviation(mean * (1.0 - probability), tail))

    outside = sum(
        oracle.binomial_weight(x, trials, probability)
        for x in range(trials + 1)
        if abs(x - mean) >= reach
    )
    assert outside <= 2.0 * tail


@pytest.mark.parametrize("probability", [1e-100, 1e-305, 1e-310, 5e-324])
def test_coins_that_hardly_ever_succeed_have_numbers(probability: float) -> None:
    found = binomial_weight(np.arange(101.0), 100.0, probability)

    assert found[0] == 1.0
    assert found[1] == pytest.approx(100.0 * probability, rel=1e-10)
    assert np.all((found[2:] >= 0.0) & (found[2:] < 1e-190))


@pytest.mark.parametrize("tail", [1e-3, 1e-9, 1e-30, 1e-200])
@pytest.mark.parametrize("trials", [1, 20, 10**4, 10**7])
@pytest.mark.parametrize("mean", [0.0, 1e-12, 0.01, 0.9])
def test_sums_are_rarely_larger_than_what_is_likely(
    mean: float, trials: int, tail: float
) -> None:
    t = largest_likely(mean, tail)

    # The whole numbers from t on.
    assert mean <= t
    exact = sum(
        oracle.binomial_weight(x, trials, mean / trials)
        for x in range(int(np.ceil(t)), min(int(np.ceil(t)) + 40, trials) + 1)
    )
    assert exact <= tail
    assert t <= max(mean + float(deviation(mean, tail)), 1.0)


def test_what_is_likely_of_a_small_mean_is_far_below_bernsteins_bound() -> None:
    assert largest_likely(0.01, 1e-20) < 10.0 < float(deviation(0.01, 1e-20)) / 3.0
