"""Budgets that use up their targets, found level by level.

Each level in turn is raised as far as its target allows, until nothing moves.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.calibration.calibration_search import WIDTH, largest_one
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.population import Population
from shuffledp.types import Floats

# Budgets that move by less than this, as a logarithm, have settled.
_SETTLED = 2e-7
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
        start: Budgets that keep them, shape (levels,).
        highest: The largest budget of each level, shape (levels,).
        ordered: Makes budgets distinct, and puts them in order.
    """
    budgets, damping, moved, before = start, 1.0, np.inf, np.zeros(start.size)
    for _ in range(_MAX_SWEEPS):
        # Far from the answer, rough answers to each other's answers will do.
        width = max(WIDTH, min(1e-3, moved / 30.0))
        people = Population(budgets, counts)
        best = np.array(
            [
                largest_one(promise, people, index, target, width=width)
                for index, target in enumerate(targets)
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
        if moved < _SETTLED:
            break
        budgets = ordered(budgets * np.exp(damping * steps))
    return budgets
