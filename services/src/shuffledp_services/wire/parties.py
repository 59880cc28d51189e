"""Parties of a task, their public keys, and their agreement to the task.

    analyst    opens, certifies, counts and publishes
    shuffler   collects sealed reports, and hands them over without their senders
    enroller   decides who may answer, and commits to their number

A *public part* is a party's public key, signed with the secret key to prove its possession;
that of a shuffler which is to add noise also has its commitment to the dummies.
An *agreement* is a party's signature under the digest of the whole task.
"""

from enum import StrEnum
from typing import Any

from shuffledp_services.wire.canonical import from_text, to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signing import check_signed, signed, verify_key_of
from shuffledp_services.wire.task import (
    DIGEST_SIZE,
    DUMMY_COMMITMENT,
    KEY_SIZE,
    Task,
)

_PART, _AGREEMENT = "public part", "agreement"
_NAMES = {"role", "signing_key"}


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


def public_part(
    role: Role, signing_key: bytes, dummy_commitment: bytes | None = None
) -> dict[str, Any]:
    """Returns the signed public key that a party sends to the analyst.

    Args:
        role: The party.
        signing_key: Its secret key.
        dummy_commitment: Of a shuffler that adds noise, 32 bytes; None otherwise.
    """
    value = {"role": role.value, "signing_key": to_text(verify_key_of(signing_key))}
    if dummy_commitment is not None:
        value[DUMMY_COMMITMENT] = to_text(dummy_commitment)
    return signed(_PART, value, signing_key)


def read_public_part(value: dict[str, Any], role: Role) -> tuple[bytes, bytes | None]:
    """Verifies a public part; returns its public key and its commitment, 32 bytes each.

    Raises:
        Refusal: If it is of another role, or not signed with the key in it.
    """
    if value.get("role") != role.value:
        raise Refusal(Reason.MALFORMED, f"Expected the public part of the {role}.")
    key = from_text(value.get("signing_key"), KEY_SIZE, "a public key")
    # Self-signed: proves possession of the secret key, and nothing about the owner.
    names = set(check_signed(_PART, value, key))
    has_commitment = role is Role.SHUFFLER and DUMMY_COMMITMENT in names
    if names - ({DUMMY_COMMITMENT} if has_commitment else set()) != _NAMES:
        raise Refusal(Reason.MALFORMED, f"Expected the public part of the {role}.")
    if not has_commitment:
        return key, None
    return key, from_text(value[DUMMY_COMMITMENT], DIGEST_SIZE, "a commitment")


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
