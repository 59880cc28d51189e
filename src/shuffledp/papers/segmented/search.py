"""The blanket of least error, to four digits rather than the nearest of a few.

The error of a collection as a function of m, blanket messages per person, is smooth but
for kinks, where another target may send everything; often it is least in one of them. It
is computed on a grid and in all kinks, and between the neighbors of the best by Brent's
method.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", section 5.2, which proposes a grid.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.errors import InvalidInputError

_GRID = 24


def best_blanket(
    error: Callable[[float], float],
    kinks: Sequence[float],
    *,
    below: float = 1.0,
    close: float = 1e-5,
) -> float:
    """Returns m of about the least error.

    >>> round(best_blanket(lambda m: abs(math.log(m / 3.0)), [1.0, 10.0]), 3)
    3.0

    Args:
        error: Of a blanket, above 0.
        kinks: Where the error is not smooth, above 0; the largest one ends the search.
        below: The search begins at this part of the smallest kink.
        close: To which part of itself m is found.

    Raises:
        InvalidInputError: If there are no kinks, or they are not above 0.
    """
    logs = [math.log(kink) if kink > 0.0 else math.nan for kink in kinks]
    if not logs or not all(map(math.isfinite, logs)) or not 0.0 < below <= 1.0:
        raise InvalidInputError(
            "Expected at least one blanket above 0, and 0 < below <= 1."
        )
    evenly = np.linspace(min(logs) + math.log(below), max(logs), _GRID).tolist()
    grid = sorted({*evenly, *logs})
    errors = [error(math.exp(log)) for log in grid]
    at = int(np.argmin(errors))
    best, least = grid[at], errors[at]
    # A kink may lie at the best place: either side of it is looked at by itself.
    for low, high in ((at - 1, at), (at, at + 1)):
        if not 0 <= low < high < len(grid):
            continue
        found = minimize_scalar(
            lambda log: error(math.exp(log)),
            bounds=(grid[low], grid[high]),
            method="bounded",
            options={"xatol": close},
        )
        if found.fun < least:
            best, least = float(found.x), float(found.fun)
    return math.exp(best)
