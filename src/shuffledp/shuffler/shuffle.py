"""The shuffler: it removes who sent what, and in which order.

Messages are put into one uniformly random order. Privacy levels either travel apart from
the messages, in a second, independent order, so that nobody can tell which message came
from which level; or, if the protocol asks for it, each level stays with its message.

A message may be a row of several numbers, which stays together. If the protocol asks for
coordinates apart, every column of the rows gets an independent order of its own, so that
nobody can tell which entries came from the same person.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import check_one_row_each
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Reports:
    """What the devices hand to the shuffler, in the order of the people.

    Attributes:
        messages: One randomized message per person, shape (n,) or (n, width).
        levels: Each person's privacy level in nats, shape (n,).
        linked: Whether a message keeps its level on the way to the analyst.
        coordinates_apart: Whether each column of the messages is shuffled on its own.
    """

    messages: NDArray[Any]
    levels: Floats
    linked: bool
    coordinates_apart: bool = False

    def __post_init__(self) -> None:
        check_one_row_each(self.messages, self.levels, what="messages")


@dataclass(frozen=True, eq=False)
class ShuffledReports:
    """What the analyst sees.

    Attributes:
        messages: Shape (n,) or (n, width), in random order.
        levels: Shape (n,). If `linked`, entry i belongs to message i; otherwise the
            levels are in a random order of their own.
        linked: See `levels`.
        coordinates_apart: Whether the entries of a row come from independent people; if
            `linked`, they are all of level i.
    """

    messages: NDArray[Any]
    levels: Floats
    linked: bool
    coordinates_apart: bool = False

    def __post_init__(self) -> None:
        check_one_row_each(self.messages, self.levels, what="messages")


def shuffle(reports: Reports, *, rng: Rng) -> ShuffledReports:
    """Puts reports into a uniformly random order.

    Args:
        reports: From a protocol's `randomize`.
        rng: `SystemRandom()` where real people's order is hidden; a seeded NumPy
            generator where a simulation should be repeatable.
    """
    check_rng(rng)
    if not isinstance(reports, Reports):
        raise InvalidInputError(f"Expected Reports, got {type(reports).__name__}.")
    order: Ints = rng.permutation(reports.levels.size)
    if not reports.coordinates_apart:
        messages = reports.messages[order]
        if not reports.linked:
            order = rng.permutation(reports.levels.size)
        levels = reports.levels[order]
    else:
        levels = reports.levels[order]
        kinds = _kinds(reports.levels) if reports.linked else None
        messages = np.empty_like(reports.messages)
        # One column at a time: an order of all entries would take width times the memory.
        flat = messages.ndim == 1
        columns = messages[:, None] if flat else messages
        entries = reports.messages[:, None] if flat else reports.messages
        for place in range(columns.shape[1]):
            own: Ints = rng.permutation(levels.size)
            if kinds is not None:
                own = _with_equals(own, order, kinds)
            columns[:, place] = entries[own, place]
    return ShuffledReports(messages, levels, reports.linked, reports.coordinates_apart)


def _kinds(levels: Floats) -> Ints:
    """Returns a number for each level, the same for equal ones, shape as `levels`."""
    distinct, kinds = np.unique(levels, return_inverse=True)
    # Sorting small integers takes a fraction of the time.
    return kinds.astype(np.min_scalar_type(distinct.size))


def _with_equals(own: Ints, order: Ints, kinds: Ints) -> Ints:
    """Turns a random order into one where everybody is of the kind that `order` has there.

    Within a kind, people keep the order of `own`, so that all orders of them are equally
    likely, whatever `order` is.
    """
    matched = np.empty_like(own)
    places = np.argsort(kinds[order], kind="stable")
    matched[places] = own[np.argsort(kinds[own], kind="stable")]
    return matched
