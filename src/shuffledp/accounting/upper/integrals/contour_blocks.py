"""Which blocks of points on a line are looked at: the others' integrand is negligible."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shuffledp.types import Complexes, Ints

# Blocks that are looked at together first, where there are many.
_GROUP, _MANY_BLOCKS = 16, 256

# Whether the integrand may not be negligible near the sums of an outer and an inner point,
# shape (m, n), where the loss's moment changes by so much, at most.
IsVisible = Callable[[Complexes, Complexes, float], NDArray[np.bool_]]


def visible_blocks(
    is_visible: IsVisible,
    first: complex,
    spacing: complex,
    num_blocks: int,
    change: float,
) -> Ints:
    """Returns the positions of all blocks that may matter, ascending.

    Args:
        is_visible: Whether points near these may matter.
        first: The middle of the first block.
        spacing: From one middle to the next.
        num_blocks: How many there are.
        change: By how much the moment may change from a middle to the ends of its block.
    """
    if num_blocks < _MANY_BLOCKS:
        return _visible(is_visible, first, spacing, num_blocks, change)
    middle = first + 0.5 * (_GROUP - 1) * spacing
    num_groups = -(-num_blocks // _GROUP)
    groups = _visible(is_visible, middle, _GROUP * spacing, num_groups, _GROUP * change)
    within = np.arange(_GROUP)
    seen = is_visible(first + spacing * _GROUP * groups, spacing * within, change)
    blocks: Ints = (_GROUP * groups[:, np.newaxis] + within)[seen]
    return blocks[blocks < num_blocks]


def _visible(
    is_visible: IsVisible, first: complex, spacing: complex, num: int, change: float
) -> Ints:
    """Returns the positions of points near which the integrand may matter."""
    # Points are equally spaced: a square of them has short sides.
    side = int(np.sqrt(num - 1)) + 1
    outer = first + spacing * side * np.arange(-(-num // side))
    seen = is_visible(outer, spacing * np.arange(side), change)
    return np.flatnonzero(seen.ravel()[:num])
