"""What an auditor writes down of her canaries: before they are sent, and once they are in.

What is drawn is tested in `audit.collection`; here it becomes the record of a task's epoch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.collection.canaries import Canaries
from shuffledp.audit.collection.hashes import KIND
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.service.audit.canaries import SealedUpload, check_audited
from shuffledp.service.wire.inclusion import KeptReceipt
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import Task
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Drawn:
    """What canaries are to hold.

    Attributes:
        levels: Shape (m,).
        pairs: The two values that each could hold, shape (m, 2).
        bits: Which of them it holds, shape (m,).
    """

    levels: Floats
    pairs: Floats
    bits: Ints

    @property
    def values(self) -> NDArray[Any]:
        """What each holds, as protocols take it: whole numbers where all are."""
        held = self.pairs[np.arange(self.bits.size), self.bits]
        whole = held.astype(np.int64)
        return whole if (whole == held).all() else held


def draw_canaries(task: Task, count: int, *, rng: Rng) -> Drawn:
    """Draws levels uniformly, pairs of values, and a fair bit for each canary.

    Of categories a pair is two different ones, uniformly; of numbers it is the two ends.

    Args:
        task: Whose people choose levels.
        count: How many, m.
        rng: `SystemRandom()` in an audit, a seeded generator in simulations.

    Raises:
        InvalidInputError: If there are none, or people choose targets.
    """
    check_audited(task)
    if count < 1:
        raise InvalidInputError(f"Expected at least 1 canary, got {count}.")
    levels = np.array(task.choices)[rng.integers(0, len(task.choices), size=count)]
    first, second = _pairs(task, count, rng)
    pairs = np.stack([first, second], axis=1).astype(np.float64)
    return Drawn(levels, pairs, rng.integers(0, 2, size=count))


def _pairs(task: Task, count: int, rng: Rng) -> tuple[NDArray[Any], NDArray[Any]]:
    survey = task.question.survey
    if survey.form.kind == "one of":
        number = len(survey.form.options)
        first = rng.integers(0, number, size=count)
        other = rng.integers(0, number - 1, size=count)
        return first, other + (other >= first)
    low, high = (0.0, 1.0)
    if survey.form.kind == "number":
        terms: Any = survey
        low, high = terms.low, terms.high
    return np.full(count, low), np.full(count, high)


def record_of(step: Step, drawn: Drawn, uploads: Sequence[SealedUpload]) -> Canaries:
    """Returns the record that is written before anything is sent.

    Args:
        step: That the uploads are for.
        drawn: What was sealed, in this order.
        uploads: With all of it.
    """
    hashes = [list(upload.hashes) for upload in uploads]
    count = drawn.bits.size
    return Canaries(
        task=step.task.fingerprint,
        epoch=step.epoch,
        levels=drawn.levels,
        pairs=drawn.pairs,
        bits=drawn.bits,
        places=np.arange(count),
        uploads=np.arange(count),
        hashes=np.array(hashes, KIND),
        receipts=np.zeros(count, np.bool_),
    )


def taken_in(canaries: Canaries, lines: Sequence[bytes], task: Task) -> Canaries:
    """Returns the canaries that the shuffler signed that it keeps.

    Of the others nobody knows whether they were ever sent: an auditor whose own connection
    broke would accuse the shuffler. Which they are says nothing of the secret bits.

    Args:
        canaries: As they were recorded.
        lines: Of the file of receipts, as `keep_receipt` writes them.
        task: Whose shuffler signed.

    Raises:
        DataError: If one is not signed, or of other messages than the canaries', or there
            are none.
    """
    kept: list[bytes] = []
    for line in lines:
        try:
            read = KeptReceipt.read(line, task)
        except Refusal as refusal:
            raise DataError(f"Expected receipts of canaries: {refusal}") from None
        if read.receipt.epoch != canaries.epoch:
            raise DataError(f"Expected receipts of epoch {canaries.epoch}.")
        kept += read.messages
    signed: NDArray[np.bool_] = np.isin(canaries.hashes, np.array(kept, KIND))
    if signed.sum() != len(set(kept)):
        raise DataError("Expected receipts of these canaries, and of nothing else.")
    there = np.flatnonzero(signed.all(axis=1))
    if not there.size:
        raise DataError("Expected receipts: no canary of this record was taken in.")
    return Canaries(
        task=canaries.task,
        epoch=canaries.epoch,
        levels=canaries.levels[there],
        pairs=canaries.pairs[there],
        bits=canaries.bits[there],
        places=canaries.places[there],
        uploads=canaries.uploads[there],
        hashes=canaries.hashes[there],
        receipts=np.ones(there.size, np.bool_),
    )
