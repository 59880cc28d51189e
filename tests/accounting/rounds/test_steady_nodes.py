"""The same nodes are chosen where bounds are rounded otherwise, as on other processors."""

import math

import numpy as np
import pytest

from shuffledp.accounting.rounds.loss_distribution import LossDistribution
from shuffledp.accounting.rounds.node_choice import loss_distribution


def divergence(others: int, budget: float, epsilon: float) -> float:
    """Of one answer among others, all of binary randomized response, by enumeration."""
    lie = 1.0 / (1.0 + math.exp(budget))
    count = [
        math.comb(others, k) * lie**k * (1.0 - lie) ** (others - k)
        for k in range(others + 1)
    ]
    first = np.convolve(count, [1.0 - lie, lie])
    second = np.convolve(count, [lie, 1.0 - lie])
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def losses(others: int, budget: float, *, noise: float, seed: int) -> LossDistribution:
    rng = np.random.default_rng(seed)
    return loss_distribution(
        lambda epsilon: (
            divergence(others, budget, epsilon)
            * (1.0 + 1e-9 + noise * rng.uniform(-1.0, 1.0))
        ),
        ceiling=math.inf,
        negligible=1e-12,
    )


@pytest.mark.parametrize("others", [3, 20, 60])
@pytest.mark.parametrize("budget", [0.7, 2.0, 5.0])
def test_rounding_chooses_no_other_nodes(others: int, budget: float) -> None:
    exact = losses(others, budget, noise=0.0, seed=0)

    for seed in range(5):
        rounded = losses(others, budget, noise=1e-15, seed=seed)
        assert rounded.losses.size > 3
        np.testing.assert_array_equal(rounded.losses, exact.losses)
