"""Budgets that use up their targets, found level by level.

Each level in turn is raised as far as its target allows, until nothing moves.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.calibration.calibration_search import (
    is_kept,
    largest_one,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.population import Population
from shuffledp.types import Floats

# Relative width at which a level's search ends, and budgets that move by less than this, as
# a logarithm, have settled: these are bounds that jump, and last digits are rough.
_WIDTH, _SETTLED = 1e-6, 2e-6
_MAX_SWEEPS = 40


def swept_budgets(
    promise: Promise,
    counts: NDArray[np.int64],
    targets: Sequence[float],
    start: Floats,
    highest: Floats,
    ordered: Callable[[Floats], Floats],
) -> Floats:
    """Returns budgets, each about the largest given the others, shape (levels,).

    Args:
        promise: Protocol and delta.
        counts: How many people ask for each target, shape (levels,).
        targets: Central epsilons, ascending.
        start: Budgets to begin with, shape (levels,).
        highest: The largest budget of each level, shape (levels,).
        ordered: Makes budgets distinct, and puts them in order.
    """
    budgets, damping, moved, before = start, 1.0, np.inf, np.zeros(start.size)
    least_width = max(_WIDTH, promise.margin(counts.size))
    for _ in range(_MAX_SWEEPS):
        # Far from the answer, rough answers to each other's answers will do.
        width = max(least_width, min(1e-3, moved / 30.0))
        people = Population(budgets, counts)
        are_largest = [
            _is_largest(promise, people, index, target, budget, least_width)
            for index, (budget, target) in enumerate(
                zip(budgets.tolist(), targets, strict=True)
            )
        ]
        if all(are_largest):
            break
        best = np.array(
            [
                budget
                if is_largest
                else largest_one(promise, people, index, target, width=width)
                for index, (budget, target, is_largest) in enumerate(
                    zip(budgets.tolist(), targets, are_largest, strict=True)
                )
            ]
        )
        steps = np.log(np.minimum(best, highest) / budgets)
        # Where the answers to each other's answers swing, smaller steps settle them.
        swing = float(steps @ before) < 0.0
        if swing and np.abs(steps).max() > 0.7 * moved:
            damping = max(damping / 2.0, 0.05)
        elif not swing:
            damping = min(2.0 * damping, 1.0)
        moved, before = float(np.abs(steps).max()), steps
        # What does not move by rough answers may by finer ones.
        if moved < max(_SETTLED, least_width) and width <= least_width:
            break
        budgets = ordered(budgets * np.exp(damping * steps))
    return budgets


def _is_largest(
    promise: Promise,
    people: Population,
    index: int,
    target: float,
    budget: float,
    width: float,
) -> bool:
    """Returns whether a level keeps its target, and with a little more would not."""
    kept = partial(is_kept, promise, people, index, target)
    return kept(budget) and not kept(budget * (1.0 + 2.0 * width))
