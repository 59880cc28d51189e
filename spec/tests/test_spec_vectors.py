"""The library writes and reads the vectors of the specification."""

import hashlib
import json
import math
import struct
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import write_vectors
from known_sealing import key_schedule
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.wire.batch import read_manifest
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.inclusion import (
    KeptReceipt,
    includes,
)
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.parties import Role, check_agreement, read_public_part
from shuffledp_services.wire.sealing import (
    Opener,
    Sealer,
    Suite,
    new_private_key,
    public_key_of,
)
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task
from stored_vectors import VECTORS, decoded, stored
from vector_parties import ANALYST

WIRE, RESULT, REFUSALS = map(stored, ("wire.json", "result.json", "refusals.json"))
TASK = read_task(WIRE["task"]["text"])
PLANNED = read_task(REFUSALS["planned_task"])
COLLECTED = read_task(RESULT["task"])
EPOCH = WIRE["step"]["epoch"]


def test_the_library_writes_wire_and_refusals_to_the_byte() -> None:
    written = {
        "wire.json": write_vectors.wire_vectors(),
        "refusals.json": write_vectors.refusal_vectors(WIRE, RESULT),
    }

    for name, document in written.items():
        text = (VECTORS / name).read_text(encoding="utf-8")
        assert write_vectors.as_text(document) == text


def test_the_library_writes_the_small_collection_to_the_byte() -> None:
    written = write_vectors.result_vectors()
    results = [json.loads(each.pop("result")) for each in (written, dict(RESULT))]
    mine, other = [{**each, "signature": None} for each in results]

    assert written == {name: RESULT[name] for name in RESULT if name != "result"}
    # Exponentials of other machines may differ in the last digit, and with them estimates.
    assert same_numbers(mine, other)
    content = {name: entry for name, entry in other.items() if name != "signature"}
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
    header = read_manifest(decoded(RESULT["manifest"]), COLLECTED)
    step = Step(COLLECTED, header.epoch)
    private = decoded(WIRE["keys"]["analyst_private_key"])
    opener = Opener(COLLECTED.suite, private, step.info())
    kept = KeptReceipt.read(RESULT["kept_receipt"].encode(), COLLECTED)
    result = json.loads(RESULT["result"])

    opened = [opener.open(decoded(sealed)) for sealed in RESULT["sealed"]]

    assert opened == [decoded(plain) for plain in RESULT["plain"]]
    assert canonical(result).decode() == RESULT["result"]
    assert result["tally"]["counts"] == [[[5, 4, 2]]]
    assert problems_in(result, COLLECTED) == ()
    assert all(includes(decoded(RESULT["messages"]), each) for each in kept.messages)
    assert np.sum(step.group_sizes(header.people)) == len(opened)


def test_public_part_and_agreements_are_signed_as_stated() -> None:
    key, commitment = read_public_part(WIRE["public_part"], Role.SHUFFLER)

    assert (key, commitment) == (TASK.shuffler_signing_key, None)
    for role in Role:
        check_agreement(WIRE["agreements"][role.value], role, TASK)


def test_the_link_has_the_stated_parts() -> None:
    invitation = Invitation.read(WIRE["link"]["text"])

    assert invitation.task == TASK.digest
    assert (invitation.epoch, invitation.token, invitation.secret) == (
        WIRE["link"]["epoch"],
        decoded(WIRE["link"]["token"]),
        decoded(WIRE["link"]["secret"]),
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
