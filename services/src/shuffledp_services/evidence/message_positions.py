"""Positions and counts of canaries' messages in a batch."""

import numpy as np

from shuffledp.types import Ints
from shuffledp_services.evidence.message_hashes import Hashes


def message_positions(wanted: Hashes, hashes: Hashes) -> tuple[Ints, Ints]:
    """Returns the first position of each message, and its number of occurrences.

    Args:
        wanted: SHA-256 of messages, of any shape.
        hashes: SHA-256 of messages in a list, shape (n,).

    Returns:
        Positions in [0, n), -1 for missing messages, and counts; both of the shape of
        `wanted`.
    """
    order = np.argsort(hashes, kind="stable")
    inside = hashes[order]
    first = np.searchsorted(inside, wanted, side="left")
    counts = np.searchsorted(inside, wanted, side="right") - first
    # A missing message may sort behind the last one, at index n.
    padded = np.append(order, -1)
    positions: Ints = np.where(counts > 0, padded[first], -1)
    return positions, counts
