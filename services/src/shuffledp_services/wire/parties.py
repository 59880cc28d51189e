"""Parties of a task, their public keys, and their agreement to the task.

    analyst    opens, certifies, counts and publishes
    shuffler   collects sealed reports, and hands them over without their senders
    enroller   decides who may answer, and commits to their number

A *public part* is a party's public key, signed with the secret key to prove its possession.
An *agreement* is a party's signature under the digest of the whole task.
"""

from enum import StrEnum
from typing import Any

from shuffledp_services.wire.canonical import from_text, to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signing import check_signed, signed, verify_key_of
from shuffledp_services.wire.task import KEY_SIZE, Task

_PART, _AGREEMENT = "public part", "agreement"


class Role(StrEnum):
    """Role of a party."""

    ANALYST = "analyst"
    SHUFFLER = "shuffler"
    ENROLLER = "enroller"

    def verify_key(self, task: Task) -> bytes:
        """Returns the key that a task names for this party's signatures."""
        keys = {
            Role.ANALYST: task.analyst_signing_key,
            Role.SHUFFLER: task.shuffler_signing_key,
            Role.ENROLLER: task.enroller_signing_key,
        }
        return keys[self]


def public_part(role: Role, signing_key: bytes) -> dict[str, Any]:
    """Returns the signed public key that a party sends to the analyst."""
    key = to_text(verify_key_of(signing_key))
    return signed(_PART, {"role": role.value, "signing_key": key}, signing_key)


def read_public_part(value: dict[str, Any], role: Role) -> bytes:
    """Verifies a public part, and returns its public key, 32 bytes.

    Raises:
        Refusal: If it is of another role, or not signed with the key in it.
    """
    if value.get("role") != role.value:
        raise Refusal(Reason.MALFORMED, f"Expected the public part of the {role}.")
    key = from_text(value.get("signing_key"), KEY_SIZE, "a public key")
    # Self-signed: proves possession of the secret key, and nothing about the owner.
    if set(check_signed(_PART, value, key)) != {"role", "signing_key"}:
        raise Refusal(Reason.MALFORMED, f"Expected the public part of the {role}.")
    return key


def agreement(role: Role, task: Task, signing_key: bytes) -> dict[str, Any]:
    """Returns a party's signature under a task."""
    # The role is signed, too: one agreement must not count for another party.
    value = {"role": role.value, "task": task.fingerprint}
    return signed(_AGREEMENT, value, signing_key)


def check_agreement(value: dict[str, Any], role: Role, task: Task) -> None:
    """Raises Refusal unless the party signed this task."""
    content = check_signed(_AGREEMENT, value, role.verify_key(task))
    if content != {"role": role.value, "task": task.fingerprint}:
        raise Refusal(
            Reason.SIGNATURE_FORGED, f"Expected the {role} to have signed this task."
        )
