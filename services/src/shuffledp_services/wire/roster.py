"""Roster of an epoch: the signed list of the digests of its tokens.

    "SDPT", version 1, length of the header 4, header (signed canonical JSON),
    digests of 16 bytes, in increasing order

The header is the *enrolment*, signed by the enroller: it commits to the number of tokens
before the first one is used, and is part of every batch.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp_services.wire.canonical import (
    canonical,
    from_text,
    read_object,
    sha256,
    to_text,
)
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signing import check_signed, signed
from shuffledp_services.wire.step import MAX_EPOCH
from shuffledp_services.wire.task import MAX_PEOPLE, Task
from shuffledp_services.wire.tokens import NONCE_SIZE, TOKEN_SIZE, TokenDigests

_MAGIC = b"SDPT\x01"
_BEGIN = len(_MAGIC) + 4
_PURPOSE = "enrolment"
_NAMES = frozenset({"task", "epoch", "tokens", "sha256"})
# NumPy bytes of a fixed size: equal elements have equal bytes.
_TEXT = f"S{NONCE_SIZE}"


@dataclass(frozen=True)
class Enrolment:
    """Commitment to the tokens of an epoch.

    Attributes:
        epoch: From 1.
        tokens: The number of tokens.
        sha256: Of the concatenated digests, 32 bytes.
        document: The signed document as canonical text.
    """

    epoch: int
    tokens: int
    sha256: bytes
    document: bytes

    def to_dict(self) -> dict[str, Any]:
        """Returns the signed document."""
        return read_object(self.document, "an enrolment")

    @classmethod
    def read(cls, value: object, task: Task) -> "Enrolment":
        """Parses and verifies a signed enrolment.

        Raises:
            Refusal: If it is malformed, or the task's enroller did not sign it for this
                task.
        """
        if not isinstance(value, dict):
            raise Refusal(Reason.MALFORMED, "Expected a signed enrolment.")
        content = check_signed(_PURPOSE, value, task.enroller_signing_key)
        if set(content) != _NAMES:
            raise Refusal(
                Reason.MALFORMED, f"Expected an enrolment of {sorted(_NAMES)}."
            )
        epoch, tokens = content["epoch"], content["tokens"]
        # `type`, not `isinstance`: True is an int.
        if type(epoch) is not int or type(tokens) is not int:
            raise Refusal(Reason.MALFORMED, "Expected whole numbers.")
        if not (1 <= epoch <= MAX_EPOCH and 1 <= tokens <= MAX_PEOPLE):
            raise Refusal(Reason.MALFORMED, "Expected an epoch, and tokens for it.")
        # An enroller may use one key for several tasks.
        if from_text(content["task"], 32, "a digest") != task.digest:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected an enrolment for this task.")
        digest = from_text(content["sha256"], 32, "a digest")
        return cls(epoch, tokens, digest, canonical(value))


@dataclass(frozen=True, eq=False)
class Roster:
    """Digests of all tokens of an epoch.

    Attributes:
        task: The task.
        enrolment: The signed commitment.
        digests: In increasing order, shape (tokens, 16).
    """

    task: Task
    enrolment: Enrolment
    digests: NDArray[np.uint8]

    @cached_property
    def _texts(self) -> NDArray[np.bytes_]:
        return self.digests.view(_TEXT).ravel()

    @cached_property
    def _token_digests(self) -> TokenDigests:
        return TokenDigests(self.task.digest, self.enrolment.epoch)

    def valid(self, token: bytes) -> bool:
        """Tells whether a token is on the roster."""
        if len(token) != TOKEN_SIZE:
            return False
        digest = self._token_digests.of(token)
        index = int(self._texts.searchsorted(digest))
        # A digest above the last one has an index past the end, and the slice no bytes.
        return self.digests[index : index + 1].tobytes() == digest

    def find(self, tokens: bytes) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Returns the digests of tokens, and whether each is on the roster.

        Args:
            tokens: Concatenated, `TOKEN_SIZE` bytes each.

        Returns:
            Shapes (n, 16) and (n,).
        """
        digests = self._token_digests.of_all(tokens)
        texts = digests.view(_TEXT).ravel()
        indices = np.searchsorted(self._texts, texts)
        # A digest above the last one has an index past the end.
        listed = self._texts[np.minimum(indices, self._texts.size - 1)] == texts
        return digests, listed


def write_roster(
    task: Task, epoch: int, tokens: list[bytes], signing_key: bytes
) -> bytes:
    """Encodes and signs the roster of an epoch.

    Args:
        task: The task.
        epoch: From 1.
        tokens: All tokens, in any order.
        signing_key: The enroller's.

    Raises:
        InvalidInputError: If there is no token, one occurs twice, or the epoch is out of
            range.
    """
    if not 1 <= epoch <= MAX_EPOCH or not tokens:
        raise InvalidInputError("Expected tokens for an epoch from 1.")
    unsorted = TokenDigests(task.digest, epoch).of_all(b"".join(tokens))
    # Sorting hides the order in which tokens were drawn and handed out.
    sorted_texts = np.unique(unsorted.view(_TEXT).ravel())
    if sorted_texts.size != len(tokens):
        raise InvalidInputError("Expected every token once.")
    digests = sorted_texts.tobytes()
    header = {
        "task": to_text(task.digest),
        "epoch": epoch,
        "tokens": len(tokens),
        "sha256": to_text(sha256(digests)),
    }
    text = canonical(signed(_PURPOSE, header, signing_key))
    return b"".join((_MAGIC, len(text).to_bytes(4, "big"), text, digests))


def read_roster(content: bytes, task: Task) -> Roster:
    """Parses and verifies the output of `write_roster`.

    Raises:
        Refusal: If it is malformed, not signed by the task's enroller, or was changed.
    """
    if content[: len(_MAGIC)] != _MAGIC or len(content) < _BEGIN:
        raise Refusal(Reason.MALFORMED, "Expected a roster of version 1.")
    end = _BEGIN + int.from_bytes(content[len(_MAGIC) : _BEGIN], "big")
    enrolment = Enrolment.read(read_object(content[_BEGIN:end], "a roster"), task)
    digests = content[end:]
    # The commitment covers the number of digests and their content.
    whole = len(digests) == enrolment.tokens * NONCE_SIZE
    if not whole or sha256(digests) != enrolment.sha256:
        raise Refusal(Reason.WRONG_SIZE, "Expected the digests that were signed.")
    rows = np.frombuffer(digests, np.uint8).reshape(-1, NONCE_SIZE)
    texts = rows.view(_TEXT).ravel()
    # Strictly increasing, so that no token counts twice; `find` searches in this order.
    if not (texts[1:] > texts[:-1]).all():
        raise Refusal(Reason.MALFORMED, "Expected digests in increasing order.")
    return Roster(task, enrolment, rows)
