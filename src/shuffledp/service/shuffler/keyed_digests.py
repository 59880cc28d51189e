"""What the disk knows tokens and sealed messages by: keyed hashes, good for one step.

Whoever reads the database, its logs or its statistics can neither recognize a token that
she has, nor find the message that a mark belongs to: the key is never written down. It is
derived from the shuffler's own, so that a service that was killed finds its marks again.
"""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from shuffledp.service.wire.step import Step

KEYED_DIGEST_SIZE = 16
"""Bytes of a mark: among 10^9 of one step, two are equal with chance 2e-21."""

_DOMAIN = b"shuffledp marks 1"
_KEY_SIZE = 32
_MARK = f"S{KEYED_DIGEST_SIZE}"


class KeyedDigests:
    """Makes the marks of one step."""

    def __init__(self, signing_key: bytes, step: Step) -> None:
        """Derives the key of the step.

        Args:
            signing_key: The shuffler's, 32 bytes.
            step: In which tokens and messages come.
        """
        self._secret, self._step = signing_key, step

    def of_tokens(self, tokens: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Returns the marks of tokens.

        Args:
            tokens: Their digests in the roster, shape (n, 16).

        Returns:
            Shape (n, 1, KEYED_DIGEST_SIZE).
        """
        return self._of(tokens[:, None], b"token")

    def of_messages(self, sealed: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Returns the marks of sealed messages.

        Args:
            sealed: Shape (n, messages_per_report, sealed_size).

        Returns:
            Shape (n, messages_per_report, KEYED_DIGEST_SIZE).
        """
        return self._of(sealed, b"message")

    @cached_property
    def _key(self) -> bytes:
        step = self._step
        which = step.epoch.to_bytes(4, "big") + bytes([step.stage])
        purpose = _DOMAIN + step.task.digest + which
        return HKDF(SHA256(), _KEY_SIZE, None, purpose).derive(self._secret)

    def _of(self, rows: NDArray[np.uint8], kind: bytes) -> NDArray[np.uint8]:
        content, size = rows.tobytes(), rows.shape[-1]
        begun = hashlib.blake2b(
            digest_size=KEYED_DIGEST_SIZE, key=self._key, person=kind
        )
        marks = bytearray()
        for start in range(0, len(content), size):
            mark = begun.copy()
            mark.update(content[start : start + size])
            marks += mark.digest()
        return np.frombuffer(marks, np.uint8).reshape(
            *rows.shape[:-1], KEYED_DIGEST_SIZE
        )


def numbered(
    marks: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]:
    """Numbers marks, equal ones alike.

    Args:
        marks: Shape (n, m, KEYED_DIGEST_SIZE).

    Returns:
        Distinct digests in increasing order, shape (k, KEYED_DIGEST_SIZE); index of each
        input among them, shape (n, m); which of them occur more than once, shape (k,).
    """
    # Of a fixed size: equal texts have equal bytes.
    texts: NDArray[Any] = np.ascontiguousarray(marks).view(_MARK)[..., 0]
    different, numbers, counts = np.unique(
        texts, return_inverse=True, return_counts=True
    )
    rows = different.view(np.uint8).reshape(-1, KEYED_DIGEST_SIZE)
    return rows, numbers.reshape(texts.shape), counts > 1
