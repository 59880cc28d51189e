"""Incremental tally of a batch's opened messages.

The tally is the protocol's own, so that estimates equal those of the protocol in one
process to the last digit.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.tally import Tally
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import read_messages


@dataclass(eq=False)
class MessageCounter:
    """Counts the messages of a batch.

    Attributes:
        step: The step of the batch.
        tally: Of the valid messages; None before the first.
        spoiled: Per level group, the number of unreadable or invalid messages and of
            dummies, shape (groups,).
    """

    step: Step
    tally: Tally | None = None
    spoiled: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.spoiled = np.zeros(self.step.groups, dtype=np.int64)

    def add(self, group: int, opened: list[bytes | None]) -> None:
        """Counts messages of one level group; None is one that could not be opened."""
        code, size = self.step.run.code, self.step.message_size
        readable = [
            message
            for message in opened
            if message is not None and len(message) == size
        ]
        messages, _, _ = read_messages(b"".join(readable), code.entry)
        # Values that no device can send are spoiled, like unreadable messages.
        known = messages[code.known(messages)]
        self.spoiled[group] += len(opened) - known.size
        if known.size:
            choice = self.step.task.choices[group] if self.step.linked else None
            part = self.step.run.tally(known, choice)
            self.tally = part if self.tally is None else self.tally + part

    def merge(self, other: "MessageCounter") -> None:
        """Adds the counts of other messages of the same step."""
        self.spoiled += other.spoiled
        if other.tally is not None:
            tally = other.tally
            self.tally = tally if self.tally is None else self.tally + tally

    @property
    def spoiled_people(self) -> int:
        """The number of users who sent no valid report, rounded up."""
        # A dummy report has only dummies. Only users who deviate from the protocol spoil
        # single messages, and the task counts these users as absent already.
        return -(-int(self.spoiled.sum()) // self.step.messages_per_report)

    def of(self, people: tuple[int, ...]) -> Tally:
        """Returns the tally of the whole batch, with the users whose messages count.

        Args:
            people: Reports per choice; one total if choices are not named.

        Raises:
            InvalidInputError: If there is no valid message.
        """
        # Users with spoiled messages are subtracted from their own level where it is known,
        # otherwise from each level in proportion.
        valid = np.array(people, dtype=np.int64)
        if self.step.linked:
            valid -= self.spoiled
        else:
            valid -= split_proportionally(people, self.spoiled_people)
        if self.tally is None or not valid.any():
            raise InvalidInputError("Expected at least one message that can be read.")
        if not self.step.task.choices_are_levels:
            tally, dummies = self.tally, self.step.dummies
            if dummies is not None:
                tally = dummies.of_batch(tally)
            return replace(tally, people=valid[None, :])
        chosen = valid > 0
        levels = np.array(self.step.task.choices)[chosen]
        return replace(self.tally, levels=levels, people=valid[None, chosen])


def split_proportionally(people: tuple[int, ...], spoiled: int) -> NDArray[np.int64]:
    """Splits a number of users over the levels, by largest remainders.

    Args:
        people: Users at each level.
        spoiled: The number to split.
    """
    total = max(sum(people), 1)
    # Integers throughout: floats may not add up for many users.
    divided = [divmod(count * spoiled, total) for count in people]
    parts = np.array([whole for whole, _ in divided], dtype=np.int64)
    order = sorted(range(len(people)), key=lambda level: -divided[level][1])
    parts[order[: spoiled - int(parts.sum())]] += 1
    return parts
