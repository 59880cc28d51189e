"""Opened messages, counted as they are opened; and the estimate from the counts.

Estimates depend on shuffled messages through their counts alone, so that the analyst keeps
counts, and the estimate is that of the protocol in one process, to the last digit.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.analyzer.frequency import FrequencyEstimate
from shuffledp.analyzer.items import ItemsEstimate
from shuffledp.analyzer.level_counts import LevelCounts
from shuffledp.analyzer.mean import MeanEstimate
from shuffledp.errors import InvalidInputError
from shuffledp.service.collection.certificate import population
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.service.wire.reports import read_messages
from shuffledp.service.wire.step import MESSAGE_SIZE, Stage, Step
from shuffledp.service.wire.task import Task
from shuffledp.shuffler.shuffle import ShuffledReports
from shuffledp.shuffler.shuffle_messages import ShuffledMessages
from shuffledp.statistics.items_framework import ItemsFramework
from shuffledp.statistics.sum.protocol import SumEstimate

Estimate: TypeAlias = FrequencyEstimate | MeanEstimate | SumEstimate | ItemsEstimate


@dataclass(eq=False)
class Tally:
    """Counts of messages.

    Attributes:
        step: What the messages are for.
        counts: Readable messages of each pile and number, shape (piles, numbers).
        spoiled: Of each pile, messages that cannot be read or mean nothing, dummies
            included, shape (piles,).
    """

    step: Step
    counts: NDArray[np.int64] = field(init=False)
    spoiled: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        shape = (self.step.groups, num_messages(self.step))
        self.counts = np.zeros(shape, dtype=np.int64)
        self.spoiled = np.zeros(shape[0], dtype=np.int64)

    def add(self, group: int, opened: list[bytes | None]) -> None:
        """Counts messages of one pile; None is one that could not be opened."""
        readable = [
            message
            for message in opened
            if message is not None and len(message) == MESSAGE_SIZE
        ]
        numbers, _, _ = read_messages(b"".join(readable))
        known = self.counts.shape[1]
        inside = numbers[(numbers >= 0) & (numbers < known)]
        self.counts[group] += np.bincount(inside, minlength=known)
        self.spoiled[group] += len(opened) - inside.size

    @property
    def spoiled_people(self) -> int:
        """How many people are missing: whoever sends dummies sends nothing else.

        Only somebody who does not follow the protocol spoils single messages of a report;
        such people are among those that a task assumes to be absent.
        """
        return -(-int(self.spoiled.sum()) // self.step.messages_per_report)


def num_messages(step: Step) -> int:
    """Returns how many different messages devices may send in a step."""
    question = step.task.question
    if step.stage is Stage.LEVELS:
        return len(step.task.levels)
    if question.statistic == "items":
        # One more for messages that fill up a report.
        return len(question.categories) + 1
    return len(question.categories) or 2


def level_counts(tally: Tally) -> LevelCounts:
    """Returns how many people reported each level."""
    framework = _framework(tally.step.task)
    return framework.count_levels(_messages(tally, int(tally.counts.sum())))


def estimate(
    tally: Tally,
    people: tuple[int, ...],
    *,
    plan: PublishedPlan | None = None,
    levels: LevelCounts | None = None,
) -> Estimate:
    """Estimates what the task asks for.

    People whose message is spoiled are left out: of their own level where that is known,
    otherwise of each level in proportion.

    Args:
        tally: All messages of a batch.
        people: Reports per level; in all, for items.
        plan: For items: what was published.
        levels: For items: what was learned about levels before.

    Raises:
        InvalidInputError: If nobody is left.
    """
    task = tally.step.task
    if task.has_items:
        if plan is None or levels is None:
            raise InvalidInputError("Expected the plan and the levels of the items.")
        return plan.protocol(task).estimate_counts(
            tally.counts[0, :-1], _scaled(levels, people[0] - tally.spoiled_people)
        )
    protocol = task.question.protocol(task.levels, task.delta, task.absent)
    if isinstance(protocol, ItemsFramework):
        raise InvalidInputError("Expected a question about one value.")
    linked = tally.step.linked
    left = np.array(people) - (
        tally.spoiled if linked else _in_proportion(people, tally.spoiled_people)
    )
    messages = [
        np.repeat(np.arange(row.size), row).astype(np.int64) for row in tally.counts
    ]
    shuffled = ShuffledReports(
        np.concatenate(messages).astype(np.uint16),
        np.repeat(np.array(task.levels), left),
        linked,
    )
    return protocol.estimate(shuffled, population(task, tuple(left.tolist())))


def _in_proportion(people: tuple[int, ...], spoiled: int) -> NDArray[np.int64]:
    """Splits a number of people over the levels, by largest remainders."""
    total = max(sum(people), 1)
    # Whole numbers all along: rounded ones may not add up at many people.
    divided = [divmod(count * spoiled, total) for count in people]
    parts = np.array([whole for whole, _ in divided], dtype=np.int64)
    order = sorted(range(len(people)), key=lambda place: -divided[place][1])
    parts[order[: spoiled - int(parts.sum())]] += 1
    return parts


def _scaled(levels: LevelCounts, num_users: int) -> LevelCounts:
    """Returns levels in the same proportion, of those who sent items."""
    if levels.num_users == num_users:
        return levels
    ratio = num_users / levels.num_users
    covariance = None if levels.covariance is None else levels.covariance * ratio**2
    return LevelCounts(levels.levels, levels.value * ratio, covariance, num_users)


def _messages(tally: Tally, num_users: int) -> ShuffledMessages:
    row = tally.counts[0]
    return ShuffledMessages(np.repeat(np.arange(row.size), row), num_users)


def _framework(task: Task) -> ItemsFramework:
    protocol = task.question.protocol(task.levels, task.delta, task.absent)
    if not isinstance(protocol, ItemsFramework):
        raise InvalidInputError("Expected a question about items.")
    return protocol
