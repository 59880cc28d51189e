"""Records of an auditor's canaries: before they are sent, and once receipts are in.

`audit.collection` tests the draws; this module turns them into the record of an epoch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError, InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints
from shuffledp_services.audit.canary_uploads import SealedUpload, check_audited
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.message_hashes import KIND
from shuffledp_services.wire.inclusion import KeptReceipt
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task


@dataclass(frozen=True, eq=False)
class CanaryAssignment:
    """Levels, pairs of candidate values, and random bits of m canaries.

    Attributes:
        levels: Local epsilons, shape (m,).
        pairs: The two candidate values of each canary, shape (m, 2).
        bits: Index of the value in its pair that each canary holds, shape (m,).
    """

    levels: Floats
    pairs: Floats
    bits: Ints

    @property
    def values(self) -> NDArray[Any]:
        """Value of each canary, shape (m,): integers if all values are whole numbers."""
        values = self.pairs[np.arange(self.bits.size), self.bits]
        # Categories are indices, which the protocols take as integers.
        whole = values.astype(np.int64)
        return whole if (whole == values).all() else values


def draw_canaries(task: Task, count: int, *, rng: Rng) -> CanaryAssignment:
    """Draws a uniform level, a pair of values, and a fair bit for each canary.

    A pair is two distinct categories, drawn uniformly, or the two ends of a number's range.

    Args:
        task: Task whose participants choose levels.
        count: Number of canaries, m.
        rng: `SystemRandom()` in an audit, a seeded generator in simulations.

    Raises:
        InvalidInputError: If `count` is 0, or participants choose targets.
    """
    check_audited(task)
    if count < 1:
        raise InvalidInputError(f"Expected at least 1 canary, got {count}.")
    levels = np.array(task.choices)[rng.integers(0, len(task.choices), size=count)]
    first, second = _pairs(task, count, rng)
    pairs = np.stack([first, second], axis=1).astype(np.float64)
    # The bits come last and from nothing else, so that they are independent of the
    # pairs.
    return CanaryAssignment(levels, pairs, rng.integers(0, 2, size=count))


def _pairs(task: Task, count: int, rng: Rng) -> tuple[NDArray[Any], NDArray[Any]]:
    survey = task.question.survey
    if survey.form.kind == "one of":
        number = len(survey.form.options)
        first = rng.integers(0, number, size=count)
        # Skipping `first` among the remaining categories keeps the second one uniform.
        other = rng.integers(0, number - 1, size=count)
        return first, other + (other >= first)
    low, high = (0.0, 1.0)
    if survey.form.kind == "number":
        terms: Any = survey
        low, high = terms.low, terms.high
    # The ends differ most, so that a bit is easiest to guess between them.
    return np.full(count, low), np.full(count, high)


def canary_record(
    step: Step, assignment: CanaryAssignment, uploads: Sequence[SealedUpload]
) -> Canaries:
    """Returns the record that is written before any upload is sent.

    Args:
        step: Step that takes the uploads.
        assignment: Values that were sealed, in the order of `uploads`.
        uploads: One upload per canary.
    """
    hashes = [list(upload.hashes) for upload in uploads]
    count = assignment.bits.size
    return Canaries(
        task=step.task.fingerprint,
        epoch=step.epoch,
        levels=assignment.levels,
        pairs=assignment.pairs,
        bits=assignment.bits,
        send_positions=np.arange(count),
        uploads=np.arange(count),
        hashes=np.array(hashes, KIND),
        receipts=np.zeros(count, np.bool_),
    )


def with_receipts(canaries: Canaries, lines: Sequence[bytes], task: Task) -> Canaries:
    """Returns the canaries for which the shuffler signed a receipt.

    Args:
        canaries: Record written by `canary_record`.
        lines: Lines of the file of receipts, as `keep_receipt` writes them.
        task: Task whose shuffler signed the receipts.

    Raises:
        DataError: If a receipt is unsigned or names other messages than the canaries', or
            no canary has a receipt.
    """
    hashes: list[bytes] = []
    for line in lines:
        try:
            receipt = KeptReceipt.read(line, task)
        except Refusal as refusal:
            raise DataError(f"Expected receipts of canaries: {refusal}") from None
        if receipt.receipt.epoch != canaries.epoch:
            raise DataError(f"Expected receipts of epoch {canaries.epoch}.")
        hashes += receipt.messages
    signed: NDArray[np.bool_] = np.isin(canaries.hashes, np.array(hashes, KIND))
    if signed.sum() != len(set(hashes)):
        raise DataError("Expected receipts of these canaries, and of nothing else.")
    # Others may never have been sent: an auditor whose own connection broke would
    # accuse the shuffler. The selection is independent of the secret bits.
    indices = np.flatnonzero(signed.all(axis=1))
    if not indices.size:
        raise DataError("Expected receipts: no canary of this record was taken in.")
    return Canaries(
        task=canaries.task,
        epoch=canaries.epoch,
        levels=canaries.levels[indices],
        pairs=canaries.pairs[indices],
        bits=canaries.bits[indices],
        send_positions=canaries.send_positions[indices],
        uploads=canaries.uploads[indices],
        hashes=canaries.hashes[indices],
        receipts=np.ones(indices.size, np.bool_),
    )
