"""One-use tokens: who takes part at all, and only once per step of an epoch.

A token is a random nonce and its HMAC-SHA256 over task, epoch and nonce, cut to 16 bytes.
It says nothing about a person. Whoever issues tokens hands one to each person and forgets
to whom, or the shuffler could count on knowing who sent which report.
"""

import hashlib
import hmac
import os
from collections.abc import Callable

from shuffledp.errors import InvalidInputError

NONCE_SIZE = 16
TOKEN_SIZE = 32
KEY_SIZE = 32

_TAG_SIZE = TOKEN_SIZE - NONCE_SIZE
_DOMAIN = b"shuffledp token 1"

# Of SHA-256, whose keys are at most a block long here.
_BLOCK = 64
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


def issue_tokens(
    key: bytes,
    task_id: bytes,
    epoch: int,
    count: int,
    *,
    entropy: Callable[[int], bytes] = os.urandom,
) -> list[bytes]:
    """Returns so many new tokens, `TOKEN_SIZE` bytes each.

    Args:
        key: The shuffler's, `KEY_SIZE` bytes.
        task_id: 16 bytes.
        epoch: From 1.
        count: At least 0.
        entropy: Returns so many random bytes.

    Raises:
        InvalidInputError: If the epoch or the number is out of range.
    """
    if count < 0 or not 1 <= epoch < 2**32:
        raise InvalidInputError("Expected an epoch from 1, and a number of tokens.")
    drawn = entropy(NONCE_SIZE * count)
    begin = _beginning(task_id, epoch)
    nonces = [
        drawn[start : start + NONCE_SIZE] for start in range(0, len(drawn), NONCE_SIZE)
    ]
    return [nonce + _tag(key, begin, nonce) for nonce in nonces]


class TokenCheck:
    """Checks the tokens of one task and epoch.

    What all their tags begin with is hashed once (RFC 2104 names inner and outer hash):
    less than half the time per token.
    """

    def __init__(self, key: bytes, task_id: bytes, epoch: int) -> None:
        padded = key.ljust(_BLOCK, b"\0")
        self._inner = hashlib.sha256(padded.translate(_INNER))
        self._inner.update(_beginning(task_id, epoch))
        self._outer = hashlib.sha256(padded.translate(_OUTER))

    def valid(self, token: bytes) -> bool:
        """Tells whether this token was issued here, in a time that tells nothing."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(token[:NONCE_SIZE])
        outer.update(inner.digest())
        return hmac.compare_digest(outer.digest()[:_TAG_SIZE], token[NONCE_SIZE:])


def _beginning(task_id: bytes, epoch: int) -> bytes:
    return _DOMAIN + task_id + epoch.to_bytes(4, "big")


def _tag(key: bytes, begin: bytes, nonce: bytes) -> bytes:
    return hmac.digest(key, begin + nonce, "sha256")[:_TAG_SIZE]
