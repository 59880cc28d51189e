"""The library refuses the malformed inputs of the vectors, with the stated kinds."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.accounting.certificate import read_certificate
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.evidence import Evidence
from shuffledp_services.wire.batch import PREFIX_SIZE, manifest_size, read_manifest
from shuffledp_services.wire.canonical import from_text, read_object
from shuffledp_services.wire.inclusion import (
    KeptReceipt,
    check_list,
    check_result,
)
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.message_order import ShardCheck
from shuffledp_services.wire.parties import Role, check_agreement
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.roster import read_roster
from shuffledp_services.wire.sealing import (
    Sealer,
    Suite,
)
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task_reading import read_task
from shuffledp_services.wire.upload_format import read_header, read_reports
from stored_vectors import decoded, stored

WIRE, RESULT, REFUSALS = map(stored, ("wire.json", "result.json", "refusals.json"))
TASK = read_task(WIRE["task"]["text"])
PLANNED = read_task(REFUSALS["planned_task"])
COLLECTED = read_task(RESULT["task"])
EPOCH = WIRE["step"]["epoch"]


def read_upload(content: bytes) -> object:
    read_header(content)
    return read_reports(Step(TASK, EPOCH), content)


def read_shard(content: bytes) -> None:
    header = read_manifest(decoded(RESULT["manifest"]), COLLECTED)
    check = ShardCheck(header.shards[0], bits=header.bits, size=header.sealed_size)
    check.add(content)
    check.finish()


def manifest(content: bytes) -> object:
    # As it is received: the size first, from the first bytes.
    manifest_size(content[:PREFIX_SIZE])
    return read_manifest(content, TASK)


def check_statements(text: str) -> None:
    if problems_in(json.loads(text), COLLECTED):
        raise UnverifiedError


def count_message(content: bytes) -> None:
    counter = MessageCounter(Step(TASK, EPOCH))
    counter.add(0, [content])
    if counter.spoiled.sum():
        raise SpoiledError


class UnverifiedError(ShuffledpError):
    """A result that does not verify."""


class SpoiledError(ShuffledpError):
    """A message that is counted as spoiled."""


def verify(certificate: dict[str, Any]) -> None:
    if not sdp.verify(certificate).holds:
        raise UnverifiedError


def of_text(read: Callable[[dict[str, Any]], object]) -> Callable[[str], object]:
    return lambda text: read(read_object(text, "a document"))


def of_bytes(read: Callable[[bytes], object]) -> Callable[[str], object]:
    return lambda text: read(decoded(text))


READERS: dict[str, Callable[[str], object]] = {
    "json": of_text(lambda value: value),
    "one byte": lambda text: from_text(text, 1, "a byte"),
    "task": read_task,
    "task of a form": read_task,
    "link": Invitation.read,
    "upload": of_bytes(read_upload),
    "receipt": of_text(lambda value: Receipt.read(value, TASK.shuffler_signing_key)),
    "roster": of_bytes(lambda content: read_roster(content, TASK)),
    "manifest": of_bytes(manifest),
    "agreement of the analyst": of_text(
        lambda value: check_agreement(value, Role.ANALYST, TASK)
    ),
    "plan of epoch 3": of_text(lambda value: PublishedPlan.read(value, PLANNED, 3)),
    "plain message": of_bytes(count_message),
    "key to seal for": of_bytes(
        lambda key: Sealer(Suite.X25519, key, b"a context").seal([b"a message"])
    ),
    "shard": of_bytes(read_shard),
    "list of messages": of_bytes(
        lambda content: check_list(
            content, check_result(json.loads(RESULT["result"]), COLLECTED, EPOCH)
        )
    ),
    "kept receipt": lambda text: KeptReceipt.read(text.encode(), COLLECTED),
    "successor": lambda text: check_succession(read_task(text), COLLECTED),
    "result": of_text(lambda value: check_result(value, COLLECTED, EPOCH)),
    "statements of a result": check_statements,
    "certificate": of_text(read_certificate),
    "certificate and its people": of_text(verify),
    "record of canaries": Canaries.from_json,
    "evidence": Evidence.from_json,
}


def kind_of(error: ShuffledpError) -> str:
    match error:
        case Refusal():
            return error.reason.value
        case UnverifiedError():
            return "not-verified"
        case SpoiledError():
            return "spoiled"
        case InvalidInputError():
            return "out-of-range"
        # A result with another form is no published result at all.
        case DataError():
            return "malformed"
    raise error


@pytest.mark.parametrize(
    "entry",
    REFUSALS["inputs"],
    ids=[f"{each['what']}: {each['mistake']}" for each in REFUSALS["inputs"]],
)
def test_malformed_inputs_are_refused_with_the_stated_kind(
    entry: dict[str, str],
) -> None:
    with pytest.raises(ShuffledpError) as error:
        READERS[entry["what"]](entry["input"])

    assert kind_of(error.value) == entry["refused"]


def test_every_reader_accepts_an_input_without_mistakes() -> None:
    (case,) = [
        each
        for each in stored("messages.json")["cases"]
        if each["name"] == "items, answers"
    ]
    valid = {
        "json": '{"a": 1}',
        "one byte": "AA",
        "task": WIRE["task"]["text"],
        "task of a form": stored("skipped.json")["task"],
        "link": WIRE["link"]["text"],
        "upload": WIRE["upload"]["whole"],
        "receipt": json.dumps(WIRE["receipt"]),
        "roster": WIRE["roster"]["whole"],
        "manifest": WIRE["batch"]["whole"],
        "agreement of the analyst": json.dumps(WIRE["agreements"]["analyst"]),
        "plan of epoch 3": json.dumps(json.loads(case["served"])["plan"]),
        "plain message": WIRE["message"]["plain"],
        "key to seal for": WIRE["keys"]["analyst_public_key"],
        "shard": RESULT["shards"][0],
        "list of messages": RESULT["messages"],
        "kept receipt": RESULT["kept_receipt"],
        "successor": RESULT["successor"],
        "result": RESULT["result"],
        "statements of a result": RESULT["result"],
        "certificate": json.dumps(json.loads(RESULT["result"])["certificate"]),
        "certificate and its people": json.dumps(
            json.loads(RESULT["result"])["certificate"]
        ),
        "record of canaries": RESULT["canaries"],
        "evidence": RESULT["evidence"],
    }
    # A manifest alone: the batch of wire.json is followed by its message.
    size = manifest_size(decoded(valid["manifest"]))
    valid["manifest"] = base64.urlsafe_b64encode(
        decoded(valid["manifest"])[:size]
    ).decode()

    assert set(valid) == set(READERS) == {e["what"] for e in REFUSALS["inputs"]}
    for what, text in valid.items():
        READERS[what](text)
