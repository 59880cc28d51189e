"""The library writes and reads the vectors of the specification, and refuses mistakes."""

import base64
import hashlib
import json
import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import shuffledp as sdp
import write_vectors
from known_sealing import key_schedule
from shuffledp.accounting.certificate import read_certificate
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.evidence import Evidence
from shuffledp_services.wire.batch import PREFIX_SIZE, manifest_size, read_manifest
from shuffledp_services.wire.canonical import canonical, from_text, read_object
from shuffledp_services.wire.inclusion import (
    KeptReceipt,
    check_list,
    check_result,
    includes,
)
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.message_order import ShardCheck
from shuffledp_services.wire.parties import Role, check_agreement, read_public_part
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.roster import read_roster
from shuffledp_services.wire.sealing import (
    Opener,
    Sealer,
    Suite,
    new_private_key,
    public_key_of,
)
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task_reading import read_task
from shuffledp_services.wire.upload_format import read_header, read_reports
from vector_parties import ANALYST

SPEC = Path(write_vectors.__file__).parents[1]


def vectors(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(
        (SPEC / "vectors" / name).read_text(encoding="utf-8")
    )
    return value


WIRE, RESULT, REFUSALS = map(vectors, ("wire.json", "result.json", "refusals.json"))
TASK = read_task(WIRE["task"]["text"])
PLANNED = read_task(REFUSALS["planned_task"])
COLLECTED = read_task(RESULT["task"])
EPOCH = WIRE["step"]["epoch"]


def raw(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def read_upload(content: bytes) -> object:
    read_header(content)
    return read_reports(Step(TASK, EPOCH), content)


def read_shard(content: bytes) -> None:
    header = read_manifest(raw(RESULT["manifest"]), COLLECTED)
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
    return lambda text: read(raw(text))


READERS: dict[str, Callable[[str], object]] = {
    "json": of_text(lambda value: value),
    "one byte": lambda text: from_text(text, 1, "a byte"),
    "task": read_task,
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
        for each in vectors("messages.json")["cases"]
        if each["name"] == "items, answers"
    ]
    valid = {
        "json": '{"a": 1}',
        "one byte": "AA",
        "task": WIRE["task"]["text"],
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
    size = manifest_size(raw(valid["manifest"]))
    valid["manifest"] = base64.urlsafe_b64encode(raw(valid["manifest"])[:size]).decode()

    assert set(valid) == set(READERS) == {e["what"] for e in REFUSALS["inputs"]}
    for what, text in valid.items():
        READERS[what](text)


def test_the_library_writes_wire_and_refusals_to_the_byte() -> None:
    written = {
        "wire.json": write_vectors.wire_vectors(),
        "refusals.json": write_vectors.refusal_vectors(WIRE, RESULT),
    }

    for name, document in written.items():
        stored = (SPEC / "vectors" / name).read_text(encoding="utf-8")
        assert write_vectors.as_text(document) == stored


def test_the_library_writes_the_small_collection_to_the_byte() -> None:
    written = write_vectors.result_vectors()
    results = [json.loads(each.pop("result")) for each in (written, dict(RESULT))]
    mine, stored = [{**each, "signature": None} for each in results]

    assert written == {name: RESULT[name] for name in RESULT if name != "result"}
    # Exponentials of other machines may differ in the last digit, and with them estimates.
    assert same_numbers(mine, stored)
    content = {name: entry for name, entry in stored.items() if name != "signature"}
    assert canonical(signed("result", content, ANALYST)).decode() == RESULT["result"]


def same_numbers(one: Any, other: Any) -> bool:
    """Tells whether two values are equal, floats up to a relative error of 1e-9."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            same_numbers(one[name], other[name]) for name in one
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(
            same_numbers(*pair) for pair in zip(one, other, strict=True)
        )
    return bool(one == other)


def test_the_small_collection_opens_counts_and_verifies() -> None:
    header = read_manifest(raw(RESULT["manifest"]), COLLECTED)
    step = Step(COLLECTED, header.epoch)
    private = raw(WIRE["keys"]["analyst_private_key"])
    opener = Opener(COLLECTED.suite, private, step.info())
    kept = KeptReceipt.read(RESULT["kept_receipt"].encode(), COLLECTED)
    result = json.loads(RESULT["result"])

    opened = [opener.open(raw(sealed)) for sealed in RESULT["sealed"]]

    assert opened == [raw(plain) for plain in RESULT["plain"]]
    assert canonical(result).decode() == RESULT["result"]
    assert result["tally"]["counts"] == [[[5, 4, 2]]]
    assert problems_in(result, COLLECTED) == ()
    assert all(includes(raw(RESULT["messages"]), each) for each in kept.messages)
    assert np.sum(step.group_sizes(header.people)) == len(opened)


def test_public_part_and_agreements_are_signed_as_stated() -> None:
    key = read_public_part(WIRE["public_part"], Role.SHUFFLER)

    assert key == TASK.shuffler_signing_key
    for role in Role:
        check_agreement(WIRE["agreements"][role.value], role, TASK)


def test_the_link_has_the_stated_parts() -> None:
    invitation = Invitation.read(WIRE["link"]["text"])

    assert invitation.task == TASK.digest
    assert (invitation.epoch, invitation.token, invitation.secret) == (
        WIRE["link"]["epoch"],
        raw(WIRE["link"]["token"]),
        raw(WIRE["link"]["secret"]),
    )


def test_messages_of_the_x_wing_suite_are_sealed_as_specified() -> None:
    private = new_private_key(Suite.X_WING)
    public = public_key_of(Suite.X_WING, private)

    (sealed,) = Sealer(Suite.X_WING, public, b"a context").seal([b"a message"])

    enc, encrypted = sealed[:1120], sealed[1120:]
    ml_kem = MLKEM768PrivateKey.from_seed_bytes(private[:64])
    x25519 = X25519PrivateKey.from_private_bytes(private[64:])
    shared = hashlib.sha3_256(
        ml_kem.decapsulate(enc[:1088])
        + x25519.exchange(X25519PublicKey.from_public_bytes(enc[1088:]))
        + enc[1088:]
        + public[1184:]
        + b"\\.//^\\"
    )
    key, nonce = key_schedule(0x647A, shared.digest(), b"a context")
    assert AESGCM(key).decrypt(nonce, encrypted, b"") == b"a message"


def test_canonical_text_is_as_stated() -> None:
    stated = WIRE["canonical"]

    assert canonical(stated["value"]).decode() == stated["text"]
    for letters, text in stated["floats"]:
        (number,) = struct.unpack(">d", bytes.fromhex(letters))
        assert canonical({"a": number}).decode() == f'{{"a":{text}}}'
