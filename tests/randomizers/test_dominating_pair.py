import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.randomizers.dominating_pair import (
    DominatingPair,
    dominating_pair,
    sorted_pair,
)
from shuffledp.types import Floats


def excess(values: Floats, masses: Floats, above: float) -> float:
    return math.fsum((masses * np.maximum(values - above, 0.0)).tolist())


def loss(pair: DominatingPair, growth: float) -> Floats:
    return pair.falling - growth * pair.rising


def test_one_coin_and_its_mirror_image() -> None:
    values, masses = np.array([1.5, 0.5]), np.array([0.5, 0.5])

    pair = dominating_pair(values[None, :], masses[None, :], nodes=4)

    # Two values and their mirror images are attained, but for the slack.
    for growth in (1.0, 1.2):
        exact = np.array([1.5 - growth * 0.5, 0.5 - growth * 1.5])
        for above in (-1.0, -0.2, 0.0, 0.5):
            shown = excess(exact, masses, above)
            bound = excess(loss(pair, growth), pair.masses, above)
            assert shown <= bound <= shown + 1e-9


def test_sorted_pair_puts_the_largest_against_the_smallest() -> None:
    pair = sorted_pair(np.array([0.4, 2.0, 1.1]), np.array([0.5, 0.3, 0.2]))

    assert pair.masses == pytest.approx([0.3, 0.2, 0.2, 0.3])
    assert pair.falling == pytest.approx([2.0, 1.1, 0.4, 0.4], abs=1e-15)
    assert pair.rising == pytest.approx([0.4, 0.4, 1.1, 2.0], abs=1e-15)
    assert pair.spread == pytest.approx(0.6 * 1.6**2 + 0.4 * 0.7**2)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), nodes=st.sampled_from([4, 20, 100]))
def test_it_dominates_every_pair_of_random_densities(seed: int, nodes: int) -> None:
    rng = np.random.default_rng(seed)
    cells, rows = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    omega = rng.dirichlet(np.ones(cells))
    scale = 10.0 ** rng.uniform(-7, 0.5)
    densities = np.exp(scale * rng.normal(size=(rows, cells)))
    densities /= (densities @ omega)[:, None]

    pair = dominating_pair(densities, np.tile(omega, (rows, 1)), nodes=nodes)

    assert pair.masses.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.diff(pair.falling) <= 0.0)
    assert np.all(np.diff(pair.rising) >= 0.0)
    for here in densities:
        for there in densities:
            for growth in (1.0, 1.0 + scale, 5.0):
                exact = here - growth * there
                bound = loss(pair, growth)
                for above in [*exact.tolist(), float(exact.mean())]:
                    # Rounding of values around 1.
                    assert excess(exact, omega, above) <= excess(
                        bound, pair.masses, above
                    ) + 1e-15 * (1.0 + growth)
