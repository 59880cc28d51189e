"""Opened messages of a batch, counted as they are opened, by what runs in their step.

Counts are the protocol's own tally: what is estimated from them is what the protocol
estimates in one process, to the last digit.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.service.wire.reports import read_messages
from shuffledp.service.wire.step import Step
from shuffledp.tally import Tally


@dataclass(eq=False)
class MessageCounter:
    """Messages of a batch so far.

    Attributes:
        step: What they are for.
        tally: Of those that mean something; None before the first.
        spoiled: Of each pile, messages that cannot be read or mean nothing, dummies
            included, shape (piles,).
    """

    step: Step
    tally: Tally | None = None
    spoiled: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.spoiled = np.zeros(self.step.groups, dtype=np.int64)

    def add(self, group: int, opened: list[bytes | None]) -> None:
        """Counts messages of one pile; None is one that could not be opened."""
        code, size = self.step.run.code, self.step.message_size
        readable = [
            message
            for message in opened
            if message is not None and len(message) == size
        ]
        messages, _, _ = read_messages(b"".join(readable), code.entry)
        known = messages[code.known(messages)]
        self.spoiled[group] += len(opened) - known.size
        if known.size:
            choice = self.step.task.choices[group] if self.step.linked else None
            part = self.step.run.tally(known, choice)
            self.tally = part if self.tally is None else self.tally + part

    def merge(self, other: "MessageCounter") -> None:
        """Counts what another one counted, of other messages of the same step."""
        self.spoiled += other.spoiled
        if other.tally is not None:
            tally = other.tally
            self.tally = tally if self.tally is None else self.tally + tally

    @property
    def spoiled_people(self) -> int:
        """How many people are missing: whoever sends dummies sends nothing else.

        Only somebody who does not follow the protocol spoils single messages of a report;
        such people are among those that a task assumes to be absent.
        """
        return -(-int(self.spoiled.sum()) // self.step.messages_per_report)

    def of(self, people: tuple[int, ...]) -> Tally:
        """Returns the tally of the whole batch, with the people whose messages count.

        People whose message is spoiled are left out: of their own level where that is
        known, otherwise of each level in proportion.

        Args:
            people: Reports with each choice; in all, if choices are not named.

        Raises:
            InvalidInputError: If nobody is left.
        """
        left = np.array(people, dtype=np.int64)
        if self.step.linked:
            left -= self.spoiled
        else:
            left -= split_proportionally(people, self.spoiled_people)
        if self.tally is None or not left.any():
            raise InvalidInputError("Expected at least one message that can be read.")
        if not self.step.task.names_choices:
            return replace(self.tally, people=left[None, :])
        chosen = left > 0
        levels = np.array(self.step.task.choices)[chosen]
        return replace(self.tally, levels=levels, people=left[None, chosen])


def split_proportionally(people: tuple[int, ...], spoiled: int) -> NDArray[np.int64]:
    """Splits a number of people over the levels, by largest remainders.

    Args:
        people: At each level.
        spoiled: How many of them are split.
    """
    total = max(sum(people), 1)
    # Whole numbers all along: rounded ones may not add up at many people.
    divided = [divmod(count * spoiled, total) for count in people]
    parts = np.array([whole for whole, _ in divided], dtype=np.int64)
    order = sorted(range(len(people)), key=lambda place: -divided[place][1])
    parts[order[: spoiled - int(parts.sum())]] += 1
    return parts
