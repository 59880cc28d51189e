"""Bytes between the parties: as the vectors say, and nothing else is read."""

import base64
import hashlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from service_parties import parties, plan_for
from whole_batches import read_whole, split, write_whole

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.wire.batch import read_manifest
from shuffledp_services.wire.canonical import canonical, from_text, read_object
from shuffledp_services.wire.message_order import ShardCheck
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.roster import Enrolment, read_roster, write_roster
from shuffledp_services.wire.sealing import Opener, Suite
from shuffledp_services.wire.signed_plan import (
    Acknowledgement,
    PublishedPlan,
    read_plan,
)
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import UNLINKED, Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.task_reading import read_task
from shuffledp_services.wire.tokens import TokenDigests
from shuffledp_services.wire.upload_format import (
    MAX_BODY,
    Report,
    choices_offered,
    max_reports,
    read_header,
    read_messages,
    read_reports,
    report_size,
    write_header,
    write_messages,
    write_reports,
)

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "spec" / "vectors" / "wire.json").read_text("utf-8")
)
MADE = parties("frequency")
ITEMS = parties("items")
TASK, STEP = MADE.task, Step(MADE.task, 3)
SIGNING_KEY = MADE.shuffler.signing_key
ENROLMENT = MADE.enroller.enrolment(3)


