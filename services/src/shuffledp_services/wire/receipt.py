"""Signed receipt of an upload: the accepted and the refused reports."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shuffledp_services.wire.canonical import from_text, sha256, to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signing import check_signed, signed_text

_PURPOSE = "receipt"
_NAMES = frozenset({"task", "epoch", "stage", "messages", "accepted", "refused"})
# Member of receipts for answers that follow a plan, and of no others.
_PLAN = "plan"


@dataclass(frozen=True)
class Receipt:
    """Receipt of an upload, issued once all accepted reports are on the disk.

    Attributes:
        task: SHA-256 of the task.
        epoch: Of the upload.
        stage: Of the upload.
        messages: SHA-256 of the concatenated SHA-256 of all its sealed messages. The owner
            of a receipt can prove by these hashes alone for which messages it was issued.
            Tokens and levels are not covered, as their values could be guessed.
        accepted: The number of accepted reports.
        refused: (position in the upload, reason) of each refused report.
        plan: Digest of the plan that the answers follow, 32 bytes, if any: participants
            who compare receipts detect different plans.
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
        # Omitted, not null, without a plan: the signed text depends on it.
        plan = {} if self.plan is None else {_PLAN: self.plan.hex()}
        value = {
            **plan,
            "task": to_text(self.task),
            "epoch": self.epoch,
            "stage": self.stage,
            "messages": to_text(self.messages),
            "accepted": self.accepted,
            "refused": [[position, reason.value] for position, reason in self.refused],
        }
        return signed_text(_PURPOSE, value, signing_key)

    @classmethod
    def read(cls, value: dict[str, Any], verify_key: bytes) -> "Receipt":
        """Parses and verifies a receipt.

        Raises:
            Refusal: If the shuffler did not sign it.
        """
        content = check_signed(_PURPOSE, value, verify_key)
        if set(content) - {_PLAN} != _NAMES:
            raise Refusal(Reason.MALFORMED, f"Expected a receipt of {sorted(_NAMES)}.")
        numbers = [content[name] for name in ("epoch", "stage", "accepted")]
        # `type`, not `isinstance`: True is an int.
        if any(type(number) is not int or number < 0 for number in numbers):
            raise Refusal(Reason.MALFORMED, "Expected whole numbers from 0.")
        return cls(
            from_text(content["task"], 32, "a digest"),
            content["epoch"],
            content["stage"],
            from_text(content["messages"], 32, "a digest"),
            content["accepted"],
            _refused(content["refused"]),
            _digest(content[_PLAN]) if _PLAN in content else None,
        )


def messages_digest(hashes: Iterable[bytes]) -> bytes:
    """Returns the digest of an upload's messages for its receipt, 32 bytes.

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
        # A position, not True or False.
        and type(entry[0]) is int
        and entry[1] in list(Reason)
        for entry in value
    ):
        return tuple((position, Reason(reason)) for position, reason in value)
    raise Refusal(Reason.MALFORMED, "Expected positions and reasons.")
