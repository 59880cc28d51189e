"""Estimates by the saddle point: no bounds, but close to those that are exact sums."""

import numpy as np
import pytest

from shuffledp.accounting.epsilon_solver import smallest_certified_epsilon
from shuffledp.accounting.upper.atoms import Atoms
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.counting import counting_bound
from shuffledp.accounting.upper.cover_count import cover_count
from shuffledp.accounting.upper.saddle_estimate import saddle_estimate
from shuffledp.cover import mirrored
from shuffledp.population import Population
from shuffledp.randomizers.kary_response import KRandomizedResponse


@pytest.mark.parametrize("users", [300, 3_000])
@pytest.mark.parametrize("level", [0.5, 1.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_estimate_is_close_to_the_sum(users: int, level: float, delta: float) -> None:
    people = Population.from_counts({level: users})
    ((cover,),) = KRandomizedResponse(2).covers([level], people, delta=delta)
    gammas, others = cover.blanket_probabilities, np.array([users - 1])
    form = mirrored(cover)
    assert form is not None
    exact = counting_bound(form, cover_count(gammas, others, tail=1e-25), tail=1e-25)
    estimated = ContourBound(cover, gammas, others.astype(np.float64))

    epsilon = smallest_certified_epsilon(
        exact.delta, delta, ceiling=level, guess=0.1 * level
    )

    # The saddle point is a first term: a twentieth is far more than the next one here.
    assert estimated.estimate(epsilon) == pytest.approx(exact.delta(epsilon), rel=0.05)


@pytest.mark.parametrize("epsilon", [1.0, 1.7])
def test_losses_that_are_rarely_positive_are_estimated(epsilon: float) -> None:
    # One message of a hundred thousand is the target user's other value: a loss is far
    # above 0, or a little below.
    people = Population.from_counts({2.0: 60})
    ((cover,),) = KRandomizedResponse(100_000).covers([2.0], people, delta=1e-6)
    bound = ContourBound(cover, cover.blanket_probabilities, np.array([59.0]))

    estimate, exact = bound.estimate(epsilon), bound.delta(epsilon)

    # No normal loss is near: the logarithm is right to a fiftieth.
    assert exact < 1e-50
    assert np.log(estimate) == pytest.approx(np.log(exact), rel=0.02)


def test_losses_that_are_never_positive_add_up_to_none() -> None:
    loss = Atoms(np.array([-1.0, 0.0]), np.array([0.5, 0.5]), 1.0, 2)

    assert saddle_estimate(loss, np.array([0.1]), np.array([100.0])).size == 0.0
