"""One-time tokens, which admit each user once per step of an epoch.

A token is 32 random bytes, independent of its user. The enroller draws one for each user,
keeps no record of its owner, and gives the shuffler only the digests (`wire.roster`): the
shuffler can check tokens, but not create them.
"""

import hashlib
import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError

TOKEN_SIZE = 32
NONCE_SIZE = 16
"""Bytes of a token's digest, the only form in which the shuffler keeps it."""

_DOMAIN = b"shuffledp token 2"


def draw_tokens(
    count: int, *, entropy: Callable[[int], bytes] = os.urandom
) -> list[bytes]:
    """Draws new tokens, `TOKEN_SIZE` bytes each.

    Args:
        count: The number of tokens, at least 1.
        entropy: Returns the given number of random bytes.

    Raises:
        InvalidInputError: If the number is out of range.
    """
    if count < 1:
        raise InvalidInputError(f"Expected at least 1 token, got {count}.")
    # One call for all tokens: a system call for each would be slow.
    drawn = entropy(TOKEN_SIZE * count)
    return [
        drawn[start : start + TOKEN_SIZE] for start in range(0, len(drawn), TOKEN_SIZE)
    ]


class TokenDigests:
    """Digests of tokens for one task and epoch: truncated SHA-256 of all three.

    The digests of one token in the rosters of two tasks or epochs cannot be linked.
    """

    def __init__(self, task_digest: bytes, epoch: int) -> None:
        # The common prefix is hashed once.
        self._begun = hashlib.sha256(_DOMAIN + task_digest + epoch.to_bytes(4, "big"))

    def of(self, token: bytes) -> bytes:
        """Returns the digest of one token, `NONCE_SIZE` bytes."""
        begun = self._begun.copy()
        begun.update(token)
        return begun.digest()[:NONCE_SIZE]

    def of_all(self, tokens: bytes) -> NDArray[np.uint8]:
        """Returns the digests of concatenated tokens, shape (n, 16)."""
        starts = range(0, len(tokens), TOKEN_SIZE)
        digests = [self.of(tokens[start : start + TOKEN_SIZE]) for start in starts]
        return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, NONCE_SIZE)
