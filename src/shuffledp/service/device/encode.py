"""What a device does: randomize an answer at the person's choice, and seal it.

The randomizer is the protocol's own; here its messages only get sealed. Choices never go
into a sealed message, other than the messages of the step that collects them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.service.wire.reports import Report, write_messages
from shuffledp.service.wire.sealing import Sealer
from shuffledp.service.wire.step import UNLINKED, Step
from shuffledp.service.wire.task import Task
from shuffledp.types import Floats


def seal_reports(
    step: Step,
    messages: NDArray[Any],
    choices: Floats,
    tokens: Sequence[bytes],
    *,
    dummy: bool = False,
) -> list[Report]:
    """Returns one report per person, ready to be uploaded.

    Args:
        step: What is answered.
        messages: From `step.run.randomize`.
        choices: People's choices, shape (n,).
        tokens: One for each person.
        dummy: Whether the analyst should drop the messages: the reports look the same.

    Raises:
        InvalidInputError: If shapes differ.
        UnknownLevelError: If a choice is none of the task's.
    """
    if messages.shape != (len(tokens), step.messages_per_report):
        raise InvalidInputError(
            "Expected one token and one row of messages per person."
        )
    places = choice_places(step.task, choices)
    if places.size != len(tokens):
        raise InvalidInputError("Expected one choice per person.")
    task = step.task
    sealers = [
        Sealer(task.suite, task.analyst_key, step.info(group))
        for group in range(step.groups)
    ]
    reports = []
    for token, place, row in zip(tokens, places.tolist(), messages, strict=True):
        sealer = sealers[place if step.linked else 0]
        sealed = sealer.seal(write_messages(row, dummy=dummy))
        named = place if task.names_choices else UNLINKED
        reports.append(Report(token, named, tuple(sealed)))
    return reports


def choice_places(task: Task, choices: Floats) -> NDArray[np.int64]:
    """Returns the position of each choice in the task, shape as `choices`.

    Raises:
        UnknownLevelError: If it has none.
    """
    known = np.array(task.choices)
    places = np.minimum(np.searchsorted(known, choices), known.size - 1)
    if not np.array_equal(known[places], choices):
        raise UnknownLevelError(
            f"Expected every {task.choice_word} to be one that the task offers."
        )
    return places.astype(np.int64)
