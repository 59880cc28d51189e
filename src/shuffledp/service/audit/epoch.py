"""What an auditor sees of an epoch: what was published, checked, and put to the tests.

The tests are in `audit.collection`; here what they need is read from a task and from what
the services published, and checked against their signatures.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shuffledp.audit.collection.canaries import Canaries
from shuffledp.audit.collection.evidence import EpochFindings
from shuffledp.audit.collection.examination import examine
from shuffledp.audit.collection.hashes import KIND, Hashes
from shuffledp.audit.collection.promises import Promises, promised_to
from shuffledp.audit.collection.seen import Batch, Columns, Seen, Support
from shuffledp.errors import DataError
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.service.audit.given_batch import GivenBatch
from shuffledp.service.audit.result_verification import problems_in
from shuffledp.service.wire.canonical import from_text
from shuffledp.service.wire.inclusion import check_list, check_result
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import ID_SIZE, Task
from shuffledp.tally import Tally


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
