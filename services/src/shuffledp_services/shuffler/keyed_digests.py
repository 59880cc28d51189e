"""Keyed digests of tokens and sealed messages, which the store keeps in their place.

A reader of the database, its logs or its statistics can neither recognize a known token,
nor match a digest with a message: the key is never stored. It is derived from the
shuffler's signing key for each step, so that a restarted service computes equal digests.
"""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from shuffledp_services.wire.step import Step

KEYED_DIGEST_SIZE = 16
"""Bytes of a keyed digest: among 10^9, two are equal with probability 2e-21."""

_DOMAIN = b"shuffledp marks 1"
_KEY_SIZE = 32
_DTYPE = f"S{KEYED_DIGEST_SIZE}"


class KeyedDigests:
    """Computes the keyed digests of one step."""

    def __init__(self, signing_key: bytes, step: Step) -> None:
        """Derives the key of the step.

        Args:
            signing_key: The shuffler's, 32 bytes.
            step: The step of the tokens and messages.
        """
        self._secret, self._step = signing_key, step

    def of_tokens(self, tokens: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Returns the keyed digests of tokens.

        Args:
            tokens: Their digests in the roster, shape (n, 16).

        Returns:
            Shape (n, 1, KEYED_DIGEST_SIZE).
        """
        return self._of(tokens[:, None], b"token")

    def of_messages(self, sealed: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Returns the keyed digests of sealed messages.

        Args:
            sealed: Shape (n, messages_per_report, sealed_size).

        Returns:
            Shape (n, messages_per_report, KEYED_DIGEST_SIZE).
        """
        return self._of(sealed, b"message")

    @cached_property
    def _key(self) -> bytes:
        step = self._step
        epoch_and_stage = step.epoch.to_bytes(4, "big") + bytes([step.stage])
        purpose = _DOMAIN + step.task.digest + epoch_and_stage
        # One key per step: digests of different steps cannot be linked.
        return HKDF(SHA256(), _KEY_SIZE, None, purpose).derive(self._secret)

    def _of(self, rows: NDArray[np.uint8], kind: bytes) -> NDArray[np.uint8]:
        content, size = rows.tobytes(), rows.shape[-1]
        # Keyed once and copied per row: the key schedule costs as much as a short hash.
        begun = hashlib.blake2b(
            digest_size=KEYED_DIGEST_SIZE, key=self._key, person=kind
        )
        digests = bytearray()
        for start in range(0, len(content), size):
            row = begun.copy()
            row.update(content[start : start + size])
            digests += row.digest()
        return np.frombuffer(digests, np.uint8).reshape(
            *rows.shape[:-1], KEYED_DIGEST_SIZE
        )


def distinct_digests(
    digests: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]:
    """Returns distinct keyed digests, and the index of each input among them.

    Args:
        digests: Shape (n, m, KEYED_DIGEST_SIZE).

    Returns:
        Distinct digests in increasing order, shape (k, KEYED_DIGEST_SIZE); index of each
        input among them, shape (n, m); which of them occur more than once, shape (k,).
    """
    # A fixed-size bytes dtype pads with zeros, so equal elements have equal bytes.
    texts: NDArray[Any] = np.ascontiguousarray(digests).view(_DTYPE)[..., 0]
    distinct, indices, counts = np.unique(
        texts, return_inverse=True, return_counts=True
    )
    rows = distinct.view(np.uint8).reshape(-1, KEYED_DIGEST_SIZE)
    return rows, indices.reshape(texts.shape), counts > 1
