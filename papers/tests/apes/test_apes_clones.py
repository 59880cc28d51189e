import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp_papers.apes.clones import (
    clone_probability,
    mean_clone_probabilities,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions

budgets = st.floats(1e-3, 30.0)


def as_printed(own: float, victim: float) -> float:
    ratio = own / victim * (1 - math.exp(-victim)) / (1 - math.exp(-own))
    return ratio * math.exp(-max(own, victim))


@given(budgets, budgets)
def test_probabilities_are_those_of_theorem_4(own: float, victim: float) -> None:
    found = clone_probability(np.array([own]), victim)[0]

    assert found == pytest.approx(as_printed(own, victim), rel=1e-10)
    assert 0.0 < found <= 1.0


@given(budgets, budgets, st.floats(1.0, 3.0))
def test_wider_messages_follow_lemma_4(own: float, victim: float, reach: float) -> None:
    def norm(eps: float) -> float:
        first, second = (reach - 1) * eps / 2, (reach + 1) * eps / 2
        return 1 - 0.5 * math.exp(-first) - 0.5 * math.exp(-second)

    exponent = (own + victim + reach * abs(own - victim)) / 2
    expected = own / victim * norm(victim) / norm(own) * math.exp(-exponent)

    found = clone_probability(np.array([own]), victim, reach=reach)[0]

    # The oracle itself cancels digits where both budgets are small.
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("reach", [1.0, 1.5])
def test_sorted_sums_are_the_double_sum(reach: float) -> None:
    rng = np.random.default_rng(4)
    epsilons = np.sort(rng.uniform(0.01, 9.0, 60))
    counts = rng.integers(1, 9, 60)
    pairs = [clone_probability(epsilons, e, reach=reach) for e in epsilons]
    expected = np.array(pairs).T @ counts / counts.sum()

    found = mean_clone_probabilities(epsilons, counts, reach=reach)

    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_unbounded_noise_imitates_only_its_own_width() -> None:
    epsilons, counts = np.array([0.5, 1.0]), np.array([1, 3])

    found = clone_probability(epsilons, 1.0, reach=math.inf)
    means = mean_clone_probabilities(epsilons, counts, reach=math.inf)

    np.testing.assert_allclose(found, [0.0, math.exp(-1.0)])
    np.testing.assert_allclose(means, [math.exp(-0.5) / 4, math.exp(-1.0) * 0.75])


def test_a_million_budgets_take_less_than_two_seconds() -> None:
    epsilons = np.linspace(0.05, 1.0, 10**6)
    counts = np.ones(10**6, dtype=np.int64)

    start = time.perf_counter()
    found = mean_clone_probabilities(epsilons, counts)

    assert time.perf_counter() - start < 2.0
    middle = clone_probability(epsilons, float(epsilons[500_000]))
    assert 0.3 < found.mean() < 0.6
    assert middle.shape == found.shape


def test_budgets_of_zero_and_short_ranges_are_refused() -> None:
    with pytest.raises(OutsidePreconditions, match="every budget > 0"):
        clone_probability(np.array([0.0]), 1.0)
    with pytest.raises(sdp.InvalidInputError, match=r"A / C >= 1, got 0\.5"):
        clone_probability(np.array([1.0]), 1.0, reach=0.5)