def raw(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def vector_task() -> Task:
    return read_task(VECTORS["task"]["text"])


def upload(number: int = 3) -> bytes:
    size = STEP.sealed_size
    reports = [Report(bytes([n]) * 32, 1, (bytes([n]) * size,)) for n in range(number)]
    return write_reports(STEP, reports)


def batch(people: tuple[int, ...] = (1, 2, 0), bits: int = 1) -> bytes:
    pile = [bytes([n]) * STEP.sealed_size for n in range(sum(people))]
    pile.sort(key=lambda message: hashlib.sha256(message).digest())
    return write_whole(
        STEP,
        bytes(16),
        people,
        pile,
        SIGNING_KEY,
        enrolment=ENROLMENT,
        after=1,
        bits=bits,
    )


def handed_over(manifest: bytes, shards: list[bytes]) -> None:
    """As the analyst reads a batch, to its last shard."""
    header = read_manifest(manifest, TASK)
    for shard, part in zip(header.shards, shards, strict=True):
        check = ShardCheck(shard, bits=header.bits, size=header.sealed_size)
        check.add(part)
        check.finish()


def test_vector_task_has_the_text_and_digest_that_are_stated() -> None:
    task = vector_task()

    text = VECTORS["task"]["text"].encode()
    assert task.to_json() == text
    assert task.digest == raw(VECTORS["task"]["digest"])
    assert task.fingerprint == VECTORS["task"]["fingerprint"] == task.digest.hex()
    assert task.digest == hashlib.sha256(text).digest()


def test_vector_info_is_made_of_its_parts() -> None:
    parts = VECTORS["step"]["info"]

    info = Step(vector_task(), VECTORS["step"]["epoch"]).info()

    assert info == raw(parts["whole"])
    assert info == b"".join(
        (
            parts["domain"].encode(),
            raw(parts["task_digest"]),
            bytes.fromhex(parts["epoch"] + parts["stage"] + parts["choice"]),
            raw(parts["plan_digest"]),
        )
    )


def test_vector_digest_of_a_token_is_cut_from_the_hash_of_its_parts() -> None:
    task, token = vector_task(), raw(VECTORS["token"]["whole"])
    epoch = VECTORS["token"]["epoch"]

    text = b"shuffledp token 2" + task.digest + epoch.to_bytes(4, "big") + token
    assert TokenDigests(task.digest, epoch).of(token) == raw(VECTORS["token"]["digest"])
    assert raw(VECTORS["token"]["digest"]) == hashlib.sha256(text).digest()[:16]


def test_vector_roster_is_read_and_written_as_stated() -> None:
    task, stated = vector_task(), VECTORS["roster"]
    tokens = [raw(token) for token in stated["tokens"]]
    key = raw(VECTORS["keys"]["enroller_signing_key"])

    roster = read_roster(raw(stated["whole"]), task)

    assert roster.enrolment.to_dict() == stated["header"]
    assert all(roster.valid(token) for token in tokens)
    assert write_roster(task, 7, tokens, key) == raw(stated["whole"])


def test_vector_message_opens_and_says_what_is_stated() -> None:
    stated, info = VECTORS["message"], raw(VECTORS["step"]["info"]["whole"])
    opener = Opener(Suite.X25519, raw(VECTORS["keys"]["analyst_private_key"]), info)

    plain = opener.open(raw(stated["sealed"]))

    assert plain == raw(stated["plain"])
    assert plain == struct.pack(">Bq", stated["kind"], stated["number"])
    assert write_messages(np.array([stated["number"]])) == [plain]


def test_vector_upload_is_read_and_written_as_stated() -> None:
    stated, step = VECTORS["upload"], Step(vector_task(), 7)
    body = raw(stated["whole"])

    header, reports = read_header(body), read_reports(step, body)

    assert write_header(step) == raw(stated["header"]["whole"])
    assert (header.epoch, int(header.stage)) == (7, stated["header"]["stage"])
    assert header.task_id == raw(stated["header"]["task_id"])
    assert [report.choice for report in reports] == [stated["choice"]]
    assert reports[0].token == raw(VECTORS["token"]["whole"])
    assert reports[0].sealed == (raw(VECTORS["message"]["sealed"]),)
    assert write_reports(step, reports) == body


def test_vector_receipt_batch_and_acknowledgement_are_signed_as_stated() -> None:
    task, key = vector_task(), raw(VECTORS["keys"]["shuffler_signing_key"])
    content = raw(VECTORS["batch"]["whole"])

    receipt = Receipt.read(VECTORS["receipt"], task.shuffler_signing_key)
    header, [messages] = read_whole(content, task)
    known = parties("items", choices=task.choices).task
    plan = read_plan(VECTORS["plan"]["value"], known)
    analyst = raw(VECTORS["keys"]["analyst_signing_key"])
    counts = tuple(VECTORS["acknowledgement"]["plan"]["counts"])
    published = PublishedPlan.sign(
        task, 7, plan, minimum=300, counts=counts, signing_key=analyst
    )
    said = Acknowledgement(task.digest, header.batch_id, published)

    assert receipt.refused == ((0, Reason.TOKEN_SPENT),)
    assert json.loads(receipt.signed(key)) == VECTORS["receipt"]
    assert header.people == (0, 1, 0)
    rewritten = write_whole(
        Step(task, 7),
        header.batch_id,
        header.people,
        messages,
        key,
        enrolment=read_roster(raw(VECTORS["roster"]["whole"]), task).enrolment,
        after=5,
        bits=1,
    )
    assert rewritten == content
    assert bytes.fromhex(plan.digest) == raw(VECTORS["plan"]["digest"])
    assert said.signed(analyst) == VECTORS["acknowledgement"]


def test_tasks_come_back_as_they_were_written() -> None:
    tasks = [
        parties(statistic, suite=suite).task
        for statistic in ("frequency", "mean", "sum", "items")
        for suite in Suite
    ]

    assert [read_task(task.to_json()) for task in tasks] == tasks


def test_a_task_of_whole_numbers_has_the_digest_that_its_readers_compute() -> None:
    task = parties(choices=(1, 2, 3), promise=(1, 2, 3), allowance=(9, 9, 9)).task

    assert read_task(task.to_json()).digest == task.digest


@pytest.mark.slow
@given(st.data())
@settings(max_examples=300)
def test_whatever_changes_in_a_task_it_is_refused_or_another_task(
    data: st.DataObject,
) -> None:
    value = TASK.to_dict()
    odd = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**400), 10**400),
        st.sampled_from([0, -1, 1e308, 2**63, "1", "", [], {}, [[]], [None], "\ud800"]),
        st.lists(st.one_of(st.floats(), st.text(max_size=3), st.integers())),
    )
    inside = data.draw(st.booleans())
    where = value["question"] if inside else value
    name = data.draw(st.sampled_from(sorted(where)))
    where[name] = data.draw(odd)
    text = json.dumps(value)

    try:
        task = read_task(text)
    except (Refusal, InvalidInputError):
        return

    assert read_task(task.to_json()) == task
    assert len(task.digest) == 32


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        '{"a": 1, "a": 1}',
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a": ' + "9" * 10_000 + "}",
        b"\xff\xfe\x00",
        b"\x00",
    ],
    ids=range(12),
)
def test_what_is_no_json_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(Refusal, match="one JSON object"):
        read_object(text, "a value")


