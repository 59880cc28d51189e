"""Batches of users, and counts of their messages by group."""

from collections.abc import Iterator

import numpy as np

from shuffledp.types import Ints

# Entries of a temporary array, at most, while people are gone through in batches.
_BATCH = 1 << 18


def batches(num_people: int, *, width: int = 1) -> Iterator[slice]:
    """Yields slices of people, so small that `width` entries for each fit into memory."""
    size = max(_BATCH // max(width, 1), 1)
    for start in range(0, num_people, size):
        yield slice(start, min(start + size, num_people))


def tally(entries: Ints, num_kinds: int, groups: Ints | None, num_groups: int) -> Ints:
    """Counts the users of each group who sent each kind of message.

    Args:
        entries: Each user's message, in [0, num_kinds), shape (n,).
        num_kinds: How many kinds there are.
        groups: Each user's group, in [0, num_groups), shape (n,); None if there is one
            group only.
        num_groups: How many groups there are.

    Returns:
        Shape (num_groups, num_kinds).
    """
    if groups is None:
        cells = entries.astype(np.int64, copy=False)
    else:
        cells = groups * np.int64(num_kinds)
        np.add(cells, entries, out=cells, dtype=np.int64, casting="unsafe")
    counts = np.bincount(cells, minlength=num_groups * num_kinds)
    return counts.reshape(num_groups, num_kinds)
