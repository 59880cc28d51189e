"""Audit of an epoch: published data, checked against signatures and put to the tests.

The tests are in `audit.collection`; this module reads their inputs from a task and from
the data that the services publish.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shuffledp.errors import DataError
from shuffledp.tally import Tally
from shuffledp_services.audit.disclosed_batch import DisclosedBatch
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.evidence.all_tests import run_all_tests
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.epoch_view import (
    EpochView,
    MessageBatch,
    SupportCounts,
    SupportDependence,
)
from shuffledp_services.evidence.evidence import EpochFindings
from shuffledp_services.evidence.message_hashes import KIND, Hashes
from shuffledp_services.evidence.privacy_profiles import (
    PrivacyProfiles,
    certified_profiles,
)
from shuffledp_services.wire.canonical import from_text, sha256, to_text
from shuffledp_services.wire.inclusion import check_list, check_result
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import ID_SIZE, Task


def check_published(result: Mapping[str, Any], task: Task) -> None:
    """Raises DataError unless a result is signed and follows from its own numbers."""
    if problems := problems_in(result, task):
        raise DataError(
            f"Expected a result that holds: {problems[0]}. See shuffledp verify --task."
        )


def read_message_list(content: bytes, result: Mapping[str, Any], task: Task) -> Hashes:
    """Reads the public list of the messages of a result, shape (n,).

    Raises:
        DataError: If it is not the one that the result names.
    """
    try:
        # The list is trusted only as far as its digest is in a signed result.
        check_list(content, check_result(dict(result), task, result["epoch"]))
    except Refusal as refusal:
        raise DataError(str(refusal)) from None
    return np.frombuffer(content, KIND)


def epoch_view(
    task: Task,
    result: Mapping[str, Any],
    *,
    included: Hashes | None,
    disclosed: DisclosedBatch | None,
    earlier: Sequence[Canaries],
) -> EpochView:
    """Returns the auditor's view of an epoch.

    Args:
        task: Obtained from the party that asks the question.
        result: Passed by `check_published`.
        included: From `read_message_list`; None if the list is not at hand.
        disclosed: The batch, if the analyst handed it over.
        earlier: Canaries of earlier epochs, from `with_receipts`.

    Raises:
        DataError: If the result names another batch.
    """
    if disclosed is not None:
        _check_batch(disclosed, result, included)
        # The order of the batch is tested, too, and the published list is sorted.
        included = disclosed.hashes
    survey = task.question.survey
    center = {"number": _middle(survey), "yes or no": sum(result["people"]) / 2.0}
    rows = result["estimate"]["rows"]
    earlier_hashes = [record.hashes.reshape(-1) for record in earlier]
    return EpochView(
        task=task.fingerprint,
        epoch=result["epoch"],
        levels=np.array(task.choices),
        people=np.array(result["people"], np.int64),
        minimum=np.array(task.minimum[: len(task.counted)], np.int64),
        # Participants whose reports are invalid add no random bit to the counts.
        absent=task.absent + result["spoiled"],
        hides_levels=not task.question.linked,
        # As `wire.message_order` demands of every batch.
        sorted_by_hash=True,
        estimate=np.array([row["value"] for row in rows], np.float64),
        center=center.get(survey.form.kind, 0.0),
        support=_support(survey, task, result),
        included=included,
        batch=None if disclosed is None else _batch(disclosed),
        earlier=np.concatenate([np.zeros(0, KIND), *earlier_hashes]),
    )


def promised_profiles(
    task: Task, people: Sequence[int], *, spoiled: int = 0
) -> PrivacyProfiles:
    """Returns the certified privacy profiles promised to the participants of an epoch.

    Args:
        task: Task whose participants choose levels.
        people: Number of participants at each level.
        spoiled: Number of participants whose reports were invalid.
    """
    answer_run = Step(task, epoch=1).answer_run
    batch = answer_run.batch_people(people, None)
    # Users without a valid report hide no other.
    absent = task.absent + spoiled + batch.missing
    return certified_profiles(answer_run.protocol, batch.people, absent=absent)


def _support(
    survey: Any, task: Task, result: Mapping[str, Any]
) -> SupportCounts | None:
    if survey.form.kind != "one of":
        return None
    randomizer = survey.protocol.randomizer
    keep, flip = randomizer.densities(np.array(task.choices))
    counts = Tally.from_dict(result["tally"]).counts.sum(axis=(0, 1))
    # A message of some randomizers supports exactly one category.
    single = getattr(randomizer, "supported", None) == 1
    columns = SupportDependence.ONE if single else SupportDependence.UNKNOWN
    return SupportCounts(counts.astype(np.float64), keep, flip, columns)


def _middle(survey: Any) -> float:
    if survey.form.kind != "number":
        return 0.0
    # Halved before the sum, which could overflow otherwise.
    return float(survey.low / 2.0 + survey.high / 2.0)


def _batch(disclosed: DisclosedBatch) -> MessageBatch:
    size = disclosed.header.sealed_size
    return MessageBatch(
        disclosed.hashes, disclosed.piles, np.full(disclosed.hashes.size, size)
    )


def _check_batch(
    disclosed: DisclosedBatch, result: Mapping[str, Any], included: Hashes | None
) -> None:
    try:
        named = from_text(result["batch"]["id"], ID_SIZE, "a batch id")
    except (Refusal, KeyError, TypeError):
        # Equals no batch ID, so that the comparison below refuses it.
        named = b""
    if (disclosed.header.batch_id, disclosed.header.epoch) != (named, result["epoch"]):
        raise DataError("Expected the batch that the result names.")
    if included is not None and not np.array_equal(np.sort(disclosed.hashes), included):
        raise DataError(
            "Expected the messages of the batch in the list that the result names: what "
            "the shuffler signed is not what the analyst says was counted."
        )


def audit_epoch(
    task: Task,
    canaries: Canaries,
    result: Mapping[str, Any],
    *,
    listed: bytes | None,
    disclosed: DisclosedBatch | None,
    earlier: Sequence[Canaries],
) -> EpochFindings:
    """Runs all tests of an epoch.

    Args:
        task: Obtained from the party that asks the question.
        canaries: Canaries sent in this epoch, from `with_receipts`.
        result: As it was published.
        listed: The public list of the result's messages; None if it is not at hand.
        disclosed: The batch, if the analyst handed it over.
        earlier: Canaries of earlier epochs, from `with_receipts`.

    Raises:
        DataError: If the result does not verify, an input belongs to another epoch or
            task, or the canaries' own messages are among the earlier ones.
    """
    # Before the certificate is recomputed, which takes seconds.
    _check_inputs(task, canaries, result, listed, earlier)
    # Tests assume a result that follows from its own numbers.
    check_published(result, task)
    included = None if listed is None else read_message_list(listed, result, task)
    view = epoch_view(
        task, result, included=included, disclosed=disclosed, earlier=earlier
    )
    promises = promised_profiles(task, result["people"], spoiled=result["spoiled"])
    return run_all_tests(canaries, view, promises=promises)


def _check_inputs(
    task: Task,
    canaries: Canaries,
    result: Mapping[str, Any],
    listed: bytes | None,
    earlier: Sequence[Canaries],
) -> None:
    """Refuses records and lists that are not about the epoch that a result names."""
    epoch, batch = result.get("epoch"), result.get("batch")
    # A result of another form is refused by `check_published`, with the reason.
    if type(epoch) is not int or not isinstance(batch, dict):
        return
    if (canaries.task, canaries.epoch) != (task.fingerprint, epoch):
        raise DataError(
            f"Expected a record of this task and of epoch {epoch}, got one of epoch "
            f"{canaries.epoch} of {canaries.task}."
        )
    if any(np.isin(record.hashes, canaries.hashes).any() for record in earlier):
        raise DataError(
            f"Expected records of earlier epochs without messages of epoch {epoch}: "
            "whoever sends one twice cannot find it replayed."
        )
    for record in earlier:
        if (record.task, record.epoch < epoch) != (task.fingerprint, True):
            raise DataError(
                f"Expected records of this task before epoch {epoch}, got one of epoch "
                f"{record.epoch}."
            )
        # Without the shuffler's receipt a message may be of any epoch, and proves nothing.
        if not record.receipts.all():
            raise DataError("Expected receipts of all canaries of earlier epochs.")
    if listed is not None and batch.get("messages") != to_text(sha256(listed)):
        raise DataError("Expected the list of messages that the result names.")