def test_canonical_text_is_sorted_without_spaces_and_in_utf8() -> None:
    assert canonical({"b": [1, 2.5], "a": "ü"}) == '{"a":"ü","b":[1,2.5]}'.encode()


@pytest.mark.parametrize(
    "text", ["AA==", "AB", "A", "AAA", "A A", "é", "\ud800", None, 3, b"AA"]
)
def test_bytes_have_one_spelling(text: object) -> None:
    # "AA" is the one spelling of one zero byte; "AB" would be read as the same byte.
    assert from_text("AA", 1, "a byte") == b"\0"
    with pytest.raises(Refusal):
        from_text(text, 1, "a byte")


def test_uploads_have_one_size_whatever_is_answered() -> None:
    step = Step(
        ITEMS.task,
        1,
        EpochStage.ANSWER,
        plan_for(ITEMS.task, (0.1, 0.2, 0.3), 2.0, 12),
    )
    sizes = {
        len(b"".join(write_messages(np.full(12, number), dummy=dummy)))
        for number in (-(2**63), -1, 0, 1, 2**63 - 1)
        for dummy in (False, True)
    }

    assert sizes == {12 * 9}
    assert report_size(step) == 32 + 2 + 12 * (9 + 48)


def test_messages_are_counted_by_kind() -> None:
    content = b"".join(
        (*write_messages(np.array([5, -7])), *write_messages(np.array([1]), dummy=True))
    )

    numbers, dummies, neither = read_messages(content + b"\x02" + bytes(8))

    assert (numbers.tolist(), dummies, neither) == ([5, -7], 1, 1)


def test_uploads_larger_than_allowed_are_neither_written_nor_read() -> None:
    report = Report(bytes(32), 0, (bytes(STEP.sealed_size),))

    with pytest.raises(InvalidInputError):
        write_reports(STEP, [report] * (max_reports(STEP) + 1))
    with pytest.raises(InvalidInputError):
        write_reports(STEP, [])
    with pytest.raises(Refusal) as refusal:
        read_reports(STEP, bytes(MAX_BODY + 1))
    assert refusal.value.reason is Reason.TOO_LARGE


def test_reports_of_another_size_are_not_written() -> None:
    short = Report(bytes(32), 0, (bytes(STEP.sealed_size - 1),))

    with pytest.raises(InvalidInputError):
        write_reports(STEP, [short])


def test_levels_are_named_and_targets_never() -> None:
    items = Step(ITEMS.task, 1, EpochStage.CHOICE)

    levels = choices_offered(STEP, np.array([0, 2, 3, UNLINKED]))
    targets = choices_offered(items, np.array([0, 2, 3, UNLINKED]))

    assert levels.tolist() == [True, True, False, False]
    assert targets.tolist() == [False, False, False, True]


