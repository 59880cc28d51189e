"""Search for the number of blanket messages of least error.

The error of a collection as a function of m, blanket messages per user, is smooth except at
kinks. It is evaluated on a grid and at all kinks; Brent's method then searches on both
sides of the best point, to four digits of m.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", section 5.2, which proposes a grid.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.errors import InvalidInputError

# Points of the grid, besides the kinks.
_GRID = 24


def best_blanket(
    error: Callable[[float], float],
    kinks: Sequence[float],
    *,
    below: float = 1.0,
    close: float = 1e-5,
) -> float:
    """Returns the m of least error.

    >>> round(best_blanket(lambda m: abs(math.log(m / 3.0)), [1.0, 10.0]), 3)
    3.0

    Args:
        error: The error as a function of m > 0.
        kinks: Points m > 0 where the error is not smooth; the largest ends the search.
        below: The search begins at this part of the smallest kink.
        close: Absolute precision of log(m).

    Raises:
        InvalidInputError: If there is no kink, or one is not above 0.
    """
    # NaN stands for a kink that has no logarithm, and is refused below.
    logs = [math.log(kink) if kink > 0.0 else math.nan for kink in kinks]
    if not logs or not all(map(math.isfinite, logs)) or not 0.0 < below <= 1.0:
        raise InvalidInputError(
            "Expected at least one blanket above 0, and 0 < below <= 1."
        )
    # In log(m): the useful range spans orders of magnitude.
    evenly = np.linspace(min(logs) + math.log(below), max(logs), _GRID).tolist()
    # At a kink another target may begin to send everything; often it is the minimum.
    grid = sorted({*evenly, *logs})
    errors = [error(math.exp(log)) for log in grid]
    at = int(np.argmin(errors))
    best_log, least_error = grid[at], errors[at]
    # The best point may be a kink: Brent's method needs each side of it by itself.
    for low, high in ((at - 1, at), (at, at + 1)):
        if not 0 <= low < high < len(grid):
            continue
        result = minimize_scalar(
            lambda log: error(math.exp(log)),
            bounds=(grid[low], grid[high]),
            method="bounded",
            options={"xatol": close},
        )
        # The grid point stays where the search on a side is no better.
        if result.fun < least_error:
            best_log, least_error = float(result.x), float(result.fun)
    return math.exp(best_log)
