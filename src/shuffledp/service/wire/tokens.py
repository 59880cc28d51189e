"""One-use tokens: who takes part at all, and only once per step of an epoch.

A token is 32 random bytes and says nothing about a person. Whoever enrols people draws as
many as there are people, hands one to each, forgets to whom, and gives the shuffler their
digests alone (see `wire.roster`): who can check a token can therefore not make one.
"""

import hashlib
import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError

TOKEN_SIZE = 32
NONCE_SIZE = 16
"""Bytes of a token's digest: what the shuffler knows it by, and all that it ever keeps."""

_DOMAIN = b"shuffledp token 2"


def draw_tokens(
    count: int, *, entropy: Callable[[int], bytes] = os.urandom
) -> list[bytes]:
    """Returns so many new tokens, `TOKEN_SIZE` bytes each.

    Args:
        count: At least 1.
        entropy: Returns so many random bytes.

    Raises:
        InvalidInputError: If the number is out of range.
    """
    if count < 1:
        raise InvalidInputError(f"Expected at least 1 token, got {count}.")
    drawn = entropy(TOKEN_SIZE * count)
    return [
        drawn[start : start + TOKEN_SIZE] for start in range(0, len(drawn), TOKEN_SIZE)
    ]


class TokenDigests:
    """Digests of tokens for one task and epoch: SHA-256 of all three, cut.

    A token that serves two tasks, or two epochs, has nothing in common in their rosters.
    """

    def __init__(self, task_digest: bytes, epoch: int) -> None:
        # What all begin with is hashed once.
        self._begun = hashlib.sha256(_DOMAIN + task_digest + epoch.to_bytes(4, "big"))

    def of(self, token: bytes) -> bytes:
        """Returns the digest of one token, `NONCE_SIZE` bytes."""
        begun = self._begun.copy()
        begun.update(token)
        return begun.digest()[:NONCE_SIZE]

    def of_all(self, tokens: bytes) -> NDArray[np.uint8]:
        """Returns digests of tokens that stand one after the other, shape (n, 16)."""
        starts = range(0, len(tokens), TOKEN_SIZE)
        found = b"".join([self.of(tokens[at : at + TOKEN_SIZE]) for at in starts])
        return np.frombuffer(found, np.uint8).reshape(-1, NONCE_SIZE)
