"""The shuffler: it removes who sent what, and in which order.

Messages are put into one uniformly random order. Privacy levels either travel apart from
the messages, in a second, independent order, so that nobody can tell which message came
from which level; or, if the protocol asks for it, each level stays with its message.
"""

from dataclasses import dataclass

from shuffledp.arrays import one_each
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Reports:
    """What the devices hand to the shuffler, in the order of the people.

    Attributes:
        messages: One randomized message per person, shape (n,).
        levels: Each person's privacy level in nats, shape (n,).
        linked: Whether a message keeps its level on the way to the analyst.
    """

    messages: Ints
    levels: Floats
    linked: bool

    def __post_init__(self) -> None:
        one_each(self.messages, self.levels, what="messages")


@dataclass(frozen=True, eq=False)
class ShuffledReports:
    """What the analyst sees.

    Attributes:
        messages: Shape (n,), in random order.
        levels: Shape (n,). If `linked`, entry i belongs to message i; otherwise the
            levels are in a random order of their own.
        linked: See `levels`.
    """

    messages: Ints
    levels: Floats
    linked: bool

    def __post_init__(self) -> None:
        one_each(self.messages, self.levels, what="messages")


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
    order = rng.permutation(reports.messages.size)
    messages = reports.messages[order]
    if not reports.linked:
        order = rng.permutation(reports.levels.size)
    return ShuffledReports(messages, reports.levels[order], reports.linked)
