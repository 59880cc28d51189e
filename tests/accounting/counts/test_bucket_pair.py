"""Divergences of pairs of atoms against double loops, and pairs that dominate others."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.bucket_counts import all_at_once

from shuffledp.accounting.counts.bucket_pair import BucketPair
from shuffledp.types import Floats

EPSILONS = (0.0, 0.05, 0.3, 1.0, 2.5, 6.0)
# Masses of an outcome under both distributions: some outcomes occur under one only.
MASS = st.one_of(st.just(0.0), st.floats(1e-6, 1.0))
OUTCOMES = st.lists(st.tuples(MASS, MASS), min_size=2, max_size=40).filter(
    lambda atoms: all(sum(column) > 0.0 for column in zip(*atoms, strict=True))
)


def pair_of(atoms: list[tuple[float, float]]) -> BucketPair:
    p, q = np.array(atoms).T
    return BucketPair.of(p / p.sum(), q / q.sum(), missing=0.0, drift=0.0)


def divergence(first: Floats, second: Floats, epsilon: float) -> float:
    """Sums (P - E Q)_+ term by term."""
    growth = math.exp(epsilon)
    terms = (
        max(p - growth * q, 0.0)
        for p, q in zip(first.tolist(), second.tolist(), strict=True)
    )
    return math.fsum(terms)


def either(p: Floats, q: Floats, epsilon: float) -> float:
    return max(divergence(p, q, epsilon), divergence(q, p, epsilon))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(atoms=OUTCOMES)
def test_delta_is_the_sum_over_all_outcomes(atoms: list[tuple[float, float]]) -> None:
    pair = pair_of(atoms)
    p, q = pair.with_message, pair.without
    here, there = all_at_once([p, q]), all_at_once([q, p])

    for epsilon in EPSILONS:
        one, doubt = pair.delta(epsilon, moved=False)
        assert abs(one - either(p, q, epsilon)) <= doubt + 1e-16
        two, doubt = pair.delta(epsilon, moved=True)
        assert abs(two - divergence(here, there, epsilon)) <= doubt + 1e-16
        assert doubt < 1e-10


@settings(max_examples=60, deadline=None)
@given(atoms=OUTCOMES, step=st.floats(0.01, 0.5), reach=st.floats(0.2, 20.0))
def test_a_spread_pair_dominates_in_both_directions(
    atoms: list[tuple[float, float]], step: float, reach: float
) -> None:
    pair = pair_of(atoms)

    spread = pair.spread(np.arange(-reach, reach + step, step))

    assert spread.with_message.sum() == pytest.approx(1.0, rel=1e-13)
    assert spread.without.sum() == pytest.approx(1.0, rel=1e-13)
    p, q = pair.with_message, pair.without
    r, s = spread.with_message, spread.without
    for epsilon in EPSILONS:
        # Sums are right to a few units of 1e-16, at most e^epsilon of them.
        slack = 1e-14 * math.exp(epsilon)
        assert divergence(r, s, epsilon) >= divergence(p, q, epsilon) - slack
        assert divergence(s, r, epsilon) >= divergence(q, p, epsilon) - slack
        here, there = all_at_once([p, q]), all_at_once([q, p])
        wide, back = all_at_once([r, s]), all_at_once([s, r])
        moved = divergence(here, there, epsilon)
        assert divergence(wide, back, epsilon) >= moved - slack


def test_a_fine_spread_costs_little() -> None:
    # A Poisson number of mean 40,000 and one more: losses have a deviation of 1 / 200.
    counts = np.arange(36_000, 44_000)
    falls = np.array([math.lgamma(x + 1.0) for x in counts.tolist()])
    q = np.exp(counts * math.log(40_000.0) - 40_000.0 - falls)
    pair = BucketPair.of(q * counts / 40_000.0, q, missing=0.0, drift=0.0)

    spread = pair.spread(np.arange(-0.2, 0.2, 1e-4))

    assert spread.without.size < 0.3 * pair.without.size
    for moved in (False, True):
        for epsilon in (0.001, 0.01, 0.02):
            exact = pair.delta(epsilon, moved=moved)[0]
            cost = spread.delta(epsilon, moved=moved)[0] - exact
            assert -1e-12 <= cost <= 2e-3 * exact


@settings(max_examples=60, deadline=None)
@given(atoms=OUTCOMES, num_atoms=st.integers(1, 10))
def test_merged_atoms_keep_totals_and_say_no_more(
    atoms: list[tuple[float, float]], num_atoms: int
) -> None:
    pair = pair_of(atoms)

    merged = pair.merged(num_atoms)

    assert merged.without.size <= pair.without.size
    # Means of ratios that ascend do so, too, up to rounding.
    assert np.all(merged.ratios[:-1] <= merged.ratios[1:] * (1.0 + 1e-12))
    for before, after in (
        (pair.with_message, merged.with_message),
        (pair.without, merged.without),
    ):
        assert math.isclose(before.sum(), after.sum(), rel_tol=1e-12)
    # What one world alone can cause stays apart.
    revealed = pair.with_message[pair.without == 0.0].sum()
    assert merged.with_message[merged.without == 0.0].sum() == revealed
    for epsilon in EPSILONS:
        less = either(merged.with_message, merged.without, epsilon)
        assert less <= either(pair.with_message, pair.without, epsilon) + 1e-12


def test_merged_atoms_of_a_smooth_pair_say_nearly_the_same() -> None:
    x = np.arange(1.0, 40_001.0)
    masses = np.exp(-((x - 2e4) ** 2) / (2.0 * 3e3**2))
    masses /= masses.sum()
    pair = BucketPair.of(masses * (x / (masses @ x)), masses, missing=0.0, drift=0.0)

    merged = pair.merged(2_000)

    assert merged.without.size == 2_000
    whole, _ = pair.delta(0.1, moved=True)
    less, _ = merged.delta(0.1, moved=True)
    # Blocks of 20 counts beside a deviation of 3,000.
    assert 0.999 * whole <= less <= whole


def test_few_atoms_are_left_as_they_are() -> None:
    pair = pair_of([(0.5, 0.25), (0.25, 0.25), (0.25, 0.5)])

    assert pair.spread(np.arange(-1.0, 1.0, 0.1)) is pair


@settings(max_examples=40, deadline=None)
@given(atoms=OUTCOMES, rate=st.floats(1e-6, 1.0))
def test_a_message_that_is_sent_at_times_is_a_mixture(
    atoms: list[tuple[float, float]], rate: float
) -> None:
    pair = pair_of(atoms)

    thinned = pair.thinned(rate)

    p = (1.0 - rate) * pair.without + rate * pair.with_message
    np.testing.assert_allclose(thinned.with_message, p, rtol=1e-15)
    assert np.all(np.diff(thinned.ratios[np.isfinite(thinned.ratios)]) >= -1e-12)
    for epsilon in EPSILONS:
        value, doubt = thinned.delta(epsilon, moved=False)
        assert abs(value - either(p, pair.without, epsilon)) <= doubt + 1e-15
        # At most in proportion: the rest of the time, nothing is sent.
        assert value <= rate * pair.delta(0.0, moved=False)[0] + 1e-13
