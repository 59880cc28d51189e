"""Where messages of canaries are in a batch, and how often."""

import numpy as np

from shuffledp.audit.collection.message_hashes import Hashes
from shuffledp.types import Ints


def message_positions(wanted: Hashes, hashes: Hashes) -> tuple[Ints, Ints]:
    """Returns the first place of each message, and how often it is there.

    Args:
        wanted: SHA-256 of messages, of any shape.
        hashes: SHA-256 of messages in a list, shape (n,).

    Returns:
        Places in [0, n), -1 for those that are not there, and counts; both of the shape
        of `wanted`.
    """
    order = np.argsort(hashes, kind="stable")
    inside = hashes[order]
    first = np.searchsorted(inside, wanted, side="left")
    counts = np.searchsorted(inside, wanted, side="right") - first
    padded = np.append(order, -1)
    places: Ints = np.where(counts > 0, padded[first], -1)
    return places, counts
