"""What the shuffler answers to an upload: what it keeps, and what it does not."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shuffledp.service.wire.canonical import from_text, sha256, to_text
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.signing import check_signed, signed_text

_PURPOSE = "receipt"
_NAMES = frozenset({"task", "epoch", "stage", "messages", "accepted", "refused"})
# Of answers that follow a plan alone.
_PLAN = "plan"


@dataclass(frozen=True)
class Receipt:
    """Given once everything that is accepted is on the disk.

    Attributes:
        task: SHA-256 of the task.
        epoch: Of the upload.
        stage: Of the upload.
        messages: SHA-256 of the SHA-256 of all its sealed messages, one after the other:
            whoever was given a receipt can show for which messages, by their hashes alone.
            It says nothing of tokens and levels, which could be tried one by one.
        accepted: How many of its reports are kept.
        refused: (position in the upload, reason) of each other one.
        plan: Digest of the plan that its answers follow, 32 bytes: people who compare
            receipts find out whether all of them were shown the same. None without one.
    """

    task: bytes
    epoch: int
    stage: int
    messages: bytes
    accepted: int
    refused: tuple[tuple[int, Reason], ...]
    plan: bytes | None = None

    def signed(self, signing_key: bytes) -> bytes:
        """Returns the document that is sent."""
        plan = {} if self.plan is None else {_PLAN: self.plan.hex()}
        value = {
            **plan,
            "task": to_text(self.task),
            "epoch": self.epoch,
            "stage": self.stage,
            "messages": to_text(self.messages),
            "accepted": self.accepted,
            "refused": [[place, reason.value] for place, reason in self.refused],
        }
        return signed_text(_PURPOSE, value, signing_key)

    @classmethod
    def read(cls, value: dict[str, Any], verify_key: bytes) -> "Receipt":
        """Reads a signed receipt.

        Raises:
            Refusal: If the shuffler did not sign it.
        """
        rest = check_signed(_PURPOSE, value, verify_key)
        if set(rest) - {_PLAN} != _NAMES:
            raise Refusal(Reason.MALFORMED, f"Expected a receipt of {sorted(_NAMES)}.")
        numbers = [rest[name] for name in ("epoch", "stage", "accepted")]
        if any(type(number) is not int or number < 0 for number in numbers):
            raise Refusal(Reason.MALFORMED, "Expected whole numbers from 0.")
        return cls(
            from_text(rest["task"], 32, "a digest"),
            rest["epoch"],
            rest["stage"],
            from_text(rest["messages"], 32, "a digest"),
            rest["accepted"],
            _refused(rest["refused"]),
            _digest(rest[_PLAN]) if _PLAN in rest else None,
        )


def messages_digest(hashes: Iterable[bytes]) -> bytes:
    """Returns what a receipt says of the messages of an upload, 32 bytes.

    Args:
        hashes: SHA-256 of each sealed message, in the order of the upload.
    """
    return sha256(b"".join(hashes))


def _digest(value: object) -> bytes:
    if isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value):
        return bytes.fromhex(value)
    raise Refusal(Reason.MALFORMED, "Expected the digest of a plan.")


def _refused(value: object) -> tuple[tuple[int, Reason], ...]:
    if isinstance(value, list) and all(
        isinstance(entry, list)
        and len(entry) == 2
        and type(entry[0]) is int
        and entry[1] in list(Reason)
        for entry in value
    ):
        return tuple((place, Reason(reason)) for place, reason in value)
    raise Refusal(Reason.MALFORMED, "Expected positions and reasons.")
