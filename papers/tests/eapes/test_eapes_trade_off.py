"""Trade-off functions against brute force over tests, and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import shuffledp as sdp
from shuffledp.types import Floats
from shuffledp_papers.bounds.gaussian_profile import gaussian_delta
from shuffledp_papers.court.worlds import hockey_stick
from shuffledp_papers.eapes.extreme_pair import extreme_pair
from shuffledp_papers.eapes.trade_off import (
    composed,
    for_groups,
    private_trade_off,
    through_a_third,
    trade_off,
)

GRID = np.linspace(0.0, 1.0, 201)
SEEDS = st.integers(0, 10**6)


def laws(seed: int, number: int, size: int = 5) -> list[Floats]:
    rng = np.random.default_rng(seed)
    drawn = rng.dirichlet(np.full(size, 0.5), number)
    # Outcomes that only one of the worlds has, too.
    drawn[rng.random(drawn.shape) < 0.15] = 0.0
    drawn[:, 0] += 0.1
    return list(drawn / drawn.sum(axis=1, keepdims=True))


def gaussian(mu: float, alpha: Floats) -> Floats:
    return np.asarray(norm.cdf(norm.isf(alpha) - mu))


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_no_test_is_below_the_trade_off_and_some_reach_it(seed: int) -> None:
    p, q = laws(seed, 2)

    curve = trade_off(p, q)

    # All tests that reject a set of outcomes.
    sets = np.array(list(np.ndindex(*(2,) * p.size)), dtype=float)
    alphas, betas = np.minimum(sets @ p, 1.0), 1.0 - sets @ q
    assert np.all(curve(alphas) <= betas + 1e-12)
    for alpha, beta in zip(curve.alphas[1:-1], curve.betas[1:-1], strict=True):
        assert np.min(np.abs(alphas - alpha) + np.abs(betas - beta)) < 1e-12


@given(SEEDS, st.floats(0.0, 3.0))
@settings(max_examples=40, deadline=None)
def test_its_distance_from_a_line_is_the_divergence(seed: int, epsilon: float) -> None:
    p, q = laws(seed, 2)

    both = max(trade_off(p, q).delta(epsilon), trade_off(q, p).delta(epsilon))

    assert both == pytest.approx(hockey_stick(p, q, epsilon), abs=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.3), (1.0, 0.01), (2.0, 0.0)])
def test_fact_1_is_the_trade_off_of_lemma_1(epsilon: float, delta: float) -> None:
    first, second = extreme_pair(epsilon, delta)

    found = private_trade_off(GRID, epsilon=epsilon, delta=delta)

    assert found == pytest.approx(trade_off(first, second)(GRID), abs=1e-12)
    printed = private_trade_off(GRID, epsilon=epsilon, delta=delta, as_printed=True)
    # The printed third term is negative from epsilon = 1 - delta on.
    assert np.max(np.abs(printed - found)) > 0.02


@given(SEEDS, st.floats(0.0, 2.0))
@settings(max_examples=60, deadline=None)
def test_every_private_pair_is_above_lemma_1(seed: int, epsilon: float) -> None:
    p, q = laws(seed, 2)
    delta = hockey_stick(p, q, epsilon)

    least = private_trade_off(GRID, epsilon=epsilon, delta=delta)

    assert np.all(trade_off(p, q)(GRID) >= least - 1e-12)
    assert np.all(trade_off(q, p)(GRID) >= least - 1e-12)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_lemma_4_as_it_should_be_and_as_printed(seed: int) -> None:
    p, q, r = laws(seed, 3)
    direct = trade_off(p, r)(GRID)

    assert np.all(
        direct >= through_a_third(trade_off(p, q), trade_off(q, r), GRID) - 1e-12
    )
    # As printed, with T(P, R) and T(Q, R): never more than its first assumption.
    printed = through_a_third(trade_off(p, r), trade_off(q, r), GRID)
    assert np.all(printed <= direct + 1e-12)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_groups_of_a_gaussian_mechanism(size: int) -> None:
    found = for_groups(lambda alpha: gaussian(0.4, alpha), size, GRID)

    assert found == pytest.approx(gaussian(0.4 * size, GRID), abs=1e-9)


def test_groups_of_pure_privacy_are_no_more_than_group_privacy_says() -> None:
    def single(alpha: Floats) -> Floats:
        return private_trade_off(alpha, epsilon=0.3, delta=0.0)

    pair = private_trade_off(GRID, epsilon=0.6, delta=0.0)

    assert np.all(for_groups(single, 2, GRID) >= pair - 1e-12)


def test_ten_small_mechanisms_are_nearly_gaussian() -> None:
    law = tuple(part[1:3] for part in extreme_pair(math.sqrt(0.1), 0.0))
    first, second = np.ones(1), np.ones(1)
    for _ in range(10):
        first, second = composed(first, law[0]), composed(second, law[1])

    curve = trade_off(first, second)

    assert np.max(np.abs(curve(GRID) - gaussian(1.0, GRID))) < 0.02
    # Sums of binomials, and the number that Dong, Roth, Su print with Figure 3.
    counts = np.arange(11)
    ways = np.array([math.comb(10, int(k)) for k in counts])
    ratio = math.exp(math.sqrt(0.1))
    p, q = (ways * ratio**k / (1 + ratio) ** 10 for k in (counts, 10 - counts))
    assert curve.delta(2.0) == pytest.approx(hockey_stick(p, q, 2.0), abs=1e-12)
    assert curve.delta(2.89) == pytest.approx(1e-3, rel=0.01)


def test_compositions_of_gaussian_mechanisms_add_squares() -> None:
    # (3, 4, 12) give 13; normal laws on a fine grid, whose rounding is post-processing.
    total = np.ones(1), np.ones(1)
    cells = np.linspace(-8.0, 9.0, 41)
    for mu in (0.3, 0.4, 1.2):
        p, q = (np.diff(norm.cdf(cells - shift)) for shift in (0.0, mu))
        p, q = p / p.sum(), q / q.sum()
        total = composed(total[0], p), composed(total[1], q)

    found = trade_off(*total).delta(1.0)

    # Coarser than the exact mechanisms, and so more private.
    assert found <= gaussian_delta(1.3, 1.0)
    assert found >= 0.97 * gaussian_delta(1.3, 1.0)


@pytest.mark.parametrize(
    ("first", "second"),
    [([0.5, 0.5], [1.0]), ([0.5, 0.6], [0.5, 0.5]), ([math.nan, 1.0], [0.5, 0.5])],
)
def test_what_is_no_pair_of_laws(first: list[float], second: list[float]) -> None:
    with pytest.raises(sdp.InvalidInputError, match="Expected"):
        trade_off(np.array(first), np.array(second))


def test_parameters_out_of_range() -> None:
    with pytest.raises(sdp.InvalidInputError, match="epsilon >= 0"):
        private_trade_off(GRID, epsilon=-1.0, delta=0.0)
    with pytest.raises(sdp.InvalidInputError, match="type-I errors"):
        private_trade_off(np.array([1.5]), epsilon=1.0, delta=0.0)
    with pytest.raises(sdp.InvalidInputError, match="got 0"):
        for_groups(lambda alpha: 1.0 - alpha, 0, GRID)
    with pytest.raises(sdp.InvalidInputError, match="delta <= 1"):
        extreme_pair(1.0, math.nan)
