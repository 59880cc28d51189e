"""A whole collection of twelve people as test vectors: from reports to the result.

The messages are stated, not drawn: what devices draw is no matter of bytes. One of the
twelve sends a dummy.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np

from known_sealing import seal_with
from shuffledp_services.analyst.results import result_of
from shuffledp_services.collection.analyst_state import AnalystState
from shuffledp_services.collection.batch_verdict import assess_batch
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.evidence import (
    AuditFinding,
    EpochFindings,
    EpochTest,
    Evidence,
)
from shuffledp_services.evidence.message_hashes import KIND
from shuffledp_services.wire.batch import BatchHeader, Shard, write_manifest
from shuffledp_services.wire.canonical import canonical, sha256, to_text
from shuffledp_services.wire.inclusion import RESULT, keep_receipt
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.roster import read_roster, write_roster
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import write_messages
from vector_parties import ANALYST, ANALYST_PRIVATE, EPOCH, SHUFFLER, color_task
from vector_parties import ENROLLER as ENROLLER_KEY

_PEOPLE = (4, 4, 4)
_ENTRIES = (0, 0, 1, 2, 0, 1, 1, 0, 2, 0, 1)


def small_task() -> Task:
    """Returns a task for four people per level, whose promises are the levels."""
    return color_task(
        task_id=bytes(range(16, 32)), minimum=(4, 4, 4), promise=(0.5, 1.0, 2.0)
    )


def small_collection() -> dict[str, Any]:
    """Returns the vectors of result.json."""
    task = small_task()
    step = Step(task, EPOCH)
    plain = [
        *write_messages(np.array(_ENTRIES)),
        *write_messages(np.array([0]), dummy=True),
    ]
    sealed = [
        seal_with(
            sha256(b"test ephemeral key %d" % index),
            task.analyst_key,
            step.info(),
            each,
        )
        for index, each in enumerate(plain)
    ]
    tokens = [sha256(b"test token %d" % index) for index in range(len(sealed))]
    roster = write_roster(task, EPOCH, tokens, ENROLLER_KEY)
    batch = sorted(sealed, key=sha256)
    header = BatchHeader(
        task=task.digest,
        epoch=EPOCH,
        after=0,
        stage=step.stage,
        batch_id=sha256(b"test batch")[:16],
        people=_PEOPLE,
        sealed_size=step.sealed_size,
        bits=0,
        shards=(Shard(0, 0, len(batch), sha256(b"".join(batch))),),
        enrolment=read_roster(roster, task).enrolment,
    )
    listed = b"".join(map(sha256, batch))
    result = _result(step, header, batch, listed)
    return {
        "task": task.to_json().decode(),
        "tokens": [to_text(token) for token in tokens],
        "roster": to_text(roster),
        "plain": [to_text(each) for each in plain],
        "sealed": [to_text(each) for each in sealed],
        "manifest": to_text(write_manifest(header, SHUFFLER)),
        "shards": [to_text(b"".join(batch))],
        "result": canonical(result).decode(),
        "messages": to_text(listed),
        "kept_receipt": _kept_receipt(step, sealed[0]).decode(),
        "successor": _successor(task).to_json().decode(),
        "canaries": _canaries(step, sealed[:2]).to_json(),
        "evidence": _evidence(task).to_json(),
    }


def _result(
    step: Step, header: BatchHeader, batch: list[bytes], listed: bytes
) -> dict[str, Any]:
    task = step.task
    opener = Opener(task.suite, ANALYST_PRIVATE, step.info())
    counter = MessageCounter(step)
    counter.add(0, [opener.open(each) for each in batch])
    state = replace(AnalystState.begin(task), epoch=EPOCH).receive(header)
    spoiled = counter.spoiled_people
    verdict = assess_batch(
        step, _PEOPLE, spoiled=spoiled, spent_before=(0.0,) * len(task.choices)
    )
    assert verdict.certificate is not None
    assert verdict.spent is not None
    tally = counter.of(_PEOPLE)
    document = result_of(
        state,
        _PEOPLE,
        tally,
        step.answer_run.estimate(tally, None),
        # The version changes with every release, and is not judged by readers.
        replace(verdict.certificate, version="test"),
        spoiled=spoiled,
        spent=verdict.spent,
        listed=sha256(listed),
    )
    return signed(RESULT, document, ANALYST)


def _kept_receipt(step: Step, sealed: bytes) -> bytes:
    hashes = [sha256(sealed)]
    receipt = Receipt(
        step.task.digest,
        step.epoch,
        int(step.stage),
        messages_digest(hashes),
        accepted=1,
        refused=(),
    )
    return keep_receipt(step.task, hashes, json.loads(receipt.signed(SHUFFLER)))


def _successor(task: Task) -> Task:
    return color_task(
        task_id=task.task_id,
        minimum=task.minimum,
        promise=task.promise,
        succeeds=task.digest,
        shuffler_key=sha256(b"test second key of the shuffler"),
    )


def _canaries(step: Step, sealed: list[bytes]) -> Canaries:
    return Canaries(
        task=step.task.fingerprint,
        epoch=step.epoch,
        levels=np.array([0.5, 2.0]),
        pairs=np.array([[0.0, 1.0], [2.0, 0.0]]),
        bits=np.array([0, 1]),
        send_positions=np.arange(2),
        uploads=np.arange(2),
        hashes=np.array([[sha256(each)] for each in sealed], KIND),
        receipts=np.ones(2, np.bool_),
    )


def _evidence(task: Task) -> Evidence:
    findings = {
        EpochTest.GUESSES: AuditFinding.of_p_value(
            EpochTest.GUESSES, 1.0, sentence="One of two canaries was guessed."
        ),
        EpochTest.PRECISION: AuditFinding.not_tested(
            EpochTest.PRECISION, sentence="Not tested: too few people."
        ),
    }
    every = tuple(
        findings.get(test)
        or AuditFinding.of_rule_check(test, False, sentence="The rule was kept.")
        for test in EpochTest
    )
    return Evidence(task.fingerprint).with_epoch(EpochFindings(EPOCH, every))
