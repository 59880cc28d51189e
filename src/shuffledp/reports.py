"""Reports of devices before and after the shuffle.

Both carry the identity of their protocol, and the arrangement of a report:

    "rows"     a report is one message, of one or several numbers
    "columns"  every number of a report is a message of its own, and mixed only with those
               in the same column of other reports
    "pool"     every number of a report is a message, and all messages of all people are
               mixed with each other
    "loose"    likewise, but reports have different numbers of messages: entries below 0
               are none, which are not sent and which the shuffle removes
    "loose with dummies"  likewise, and the shuffler adds messages of its own: without
               these, the messages are not private
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.identity import Identity
from shuffledp.types import Floats, Ints

Arrangement: TypeAlias = Literal[
    "rows", "columns", "pool", "loose", "loose with dummies"
]
_LOOSE = ("loose", "loose with dummies")


@dataclass(frozen=True, eq=False)
class Reports:
    """Reports as devices send them to the shuffler, in the order of the users.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> frequency, rng = sdp.Frequency(3), np.random.default_rng(1)
    >>> reports = frequency.randomize(np.array([0, 1, 2]), np.ones(3), rng=rng)
    >>> reports.num_users
    3

    Attributes:
        identity: Identity of the protocol that made them.
        messages: Messages of each person, shape (n,) or (n, width).
        levels: Each person's privacy level, shape (n,); None if levels are not sent.
        arrangement: The parts of a report that stay together.
        cohorts: Group within which each person is mixed, from 0, shape (n,); None if all
            people are mixed.
    """

    identity: Identity
    messages: NDArray[Any]
    levels: Floats | None
    arrangement: Arrangement = "rows"
    cohorts: Ints | None = None

    def __post_init__(self) -> None:
        _check_reports(self)

    @property
    def num_users(self) -> int:
        """How many people sent a report."""
        return len(self.messages)

    @property
    def linked(self) -> bool:
        """Whether a message keeps its level on the way to the analyst."""
        return _linked(self)


@dataclass(frozen=True, eq=False)
class ShuffledReports:
    """Shuffled reports, the view of the analyst.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> frequency, rng = sdp.Frequency(3), np.random.default_rng(1)
    >>> reports = frequency.randomize(np.array([0, 1, 2]), np.ones(3), rng=rng)
    >>> shuffled = sdp.shuffle(reports, rng=rng)
    >>> frequency.tally(shuffled).num_users
    3

    Attributes:
        identity: Of the protocol that made the reports.
        messages: Shape (n,) or (n, width), in random order. Only in the arrangement "rows"
            do the numbers of a row come from the same person.
        levels: Shape (n,), or None. If `linked`, entry i belongs to row i; otherwise
            levels are in a random order of their own.
        arrangement: The parts of a report that stayed together.
        cohorts: Group of every row, ascending, shape (n,); None if there are none.
        senders: How many people sent the messages, in the arrangements "loose" and
            "loose with dummies", where messages have the shape (messages,); None in all
            others.
    """

    identity: Identity
    messages: NDArray[Any]
    levels: Floats | None
    arrangement: Arrangement = "rows"
    cohorts: Ints | None = None
    senders: int | None = None

    def __post_init__(self) -> None:
        _check_reports(self)
        # Loose messages do not tell how many people sent them, and all others do.
        if (self.senders is None) == (self.arrangement in _LOOSE):
            raise InvalidInputError(
                "Expected the number of senders of loose messages, and of no others."
            )

    @property
    def num_users(self) -> int:
        """How many people sent a report."""
        return len(self.messages) if self.senders is None else self.senders

    @property
    def linked(self) -> bool:
        """Whether a message kept its level."""
        return _linked(self)


def _linked(reports: Reports | ShuffledReports) -> bool:
    # From the identity, so that no report can contradict its protocol.
    return bool(reports.identity.record["mode"] == "stratified")


def _check_reports(reports: Reports | ShuffledReports) -> None:
    if not isinstance(reports.identity, Identity):
        raise InvalidInputError("Expected the identity of the protocol that made them.")
    if reports.arrangement not in get_args(Arrangement):
        known_arrangements = ", ".join(map(repr, get_args(Arrangement)))
        raise InvalidInputError(
            f"Expected arrangement {known_arrangements}, got {reports.arrangement!r}."
        )
    _check_messages(reports.messages)
    num_users = len(reports.messages)
    if reports.levels is not None:
        _check_levels(reports.levels, num_users)
    elif _linked(reports):
        raise InvalidInputError("Expected levels where messages carry them.")
    if reports.cohorts is not None:
        _check_cohorts(reports.cohorts, num_users)


def _check_messages(messages: NDArray[Any]) -> None:
    if not isinstance(messages, np.ndarray) or messages.dtype.kind not in "biu":
        raise InvalidInputError("Expected messages as an array of integers or bits.")
    if messages.ndim not in (1, 2) or (messages.ndim == 2 and not messages.shape[1]):
        raise InvalidInputError("Expected one message, or row of messages, per person.")


def _check_cohorts(cohorts: Ints, num_users: int) -> None:
    if not isinstance(cohorts, np.ndarray) or cohorts.dtype.kind not in "iu":
        raise InvalidInputError("Expected cohorts as an array of integers.")
    if cohorts.shape != (num_users,):
        raise InvalidInputError("Expected as many cohorts as messages.")


def _check_levels(levels: Floats, num_users: int) -> None:
    if not isinstance(levels, np.ndarray) or levels.dtype != np.float64:
        raise InvalidInputError("Expected privacy levels as an array of floats.")
    if levels.shape != (num_users,):
        raise InvalidInputError(
            f"Expected as many messages as privacy levels, got {num_users} messages "
            f"and {levels.size} levels."
        )
