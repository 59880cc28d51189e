"""Levels whose certified bound jumps where its target is used up: no budget uses it up.

Grids and thresholds inside a bound change with the budgets, so that it is not quite
continuous. Of two budgets nearly alike, with a jump between, the smaller one is kept.
"""

import numpy as np
from numpy.typing import NDArray

from shuffledp.types import Floats

# Budgets are nearly alike if their logarithms differ by less, those of others, too.
_NEAR = 1e-3
# What slopes do not explain of a change of the excess between such budgets is a jump.
_LEAST_JUMP = 3e-5
# Steeper slopes than this come of a correction by a jump.
_STEEPEST = 5.0
# A range's end lies between a kept and a broken budget whose logarithms differ by less.
_ENCLOSED = 2e-2


class BoundJumps:
    """The last budgets before and after the end of each level's range.

    Args:
        num_levels: How many levels there are.
    """

    def __init__(self, num_levels: int) -> None:
        shape = (num_levels, num_levels)
        self._below, self._above = np.full(shape, np.nan), np.full(shape, np.nan)
        self._excess_below = np.zeros(num_levels)
        self._excess_above = np.zeros(num_levels)

    def add(self, log_budgets: Floats, excess: Floats) -> None:
        """Notes what was evaluated: logarithms of budgets and excess, shapes (levels,)."""
        is_kept = excess <= 0.0
        self._below[is_kept], self._above[~is_kept] = log_budgets, log_budgets
        self._excess_below[is_kept] = excess[is_kept]
        self._excess_above[~is_kept] = excess[~is_kept]

    def levels(self, slopes: Floats) -> NDArray[np.bool_]:
        """Returns which levels jump, shape (levels,).

        Args:
            slopes: Of each level's excess in each logarithm, shape (levels, levels).
        """
        changes = self._above - self._below
        slopes = np.clip(slopes, -_STEEPEST, _STEEPEST)
        explained = np.sum(slopes * changes, axis=1)
        jumps = self._excess_above - self._excess_below - explained
        # Before both were seen there is no number, and nothing is smaller or larger.
        near = np.abs(changes).max(axis=1) < _NEAR
        result: NDArray[np.bool_] = near & (jumps > _LEAST_JUMP)
        return result

    def steps(self, log_budgets: Floats) -> Floats:
        """Returns the step of each level to its last budget that kept its target."""
        steps: Floats = np.diag(self._below) - log_budgets
        return steps

    def enclosed_steps(self, log_budgets: Floats, steps: Floats) -> Floats:
        """Returns steps that stay between the last budgets before and after the end.

        A slope that has met a jump leads out of them; the middle is taken then. Ends move
        with the budgets of others, so only steps of levels are changed whose two budgets
        were seen with others nearly alike.

        Args:
            log_budgets: Logarithms of the budgets now, shape (levels,).
            steps: Steps of their logarithms, shape (levels,).
        """
        below, above = np.diag(self._below), np.diag(self._above)
        of_others = np.abs(self._above - self._below)
        np.fill_diagonal(of_others, 0.0)
        width = above - below
        # Before both were seen there is no number, and nothing is smaller or larger.
        is_enclosed = (
            (of_others.max(axis=1) < _NEAR) & (width > 0.0) & (width < _ENCLOSED)
        )
        ends = log_budgets + steps
        leaves = is_enclosed & ((ends <= below) | (ends >= above))
        enclosed: Floats = np.where(leaves, 0.5 * (below + above) - log_budgets, steps)
        return enclosed
