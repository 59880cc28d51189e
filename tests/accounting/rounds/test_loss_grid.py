"""A grid of losses dominates what it was made from, in exact arithmetic."""

import math
from collections.abc import Callable
from functools import partial

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.accounting.rounds.loss_distribution import LossDistribution, connect_dots
from shuffledp.accounting.rounds.loss_grid import LossGrid, loss_grid
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


def response(budget: float) -> LossDistribution:
    """The losses of binary randomized response."""
    most = math.tanh(0.5 * budget) * (1.0 + 1e-15)
    return connect_dots(np.array([0.0, budget]), np.array([most, 0.0]))


def smooth(scale: float, left: float) -> LossDistribution:
    """Any convex profile that falls to `left`."""
    nodes: Floats = scale * np.linspace(0.0, 5.0, 12)
    return connect_dots(nodes, 0.4 * np.exp(-2.0 * nodes / scale) + left)


def profile(losses: list[mp.mpf], masses: list[mp.mpf], epsilon: mp.mpf) -> mp.mpf:
    """The sum of P - E Q over losses above epsilon; masses are P's."""
    return mp.fsum(
        mass * (1 - mp.exp(epsilon - loss))
        for loss, mass in zip(losses, masses, strict=True)
        if loss > epsilon
    )


def of_distribution(given: LossDistribution, epsilon: mp.mpf) -> mp.mpf:
    if epsilon < 0:
        # The mirror image: the pair stands for both directions.
        return 1 - mp.exp(epsilon) + mp.exp(epsilon) * of_distribution(given, -epsilon)
    losses = [mp.mpf(loss) for loss in given.losses.tolist()]
    masses = [
        mp.mpf(mass) * mp.exp(loss)
        for mass, loss in zip(given.masses.tolist(), losses, strict=True)
    ]
    return profile(losses, masses, epsilon) + mp.mpf(given.infinite)


def of_grid(grid: LossGrid, epsilon: mp.mpf) -> mp.mpf:
    losses = [grid.width * mp.mpf(grid.lowest + i) for i in range(grid.masses.size)]
    masses = [mp.mpf(mass) for mass in grid.masses.tolist()]
    return profile(losses, masses, epsilon) + mp.mpf(grid.infinite)


def of_response(budget: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """The divergence of binary randomized response, for epsilon within its budgets."""
    if epsilon >= budget:
        return mp.mpf(0)
    if epsilon <= -budget:
        return 1 - mp.exp(epsilon)
    return (mp.exp(budget) - mp.exp(epsilon)) / (mp.exp(budget) + 1)


def check(
    given: LossDistribution, width: float, exact: Callable[[mp.mpf], mp.mpf]
) -> LossGrid:
    grid = loss_grid(given, width)
    with mp.workdps(40):
        for epsilon in [-9.0, -1.0, -0.3, -width, 0.0, 0.5 * width, 0.3, 1.0, 2.7, 9.0]:
            point = mp.mpf(epsilon)
            # P adds up to 1 in double precision only.
            assert of_grid(grid, point) >= exact(point) - 1e-15
        total = mp.fsum([*map(mp.mpf, grid.masses.tolist()), mp.mpf(grid.infinite)])
        assert abs(total - 1) <= 1e-15
    return grid


@pytest.mark.parametrize("width", [0.003, 0.01, 0.25, 0.9])
@pytest.mark.parametrize("budget", [0.01, 0.5, 3.0, 40.0])
def test_a_response_is_dominated(budget: float, width: float) -> None:
    grid = check(response(budget), width, partial(of_response, mp.mpf(budget)))

    # A step further at most.
    top = grid.width * (grid.lowest + grid.masses.size - 1)
    assert top <= budget + width * (1.0 + 1e-12)
    assert grid.infinite <= 1e-15


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    scale=st.floats(0.01, 2.0), left=st.floats(0.0, 0.1), width=st.floats(0.004, 0.5)
)
def test_any_profile_is_dominated(scale: float, left: float, width: float) -> None:
    given = smooth(scale, left)

    grid = check(given, width, partial(of_distribution, given))

    assert given.infinite <= grid.infinite <= given.infinite + 1e-12


def test_losses_on_the_grid_stay_where_they_are() -> None:
    grid = loss_grid(response(1.0), 0.25)

    shown = {grid.lowest + i: p for i, p in enumerate(grid.masses) if p > 1e-12}
    assert shown == {
        -4: pytest.approx(1.0 / (1.0 + math.e), rel=1e-12),
        4: pytest.approx(math.e / (1.0 + math.e), rel=1e-12),
    }


def test_a_grid_of_too_many_points_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="larger interval"):
        loss_grid(response(40.0), 1e-6)
