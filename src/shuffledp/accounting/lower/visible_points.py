"""Points of a circle at which a generating function is not negligible: few of them.

Of N equally spaced points, those up to the half are cut in two again and again. A part is
left out once a lower bound of the function's fall (see `ScoreSum.coincidences`), from the
middle of the part and its reach, says that nothing there matters.
"""

import math

import numpy as np

from shuffledp.types import Floats, Ints

# More points at a time than this are never needed, unless nothing can be proven.
_MAX_CELLS = 100_000
# So few points are not worth a bound that might skip them.
_FEW_NODES = 8


def visible_points(
    coincidences: Floats, nodes: int, *, enough: float
) -> tuple[Ints, float]:
    """Returns the points 0, ..., N // 2 that matter, and a bound of all others' sum.

    Args:
        coincidences: Of all people, less by more than rounding, shape (K,).
        nodes: N, odd.
        enough: Where the function has fallen by more than a factor of e^enough, it does
            not matter.

    Raises:
        OverflowError: If there are too many points to handle.
    """
    half_lags = 0.5 * np.arange(1, coincidences.size + 1)
    step = 2.0 * math.pi / nodes
    start, stop = np.array([0]), np.array([nodes // 2 + 1])
    visible, left_out = [], 0.0
    while start.size:
        middle = 0.5 * step * (start + stop - 1)
        reach = 0.5 * step * (stop - 1 - start)
        sines = np.abs(np.sin(np.multiply.outer(middle, half_lags)))
        sines = np.maximum(sines - np.multiply.outer(reach, half_lags), 0.0)
        fall = 2.0 * (sines**2 @ coincidences)
        size = stop - start
        is_far = fall > enough
        left_out += float(size[is_far] @ np.exp(-fall[is_far]))
        has_few_nodes = ~is_far & (size <= _FEW_NODES)
        for low, high in zip(start[has_few_nodes], stop[has_few_nodes], strict=True):
            visible.append(np.arange(low, high))
        split = ~is_far & ~has_few_nodes
        center = (start[split] + stop[split]) // 2
        if center.size > _MAX_CELLS:
            raise OverflowError
        start = np.concatenate([start[split], center])
        stop = np.concatenate([center, stop[split]])
    return np.concatenate(visible), left_out
