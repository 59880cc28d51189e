"""Probabilities of the parts that edges cut all messages into, from tails of the noise."""

import numpy as np

from shuffledp.types import Floats


def probabilities_between(away: Floats, tails: Floats) -> Floats:
    """Returns probabilities of the parts; the first and the last are unbounded.

    Parts are differences of the nearer tails, so that far ones keep their digits.

    Args:
        away: Distances of the edges from the value, ascending, shape (edges,).
        tails: Probabilities of noise beyond each edge, on its side of the value, of
            symmetric noise, shape (edges, levels).

    Returns:
        Probabilities, shape (edges + 1, levels).
    """
    num_below = int(np.searchsorted(away, 0.0))
    parts = np.empty((away.size + 1, tails.shape[1]))
    # Below the value every edge adds to the tail, and above takes from it.
    parts[:num_below] = tails[:num_below]
    parts[1:num_below] -= tails[: max(num_below - 1, 0)]
    parts[num_below + 1 :] = tails[num_below:]
    parts[num_below + 1 : -1] -= tails[num_below + 1 :]
    # The part around the value has what is left of either half.
    parts[num_below] = 0.5 - tails[num_below - 1] if num_below else 0.5
    parts[num_below] += 0.5 - tails[num_below] if num_below < away.size else 0.5
    return parts
