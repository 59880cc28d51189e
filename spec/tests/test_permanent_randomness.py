"""Contexts and words in coins.json follow from the text of mechanisms.md."""

import hmac
import struct
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from stored_vectors import stored

COINS = stored("coins.json")
CASES = {case["name"]: case for case in stored("messages.json")["cases"]}


def encrypted(key: bytes, mode: modes.CBC | modes.ECB, content: bytes) -> bytes:
    return Cipher(algorithms.AES(key), mode).encryptor().update(content)


def spelled(number: float | None) -> bytes:
    """Returns the bytes of a number of an answer; null was skipped."""
    if number is None:
        return bytes.fromhex("7ff8000000000000")
    return struct.pack(">d", number)


@pytest.mark.parametrize("entry", COINS, ids=[entry["case"] for entry in COINS])
def test_contexts_and_words_are_as_stated(entry: dict[str, Any]) -> None:
    case = CASES[entry["case"]]
    numbers = [] if case["stage"] else entry["answer"]

    context = hmac.digest(
        bytes.fromhex(entry["link_secret"]),
        b"shuffledp coins 1"
        + bytes.fromhex(case["task_digest"])
        + struct.pack(">IB", case["epoch"], case["stage"])
        + bytes.fromhex(case["plan_digest"])
        + struct.pack(">H", entry["level"])
        + b"".join(map(spelled, numbers)),
        "sha256",
    )
    info = b"shuffledp randomness of people 1" + struct.pack(">I", 32)
    keys = HKDF(SHA256(), 64, None, info).derive(bytes.fromhex(entry["device_secret"]))
    seed = encrypted(keys[:32], modes.CBC(bytes(16)), context)[16:]
    first, second = struct.unpack(">QQ", seed)
    blocks = [
        struct.pack(">QQ", first, (second + j) % 2**64)
        for j in range(len(entry["words"]))
    ]
    words = [encrypted(keys[32:], modes.ECB(), block)[:8] for block in blocks]

    assert context.hex() == entry["context"]
    assert [word[::-1].hex() for word in words] == entry["words"]
