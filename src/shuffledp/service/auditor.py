"""What an auditor notes before she sends canaries, and what she sees afterwards.

What is drawn and tested is in `audit.collection`; here it is read from a task, from
uploads and from what the services published, and checked against their signatures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.collection.canaries import Canaries
from shuffledp.audit.collection.evidence import EpochFindings
from shuffledp.audit.collection.examination import examine
from shuffledp.audit.collection.hashes import KIND, Hashes
from shuffledp.audit.collection.promises import Promises, promised_to
from shuffledp.audit.collection.seen import Batch, Columns, Seen, Support
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomness import Rng
from shuffledp.service.canaries import SealedUpload, check_audited
from shuffledp.service.given_batch import GivenBatch
from shuffledp.service.published import problems_in
from shuffledp.service.wire.canonical import from_text
from shuffledp.service.wire.inclusion import KeptReceipt, check_list, check_result
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import ID_SIZE, Task
from shuffledp.tally import Tally
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


def check_seen(result: Mapping[str, Any], task: Task) -> None:
    """Raises DataError unless a result is signed and follows from its own numbers."""
    if problems := problems_in(result, task):
        raise DataError(
            f"Expected a result that holds: {problems[0]}. See shuffledp verify --task."
        )


def read_list(content: bytes, result: Mapping[str, Any], task: Task) -> Hashes:
    """Reads the public list of the messages of a result, shape (n,).

    Raises:
        DataError: If it is not the one that the result names.
    """
    try:
        check_list(content, check_result(dict(result), task, result["epoch"]))
    except Refusal as refusal:
        raise DataError(str(refusal)) from None
    return np.frombuffer(content, KIND)


def seen_of(
    task: Task,
    result: Mapping[str, Any],
    *,
    included: Hashes | None,
    given: GivenBatch | None,
    earlier: Sequence[Canaries],
) -> Seen:
    """Returns what can be seen of an epoch.

    Args:
        task: From whoever asks the question.
        result: Which `check_seen` passed.
        included: From `read_list`; None if the list is not at hand.
        given: The batch, if the analyst handed it over.
        earlier: Canaries of epochs before, from `taken_in`.

    Raises:
        DataError: If the batch is not the one that the result names, or a record is of
            another task, or of no earlier epoch, or has canaries without a receipt.
    """
    if given is not None:
        _check_batch(given, result, included)
        included = given.hashes
    for record in earlier:
        if (record.task, record.epoch < result["epoch"]) != (task.fingerprint, True):
            raise DataError(
                f"Expected records of this task before epoch {result['epoch']}, got one "
                f"of epoch {record.epoch}."
            )
        # What no shuffler signed for that epoch may be of any, and accuses nobody.
        if not record.receipts.all():
            raise DataError("Expected receipts of all canaries of earlier epochs.")
    survey = task.question.survey
    center = {"number": _middle(survey), "yes or no": sum(result["people"]) / 2.0}
    rows = result["estimate"]["rows"]
    sung = [record.hashes.reshape(-1) for record in earlier]
    return Seen(
        task=task.fingerprint,
        epoch=result["epoch"],
        levels=np.array(task.choices),
        people=np.array(result["people"], np.int64),
        minimum=np.array(task.minimum[: len(task.counted)], np.int64),
        # Whose messages mean nothing adds no coin to the counts.
        absent=task.absent + result["spoiled"],
        hides_levels=not task.question.linked,
        sorted_by_hash=True,
        estimate=np.array([row["value"] for row in rows], np.float64),
        center=center.get(survey.form.kind, 0.0),
        support=_support(survey, task, result),
        included=included,
        batch=None if given is None else _batch(given),
        earlier=np.concatenate([np.zeros(0, KIND), *sung]),
    )


def promises_to(task: Task, people: Sequence[int], *, spoiled: int = 0) -> Promises:
    """Returns what is promised to everybody of an epoch: whole certified profiles.

    Args:
        task: Whose people choose levels.
        people: How many at each level.
        spoiled: How many people's reports meant nothing.
    """
    answering = Step(task, epoch=1).answering
    batch = answering.batch_people(people, None)
    absent = task.absent + spoiled + batch.missing
    return promised_to(answering.protocol, batch.people, absent=absent)


def _support(survey: Any, task: Task, result: Mapping[str, Any]) -> Support | None:
    if survey.form.kind != "one of":
        return None
    randomizer = survey.protocol.randomizer
    keep, flip = randomizer.densities(np.array(task.choices))
    counts = Tally.from_dict(result["tally"]).counts.sum(axis=(0, 1))
    single = isinstance(randomizer, KRandomizedResponse)
    columns = Columns.ONE if single else Columns.UNKNOWN
    return Support(counts.astype(np.float64), keep, flip, columns)


def _middle(survey: Any) -> float:
    if survey.form.kind != "number":
        return 0.0
    return float(survey.low / 2.0 + survey.high / 2.0)


def _batch(given: GivenBatch) -> Batch:
    size = given.header.sealed_size
    return Batch(given.hashes, given.piles, np.full(given.hashes.size, size))


def _check_batch(
    given: GivenBatch, result: Mapping[str, Any], included: Hashes | None
) -> None:
    try:
        named = from_text(result["batch"]["id"], ID_SIZE, "a batch id")
    except (Refusal, KeyError, TypeError):
        named = b""
    if (given.header.batch_id, given.header.epoch) != (named, result["epoch"]):
        raise DataError("Expected the batch that the result names.")
    if included is not None and not np.array_equal(np.sort(given.hashes), included):
        raise DataError(
            "Expected the messages of the batch in the list that the result names: what "
            "the shuffler signed is not what the analyst says she counted."
        )


def audited_epoch(
    task: Task,
    canaries: Canaries,
    result: Mapping[str, Any],
    *,
    listed: bytes | None,
    given: GivenBatch | None,
    earlier: Sequence[Canaries],
) -> EpochFindings:
    """Runs all tests of an epoch.

    Args:
        task: From whoever asks the question.
        canaries: That were sent in it, from `taken_in`.
        result: As it was published.
        listed: The public list of its messages; None if it is not at hand.
        given: The batch, if the analyst handed it over.
        earlier: Canaries of epochs before, from `taken_in`.

    Raises:
        DataError: If the result does not hold, or something is of another epoch or task,
            or the canaries' own messages are among the earlier ones.
    """
    check_seen(result, task)
    if (canaries.task, canaries.epoch) != (task.fingerprint, result["epoch"]):
        raise DataError(
            f"Expected a record of this task and of epoch {result['epoch']}, got one of "
            f"epoch {canaries.epoch} of {canaries.task}."
        )
    if any(np.isin(record.hashes, canaries.hashes).any() for record in earlier):
        raise DataError(
            f"Expected records of earlier epochs without messages of epoch "
            f"{canaries.epoch}: whoever sends one twice cannot find it replayed."
        )
    included = None if listed is None else read_list(listed, result, task)
    seen = seen_of(task, result, included=included, given=given, earlier=earlier)
    promises = promises_to(task, result["people"], spoiled=result["spoiled"])
    return examine(canaries, seen, promises=promises)