@given(st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(content: bytes) -> None:
    readers: list[Callable[[], object]] = [
        lambda: read_header(content),
        lambda: read_reports(STEP, content),
        lambda: read_manifest(content, TASK),
        lambda: read_manifest(b"SDPB\x04" + content, TASK),
        lambda: read_task(content),
    ]
    for read in readers:
        try:
            read()
        except (Refusal, InvalidInputError):
            continue


@given(st.integers(0, len(upload()) - 1), st.integers(1, 255))
def test_a_changed_upload_is_refused_or_has_as_many_reports(
    place: int, change: int
) -> None:
    body = bytearray(upload())
    body[place] ^= change

    try:
        header, reports = read_header(bytes(body)), read_reports(STEP, bytes(body))
    except Refusal:
        assert place < 6
        return

    assert len(reports) == 3
    assert (header.task_id == TASK.task_id) == (place < 10 or place >= 26)


@given(st.integers(0, len(upload()) - 1))
def test_a_cut_upload_holds_whole_reports_or_is_refused(length: int) -> None:
    body, size = upload()[:length], report_size(STEP)

    try:
        read_header(body)
        reports = read_reports(STEP, body)
    except Refusal:
        assert length <= 26 or (length - 26) % size
        return

    assert len(reports) == (length - 26) // size


@pytest.mark.slow
@given(st.data())
@settings(max_examples=300)
def test_a_changed_or_cut_batch_is_refused(data: st.DataObject) -> None:
    content = bytearray(batch())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[place] ^= data.draw(st.integers(1, 255))
    else:
        del content[place:]

    with pytest.raises(Refusal):
        handed_over(*split(bytes(content)))


@pytest.mark.parametrize(
    "changes",
    [
        {"epoch": -1},
        {"epoch": True},
        {"epoch": "1"},
        {"epoch": 1.0},
        {"stage": 7},
        {"stage": []},
        {"people": [-1, 2, 2]},
        {"people": [3, 1, 0]},
        {"people": [10**30, 0, 0]},
        {"people": [1.0, 2.0, 0.0]},
        {"people": {}},
        {"people": [[]]},
        {"sealed_size": 0},
        {"sealed_size": 1},
        {"sealed_size": 10**400},
        {"messages_per_report": 0},
        {"messages_per_report": 2},
        {"task": "AA"},
        {"enrolment": None},
        {"enrolment": {**ENROLMENT.to_dict(), "tokens": 10**6}},
        {"people": [10**4, 1, 0]},
        {"batch_id": None},
        {"after": None},
        {"after": -1},
        {"after": 3},
        {"bits": -1},
        {"bits": 0},
        {"bits": 2},
        {"bits": 18},
        {"bits": 10**400},
        {"bits": True},
        {"shards": None},
        {"shards": []},
        {"shards": [[1, "A" * 43]]},
        {"shards": [[1, "A" * 43], [3, "A" * 43]]},
        {"shards": [[0, "A" * 43], [-3, "A" * 43]]},
        {"shards": [[2.0, "A" * 43], [1.0, "A" * 43]]},
        {"shards": [[3, "A" * 43], [0, "A"]]},
        {"shards": [[3, "A" * 43], [0]]},
        {"shards": [[1, "A" * 43]] * 3},
        {"more": 1},
    ],
    ids=lambda changes: str(changes)[:30],
)
def test_a_signed_header_with_a_mistake_is_refused(changes: dict[str, Any]) -> None:
    manifest, shards = split(batch())
    value = json.loads(manifest[9:])
    del value["signature"]
    value.update(changes)

    text = canonical(signed("batch", value, SIGNING_KEY))
    changed = manifest[:5] + len(text).to_bytes(4, "big") + text

    handed_over(manifest, shards)
    with pytest.raises(Refusal):
        handed_over(changed, shards)


def test_a_batch_signed_by_anybody_else_or_for_another_task_is_refused() -> None:
    other = parties()
    elsewhere = parties(task_id=bytes(16)).task

    def written(step: Step, key: bytes, enrolment: Enrolment = ENROLMENT) -> bytes:
        return write_whole(
            step, bytes(16), (0, 1, 0), [], key, enrolment=enrolment, after=0
        )

    for content, reason in (
        (written(STEP, other.shuffler.signing_key), Reason.SIGNATURE_FORGED),
        (written(Step(elsewhere, 3), SIGNING_KEY), Reason.UNKNOWN_TASK),
        (
            written(STEP, SIGNING_KEY, MADE.enroller.enrolment(2)),
            Reason.WRONG_EPOCH,
        ),
    ):
        with pytest.raises(Refusal) as refusal:
            read_manifest(split(content)[0], TASK)
        assert refusal.value.reason is reason


def test_signatures_are_good_for_one_purpose() -> None:
    value = json.loads(Receipt(bytes(32), 1, 0, bytes(32), 1, ()).signed(SIGNING_KEY))

    del value["signature"]
    forged = signed("batch", value, SIGNING_KEY)

    with pytest.raises(Refusal):
        Receipt.read(forged, TASK.shuffler_signing_key)


@pytest.mark.parametrize(
    "changes",
    [
        {"accepted": "1"},
        {"accepted": -1},
        {"epoch": None},
        {"refused": 3},
        {"refused": [1]},
        {"refused": [[0, "because"]]},
        {"refused": [[0, []]]},
        {"task": 3},
    ],
    ids=str,
)
def test_a_signed_receipt_with_a_mistake_is_refused(changes: dict[str, Any]) -> None:
    value = json.loads(Receipt(bytes(32), 1, 0, bytes(32), 1, ()).signed(SIGNING_KEY))
    del value["signature"]

    wrong = signed("receipt", {**value, **changes}, SIGNING_KEY)

    with pytest.raises(Refusal):
        Receipt.read(wrong, TASK.shuffler_signing_key)


@pytest.mark.parametrize(
    "changes",
    [
        {"rates": []},
        {"rates": [0.5, 0.5]},
        {"rates": [0.1, 0.2, 1.5]},
        {"rates": [0.1, 0.2, -0.5]},
        {"rates": [0.1, 0.2, 10**400]},
        {"targets": [0.5, 1.0]},
        {"targets": [0.5, 1.0, 3.0]},
        {"items": 5},
        {"set_size": 1},
        {"rates": [True, 0.2, 0.3]},
        {"rates": "abc"},
        {"blanket": -1.0},
        {"blanket": 10**400},
        {"blanket": "1"},
        {"blanket": [1]},
        {"report_size": 0},
        {"report_size": 1},
        {"report_size": 10**9},
        {"report_size": 2.0},
        {"more": 1},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_plan_that_devices_cannot_follow_is_refused(changes: dict[str, Any]) -> None:
    plan = plan_for(ITEMS.task, (0.1, 0.2, 0.3), 2.0, 9)
    record = plan.record
    record["parameters"] |= changes

    assert read_plan(plan.record, ITEMS.task) == plan
    with pytest.raises(Refusal):
        read_plan(record, ITEMS.task)


@pytest.mark.parametrize(
    "changes",
    [
        {"statistic": "frequency"},
        {"mechanism": "bernoulli-items"},
        {"mechanism": "items"},
        {"mode": "stratified"},
        {"parameters": {}},
        {"more": 1},
    ],
    ids=str,
)
def test_a_plan_of_another_protocol_is_refused(changes: dict[str, Any]) -> None:
    plan = plan_for(ITEMS.task, (0.1, 0.2, 0.3), 2.0, 9)

    with pytest.raises(Refusal):
        read_plan({**plan.record, **changes}, ITEMS.task)


@pytest.mark.parametrize("statistic", ["frequency", "mean", "sum", "items"])
def test_a_task_whose_question_is_answered_by_something_else_is_refused(
    statistic: str,
) -> None:
    task = parties(statistic).task
    value = task.to_dict()
    value["protocol"]["mechanism"] = "another"

    assert read_task(json.dumps(task.to_dict())) == task
    with pytest.raises(Refusal, match="answered by"):
        read_task(json.dumps(value))


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=9), st.recursive(
    st.one_of(st.none(), st.floats(), st.text(max_size=4)), st.lists, max_leaves=5
)))  # fmt: skip
def test_random_documents_are_refused(value: dict[str, Any]) -> None:
    key = TASK.analyst_signing_key

    for read in (
        lambda: Receipt.read(value, key),
        lambda: Acknowledgement.read(value, TASK, 1),
        lambda: read_plan(value, ITEMS.task),
        lambda: Question.from_dict(value),
    ):
        with pytest.raises(Refusal):
            read()


def test_every_reason_has_a_problem_document() -> None:
    documents = [Refusal(reason, "Expected it.").problem.to_dict() for reason in Reason]

    assert len({document["type"] for document in documents}) == len(Reason)
    assert all(400 <= int(document["status"]) < 600 for document in documents)
