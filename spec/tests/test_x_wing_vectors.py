"""Vectors of the suite x-wing: sealed with stated randomness, and opened by the library."""

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import write_vectors
from known_ml_kem import encapsulate_with
from known_sealing import key_schedule
from shuffledp_services.wire.sealing import Opener, Suite, public_key_of
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task
from stored_vectors import VECTORS, decoded, stored
from x_wing_vectors import x_wing_vectors

STORED = stored("x_wing.json")
TASK = read_task(STORED["task"])
STEP = Step(TASK, STORED["epoch"])


def test_the_library_writes_the_vectors_of_x_wing_to_the_byte() -> None:
    written = {"about": STORED["about"], **x_wing_vectors()}

    text = (VECTORS / "x_wing.json").read_text(encoding="utf-8")

    assert write_vectors.as_text(written) == text


def test_the_library_opens_the_sealed_message() -> None:
    private, sealed = decoded(STORED["private_key"]), decoded(STORED["sealed"])

    opened = Opener(TASK.suite, private, STEP.info()).open(sealed)

    assert TASK.suite is Suite.X_WING
    assert opened == decoded(STORED["plain"])
    assert public_key_of(Suite.X_WING, private) == TASK.analyst_key
    assert TASK.analyst_key == decoded(STORED["public_key"])
    assert STEP.info() == decoded(STORED["info"])
    assert len(sealed) == STEP.sealed_size == 9 + 1120 + 16


def test_the_shared_secret_follows_from_private_key_and_enc() -> None:
    private, enc = decoded(STORED["private_key"]), decoded(STORED["enc"])
    point = enc[1088:]
    ml_kem = MLKEM768PrivateKey.from_seed_bytes(private[:64])
    x25519 = X25519PrivateKey.from_private_bytes(private[64:])

    shared = hashlib.sha3_256(
        ml_kem.decapsulate(enc[:1088])
        + x25519.exchange(X25519PublicKey.from_public_bytes(point))
        + point
        + decoded(STORED["public_key"])[1184:]
        + b"\\.//^\\"
    ).digest()

    key, nonce = key_schedule(0x647A, shared, decoded(STORED["info"]))
    sealed = decoded(STORED["sealed"])
    assert shared == decoded(STORED["shared_secret"])
    assert sealed[:1120] == enc
    opened = AESGCM(key).decrypt(nonce, sealed[1120:], b"")
    assert opened == decoded(STORED["plain"])


@pytest.mark.parametrize("seed", range(4))
def test_an_encapsulation_with_stated_randomness_is_one_of_ml_kem(seed: int) -> None:
    digest = hashlib.sha512(bytes([seed])).digest()
    private = MLKEM768PrivateKey.from_seed_bytes(digest)
    public = private.public_key().public_bytes_raw()

    secret, encapsulated = encapsulate_with(digest[:32], public)
    other, _ = encapsulate_with(digest[32:], public)

    assert private.decapsulate(encapsulated) == secret != other
