"""What a device does: randomize an answer at the person's level, and seal it.

The randomizer is the protocol's own; here its messages only get sealed. Levels never go
into a sealed message, other than the messages of the step that collects them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.randomness import Rng
from shuffledp.service.wire.plan import PublishedPlan
from shuffledp.service.wire.reports import Report, write_messages
from shuffledp.service.wire.sealing import Sealer
from shuffledp.service.wire.step import UNLINKED, Stage, Step
from shuffledp.service.wire.task import Task
from shuffledp.statistics.items_framework import ItemsFramework
from shuffledp.types import Floats


def randomized(
    step: Step,
    values: ArrayLike,
    levels: Floats,
    *,
    plan: PublishedPlan | None = None,
    rng: Rng,
) -> NDArray[np.int64]:
    """Returns the messages of every person, shape (n, messages_per_report).

    Args:
        step: What is answered.
        values: What people hold: shape (n,); (n, set_size) for items. Ignored in the
            step that collects levels.
        levels: Their levels, shape (n,).
        plan: For items: what was published.
        rng: `SystemRandom()` on real devices, a seeded generator in simulations.
    """
    task = step.task
    protocol = task.question.protocol(task.levels, task.delta, task.absent)
    if isinstance(protocol, ItemsFramework):
        if step.stage is Stage.LEVELS:
            return protocol.report_levels(levels, rng=rng).messages.astype(np.int64)
        if plan is None or plan.digest != step.plan_digest:
            raise InvalidInputError("Expected the plan that this step follows.")
        sets = np.asarray(values)
        reports = plan.protocol(task).randomize(sets, levels, rng=rng)
        return reports.messages.astype(np.int64)
    numbers = protocol.randomize(values, levels, rng=rng).messages
    return numbers.astype(np.int64)[:, None]


def seal_reports(
    step: Step,
    messages: NDArray[np.int64],
    levels: Floats,
    tokens: Sequence[bytes],
    *,
    dummy: bool = False,
) -> list[Report]:
    """Returns one report per person, ready to be uploaded.

    Args:
        step: What is answered.
        messages: From `randomized`.
        levels: People's levels, shape (n,).
        tokens: One for each person.
        dummy: Whether the analyst should drop the messages: the reports look the same.

    Raises:
        InvalidInputError: If shapes differ.
        UnknownLevelError: If a level is none of the task's.
    """
    if messages.shape != (len(tokens), step.messages_per_report):
        raise InvalidInputError(
            "Expected one token and one row of messages per person."
        )
    places = level_places(step.task, levels)
    if places.size != len(tokens):
        raise InvalidInputError("Expected one level per person.")
    task = step.task
    sealers = [
        Sealer(task.suite, task.analyst_key, step.info(group))
        for group in range(step.groups)
    ]
    reports = []
    for token, place, row in zip(tokens, places.tolist(), messages, strict=True):
        sealer = sealers[place if step.linked else 0]
        sealed = sealer.seal(write_messages(row, dummy=dummy))
        named = place if step.names_levels else UNLINKED
        reports.append(Report(token, named, tuple(sealed)))
    return reports


def level_places(task: Task, levels: Floats) -> NDArray[np.int64]:
    """Returns the position of each level in the task, shape as `levels`.

    Raises:
        UnknownLevelError: If it has none.
    """
    known = np.array(task.levels)
    places = np.minimum(np.searchsorted(known, levels), known.size - 1)
    if not np.array_equal(known[places], levels):
        raise UnknownLevelError("Expected every level to be one that the task offers.")
    return places.astype(np.int64)
