import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest

from shuffledp.audit.confidence_bounds import (
    delta_lower_bound,
    epsilon_lower_bound,
    probability_lower_bound,
    probability_upper_bound,
)


def tail(size: int, chance: mpmath.mpf, least: int) -> mpmath.mpf:
    """P(Bin(size, chance) >= least), term by term."""
    terms = (
        mpmath.binomial(size, k) * chance**k * (1 - chance) ** (size - k)
        for k in range(least, size + 1)
    )
    return mpmath.fsum(terms)


@pytest.mark.parametrize("alpha", [0.05, 1e-4, 1e-9])
@pytest.mark.parametrize(("hits", "size"), [(1, 20), (7, 20), (20, 20), (3, 400)])
def test_bounds_are_where_the_tail_is_alpha(hits: int, size: int, alpha: float) -> None:
    low = float(probability_lower_bound(hits, size, alpha))
    high = float(probability_upper_bound(size - hits, size, alpha))

    with mpmath.workdps(50):
        reached = tail(size, mpmath.mpf(low), hits)
        # Bounds are moved outward by 1e-9 of themselves; tails of 400 by 400 times as much.
        assert alpha * (1 - 1e-6) <= reached <= alpha
    assert high == pytest.approx(1.0 - low, rel=1e-8)


@pytest.mark.parametrize("alpha", [0.05, 1e-7, 1e-12, 1e-17])
@pytest.mark.parametrize(("hits", "size"), [(0, 20), (7, 20), (3, 400)])
def test_small_error_probabilities_are_not_rounded(
    hits: int, size: int, alpha: float
) -> None:
    high = float(probability_upper_bound(hits, size, alpha))

    with mpmath.workdps(50):
        reached = 1 - tail(size, mpmath.mpf(high), hits + 1)
        assert alpha * (1 - 1e-5) <= reached <= alpha


def test_nothing_is_known_of_chances_at_the_ends() -> None:
    assert probability_lower_bound(0, 10, 0.01) == 0.0
    assert probability_upper_bound(10, 10, 0.01) == 1.0


@pytest.mark.parametrize("size", [1, 13, 40])
def test_every_chance_is_covered_exactly_as_often_as_stated(size: int) -> None:
    alpha, counts = 0.03, np.arange(size + 1)
    low, high = (
        f(counts, size, alpha)
        for f in (probability_lower_bound, probability_upper_bound)
    )

    for chance in np.linspace(0.001, 0.999, 60):
        law = [float(mpmath.binomial(size, k)) for k in counts.tolist()]
        law *= chance**counts * (1.0 - chance) ** (size - counts)
        assert law[low > chance].sum() <= alpha
        assert law[high < chance].sum() <= alpha


def test_chances_of_a_device_that_keeps_its_promise_prove_nothing_beyond() -> None:
    epsilon, delta = 1.3, 0.01
    there = np.linspace(0.001, 0.3, 50)
    here = np.exp(epsilon) * there + delta

    assert epsilon_lower_bound(here, there, delta) == pytest.approx(epsilon, rel=1e-9)
    assert delta_lower_bound(here, there, epsilon) == pytest.approx(delta, rel=1e-9)
    assert np.all(epsilon_lower_bound(here, there, 0.5) == 0.0) == bool(
        np.all(here < 0.5)
    )
    assert np.all(delta_lower_bound(here, there, 800.0) == 0.0)
