"""Encoder of a device: seals the randomized messages of an answer.

The protocol's own randomizer draws the messages at the participant's choice; this module
only seals them. A sealed message never contains a choice, except in the step that collects
choices.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import first_other
from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.types import Floats
from shuffledp_services.wire.sealing import Sealer
from shuffledp_services.wire.step import UNLINKED, Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import Report, write_messages


def seal_reports(
    step: Step,
    messages: NDArray[Any],
    choices: Floats,
    tokens: Sequence[bytes],
    *,
    dummy: bool = False,
) -> list[Report]:
    """Returns one sealed report per participant, ready to be uploaded.

    Args:
        step: Step of the reports.
        messages: From `step.run.randomize`.
        choices: Choices of the participants, shape (n,).
        tokens: One token per participant.
        dummy: Whether to mark the messages as dummies, inside the seal: only the analyst
            can recognize and drop them.

    Raises:
        InvalidInputError: If shapes differ.
        UnknownLevelError: If the task does not offer a choice.
    """
    if messages.shape != (len(tokens), step.messages_per_report):
        raise InvalidInputError(
            "Expected one token and one row of messages per person."
        )
    indices = choice_indices(step.task, choices)
    if indices.size != len(tokens):
        raise InvalidInputError("Expected one choice per person.")
    task = step.task
    sealers = [
        Sealer(task.suite, task.analyst_key, step.info(group))
        for group in range(step.groups)
    ]
    reports = []
    for token, index, row in zip(tokens, indices.tolist(), messages, strict=True):
        # Linked messages are sealed for their own level group, all others for one.
        sealer = sealers[index if step.linked else 0]
        sealed = sealer.seal(write_messages(row, dummy=dummy))
        # The shuffler learns levels, but no targets.
        named_choice = index if task.choices_are_levels else UNLINKED
        reports.append(Report(token, named_choice, tuple(sealed)))
    return reports


def choice_indices(task: Task, choices: Floats) -> NDArray[np.int64]:
    """Returns the index of each choice in the task's choices, shape as `choices`.

    Raises:
        UnknownLevelError: If the task does not offer a choice.
    """
    known = np.array(task.choices)
    indices = np.minimum(np.searchsorted(known, choices), known.size - 1)
    # Also refuses a choice above all others, which has the last index.
    offered = known[indices] == choices
    if not offered.all():
        raise UnknownLevelError(
            f"Expected every {task.choice_word} to be one that the task offers"
            f"{first_other(offered)}."
        )
    return indices.astype(np.int64)
