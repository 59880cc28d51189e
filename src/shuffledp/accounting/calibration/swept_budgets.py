"""Budgets that use up their targets, found level by level.

Each level in turn is raised as far as its target allows, until nothing moves.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from shuffledp.accounting.calibration.calibration_search import largest
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.types import Floats

# Relative width at which a level's search ends, as a part of what budgets may move by.
_WIDTH = 0.2
_MAX_SWEEPS = 40
# Estimates only begin a search: where levels depend on each other too much, others will.
_MAX_ESTIMATED = 10


def swept_budgets(
    excess: TargetExcess,
    start: Floats,
    *,
    accuracy: float,
    of_level: Callable[[Population, int, float], float] | None = None,
) -> Floats:
    """Returns budgets, each about the largest given the others, shape (levels,).

    Args:
        excess: By about which factor budgets are too large.
        start: Budgets to begin with, shape (levels,).
        accuracy: Budgets that move by less, as a logarithm, have settled.
        of_level: About the excess of one level among people, with a budget, where that is
            enough; by default the certified one.

    Raises:
        CertificationError: If nothing is estimated, or estimates do not settle.
    """
    is_estimated = of_level is not None
    excess_of_level = of_level or excess.certified_of_level
    counts, accuracy = excess.counts, max(accuracy, excess.margin)
    budgets, damping, moved, before = start, 1.0, np.inf, np.zeros(start.size)
    least_width = _WIDTH * accuracy
    for _ in range(_MAX_ESTIMATED if is_estimated else _MAX_SWEEPS):
        # Far from the answer, rough answers to each other's answers will do.
        width = max(least_width, min(1e-3, moved / 30.0))
        people = Population(budgets, counts)
        of_levels = [
            cache(partial(excess_of_level, people, index))
            for index in range(counts.size)
        ]
        are_largest = [
            _is_largest(of_level, budget, least_width)
            for of_level, budget in zip(of_levels, budgets.tolist(), strict=True)
        ]
        if all(are_largest):
            break
        best = np.array(
            [
                budget
                if is_largest
                else largest(of_level, max(budget, target), MAX_BUDGET, width)
                for of_level, budget, target, is_largest in zip(
                    of_levels,
                    budgets.tolist(),
                    excess.targets,
                    are_largest,
                    strict=True,
                )
            ]
        )
        steps = np.log(np.minimum(best, excess.range.highest) / budgets)
        # Where the answers to each other's answers swing, smaller steps settle them.
        swing = float(steps @ before) < 0.0
        if swing and np.abs(steps).max() > 0.7 * moved:
            damping = max(damping / 2.0, 0.05)
        elif not swing:
            damping = min(2.0 * damping, 1.0)
        moved, before = float(np.abs(steps).max()), steps
        # What does not move by rough answers may by finer ones.
        if moved < accuracy and width <= least_width:
            break
        budgets = excess.range.ordered(budgets * np.exp(damping * steps))
    else:
        if is_estimated:
            raise CertificationError("Estimates do not settle.")
    return budgets


def _is_largest(excess: Callable[[float], float], budget: float, width: float) -> bool:
    """Returns whether a level keeps its target, and with a little more would not."""
    more = budget * (1.0 + 2.0 * width)
    return excess(budget) <= 0.0 and (more > MAX_BUDGET or excess(more) > 0.0)
