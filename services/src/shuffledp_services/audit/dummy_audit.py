"""Audit of a shuffler's dummies, after it opened the seed of an epoch to an auditor.

From the seed follow the dummies, byte by byte as they were sealed. The auditor finds them
in the published list of messages; the others are those of people, and the batch id must
follow from them. So the shuffler added all dummies, drew them from the secret to which the
task commits, and tried no ids. It may have left people out, or sent messages itself with
unused tokens, until it liked the noise: `device check` finds who is left out.

The seed tells the noise of the epoch and of all epochs before: it must never reach the
analyst, nor anybody who would pass it on.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.errors import DataError
from shuffledp.identity import Identity
from shuffledp.shuffler.dummy_seed import DummySeed
from shuffledp.statistics.survey import EpochStage
from shuffledp.tally import Tally
from shuffledp_services.shuffler.batch_dummies import (
    HASH_SUMS,
    BatchDummies,
    sum_hashes,
)
from shuffledp_services.storage.key_files import DummySecrets
from shuffledp_services.wire.canonical import from_text, to_text
from shuffledp_services.wire.inclusion import (
    HASH_SIZE,
    check_list,
    check_result,
    includes,
)
from shuffledp_services.wire.message_order import hash_messages
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.signed_plan import check_plan
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import ID_SIZE, KEY_SIZE, MAX_DUMMY_EPOCHS, Task

FORMAT = "shuffledp-opened-dummies-1"
_NAMES = frozenset({"format", "task", "epoch", "seed"})


@dataclass(frozen=True)
class DummyAudit:
    """Findings about the dummies of an epoch.

    Attributes:
        dummies: How many there have to be.
        problems: One sentence for each thing that is not as it should be.
    """

    dummies: int
    problems: tuple[str, ...]


def open_seed(
    task: Task, secrets: DummySecrets, result: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns what a shuffler gives an auditor: the seed of an epoch.

    Args:
        task: Of the collection.
        secrets: Of the shuffler.
        result: As the analyst published and signed it: the batch of its epoch is delivered,
            and its noise need hide nothing from an auditor. A seed of a later epoch would
            hide nothing of answers that are still to come.

    Raises:
        DataError: If it is no result of this task.
    """
    epoch = result.get("epoch")
    if type(epoch) is not int or not 1 <= epoch <= MAX_DUMMY_EPOCHS:
        raise DataError("Expected a published result, with the number of its epoch.")
    try:
        check_result(dict(result), task, epoch)
    except Refusal as error:
        raise DataError(f"Expected a published result of this task: {error}") from error
    seed = secrets.seed(epoch)
    names = {"format": FORMAT, "task": task.fingerprint, "epoch": epoch}
    return names | {"seed": to_text(seed.secret)}


def audit_dummies(
    opened: Mapping[str, Any], result: Mapping[str, Any], listed: bytes, task: Task
) -> DummyAudit:
    """Checks the dummies of a published result; `problems_in` checks the result itself.

    Args:
        opened: From `open_seed`.
        result: As the analyst published it.
        listed: The published list of messages.
        task: Obtained from the party that asks the question.

    Raises:
        DataError: If these are not an opened seed, a result and its list, of this task.
    """
    try:
        epoch, seed = _read_opened(opened, task)
        check_list(listed, check_result(dict(result), task, epoch))
        plan = Identity.from_record(result["certificate"]["protocol"])
        check_plan(plan, task.minimum[0], task)
        batch_id = from_text(result["batch"]["id"], ID_SIZE, "a batch id")
        people, tally = sum(result["people"]), Tally.from_dict(result["tally"])
    except (Refusal, KeyError, TypeError) as error:
        raise DataError(f"Expected a published result of this task: {error}") from error
    step = Step(task, epoch, EpochStage.ANSWER, plan)
    dummies = BatchDummies(step, DummySeed(seed))
    if not dummies.repeats:
        raise DataError(
            "Expected a task with suite x25519: messages of others cannot be sealed again."
        )
    drawn = dummies.messages(batch_id)
    sealed = b"".join(dummies.sealed(batch_id))
    hashes = hash_messages(sealed, step.sealed_size)
    content = hashes.tobytes()
    missing = sum(
        not includes(listed, content[start : start + HASH_SIZE])
        for start in range(0, len(content), HASH_SIZE)
    )
    problems = []
    if missing:
        problems.append(f"{missing:,} of {drawn.size:,} dummies are not in the batch")
    number = people * step.messages_per_report + drawn.size
    if len(listed) != number * HASH_SIZE:
        problems.append(
            f"the batch has {len(listed) // HASH_SIZE:,} messages, expected {number:,}"
        )
    whole = sum_hashes(np.frombuffer(listed, dtype=hashes.dtype))
    if dummies.id_of((whole - sum_hashes(hashes)) % HASH_SUMS) != batch_id:
        problems.append("the batch id does not follow from the messages of people")
    # What the analyst signed may still be no tally of this plan.
    counted = tally.counts[0, 0, :-1:2]
    if tally.identity != plan or drawn.max(initial=0) >= counted.size:
        problems.append("the tally is not one of the plan")
    elif np.any(counted < np.bincount(drawn, minlength=counted.size)):
        problems.append("the tally has fewer messages than dummies in some bucket")
    return DummyAudit(drawn.size, tuple(problems))


def _read_opened(opened: Mapping[str, Any], task: Task) -> tuple[int, bytes]:
    """Returns epoch and seed, which belong to the commitment of the task."""
    if set(opened) != _NAMES or opened["format"] != FORMAT:
        raise DataError(f"Expected an opened seed of format {FORMAT}.")
    epoch, commitment = opened["epoch"], task.dummy_commitment
    if commitment is None or opened["task"] != task.fingerprint:
        raise DataError("Expected an opened seed of this very task.")
    if type(epoch) is not int or not 1 <= epoch <= MAX_DUMMY_EPOCHS:
        raise DataError("Expected the number of an epoch.")
    seed = from_text(opened["seed"], KEY_SIZE, "a seed")
    link = seed
    for _ in range(epoch):
        link = hashlib.sha256(link).digest()
    if link != commitment:
        raise DataError("Expected the seed to which the task commits, got another.")
    return epoch, seed
