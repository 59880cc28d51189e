"""Ranges and quantiles of a distribution that is known at the edges of bins."""

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.arrays import as_number, float_array
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


def bins_between(edges: Floats, low: float, high: float) -> slice:
    """Returns the bins between two edges.

    Raises:
        InvalidInputError: If they are not edges in this order.
    """
    low, high = as_number(low, "low"), as_number(high, "high")
    first, last = (np.flatnonzero(edges == edge) for edge in (low, high))
    if first.size != 1 or last.size != 1 or first[0] >= last[0]:
        raise InvalidInputError(
            f"Expected two edges in ascending order, got {low:g} and {high:g}."
        )
    return slice(int(first[0]), int(last[0]))


def checked_shares(shares: ArrayLike) -> Floats:
    """Returns shares of people as an array, shape (q,).

    Raises:
        InvalidInputError: If a share is not in (0, 1).
    """
    wanted_shares = float_array(shares, "shares")
    if not np.all((wanted_shares > 0.0) & (wanted_shares < 1.0)):
        raise InvalidInputError("Expected shares between 0 and 1.")
    return wanted_shares


def monotone_quantiles(edges: Floats, below: Floats, shares: Floats) -> Floats:
    """Returns numbers below which given shares of people are, shape as `shares`.

    The distribution function is made monotone and interpolated in bins.

    Args:
        edges: Ends of bins, shape (bins + 1,).
        below: Estimated share of people below each inner edge, shape (bins - 1,).
        shares: In (0, 1), shape (q,).
    """
    raw = np.concatenate([[0.0], np.clip(below, 0.0, 1.0), [1.0]])
    # Halfway between the smallest monotone function above and the largest below.
    above = np.maximum.accumulate(raw)
    under = np.minimum.accumulate(raw[::-1])[::-1]
    numbers: Floats = np.interp(shares, 0.5 * (above + under), edges)
    return numbers


def quantile_intervals(edges: Floats, ends: Floats, shares: Floats) -> Floats:
    """Returns intervals of quantiles that end at edges, shape (q, 2).

    Args:
        edges: Ends of bins, shape (bins + 1,).
        ends: Intervals of the distribution function at inner edges, shape (bins - 1, 2).
        shares: In (0, 1), shape (q,).
    """
    low = np.concatenate([[0.0], ends[:, 0], [1.0]])
    high = np.concatenate([[0.0], ends[:, 1], [1.0]])
    intervals = np.empty((shares.size, 2))
    for index, share in enumerate(shares.tolist()):
        reached = int(np.argmax(high >= share))
        last = low.size - 1 - int(np.argmax((low <= share)[::-1]))
        first_edge, last_edge = max(reached - 1, 0), min(last + 1, low.size - 1)
        intervals[index] = edges[first_edge], edges[last_edge]
    return intervals
