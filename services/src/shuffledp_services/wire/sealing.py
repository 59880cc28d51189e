"""Sealing of messages for the analyst, so that the shuffler cannot read them.

HPKE in base mode (RFC 9180). The context of a message goes into `info`: task, epoch, stage,
published plan and, where a level stays with its message, the level. A message that was
sealed in another context cannot be opened.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

# Checked first, for an error that names the extra to install.
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.mlkem import (
    MLKEM768PrivateKey,
    MLKEM768PublicKey,
)
from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)

from shuffledp_services.wire.refusal import Reason, Refusal

_PrivateKey: TypeAlias = X25519PrivateKey | hpke.MLKEM768X25519PrivateKey
_PublicKey: TypeAlias = X25519PublicKey | hpke.MLKEM768X25519PublicKey

_TAG_SIZE = 16
_X25519_SIZE = 32
_MLKEM_SEED_SIZE = 64
_MLKEM_PUBLIC_SIZE = 1184


class Suite(StrEnum):
    """HPKE suite: HKDF-SHA256 and AES-128-GCM with one of two key encapsulations.

    X_WING combines ML-KEM-768 with X25519 against future quantum computers, at 1,088 bytes
    more per message.
    """

    X25519 = "x25519"
    X_WING = "x-wing"

    @property
    def words(self) -> str:
        """The name of the suite for display."""
        keys = "X25519" if self is Suite.X25519 else "X25519 and ML-KEM-768"
        return f"{keys} (HPKE, RFC 9180)"

    @property
    def overhead(self) -> int:
        """Bytes that sealing adds to a message."""
        return self._kem.enc_length() + _TAG_SIZE

    @property
    def public_size(self) -> int:
        """Bytes of a public key."""
        return _X25519_SIZE + (_MLKEM_PUBLIC_SIZE if self is Suite.X_WING else 0)

    @property
    def private_size(self) -> int:
        """Bytes of a private key."""
        return _X25519_SIZE + (_MLKEM_SEED_SIZE if self is Suite.X_WING else 0)

    @property
    def _kem(self) -> hpke.KEM:
        x_wing = self is Suite.X_WING
        return hpke.KEM.MLKEM768_X25519 if x_wing else hpke.KEM.X25519

    def hpke(self) -> hpke.Suite:
        """Returns the RFC 9180 suite of the cryptography library."""
        return hpke.Suite(self._kem, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)


def new_private_key(suite: Suite) -> bytes:
    """Draws a private key from the operating system."""
    x25519_bytes = X25519PrivateKey.generate().private_bytes_raw()
    if suite is Suite.X_WING:
        # ML-KEM first and X25519 last, as in public keys.
        return MLKEM768PrivateKey.generate().private_bytes_raw() + x25519_bytes
    return x25519_bytes


def public_key_of(suite: Suite, private: bytes) -> bytes:
    """Returns the public key of a private key."""
    x25519_key = X25519PrivateKey.from_private_bytes(private[-_X25519_SIZE:])
    x25519_public = x25519_key.public_key().public_bytes_raw()
    if suite is Suite.X_WING:
        ml_kem_key = MLKEM768PrivateKey.from_seed_bytes(private[:_MLKEM_SEED_SIZE])
        return ml_kem_key.public_key().public_bytes_raw() + x25519_public
    return x25519_public


@dataclass(frozen=True, eq=False)
class Sealer:
    """Seals messages on devices, for the holder of the private key.

    Attributes:
        suite: The HPKE suite.
        public_key: Of the analyst, `suite.public_size` bytes.
        info: The context of the messages, from `Step.info`.
    """

    suite: Suite
    public_key: bytes
    info: bytes

    def seal(self, messages: list[bytes]) -> list[bytes]:
        """Returns the sealed messages, each longer by `suite.overhead`.

        Raises:
            Refusal: If the public key is not of this suite, or is a weak point.
        """
        key, primitives = self._key(), self.suite.hpke()
        try:
            return [primitives.encrypt(message, key, self.info) for message in messages]
        except ValueError as error:
            # A point of small order has the same shared secret for every sender.
            raise Refusal(Reason.MALFORMED, "Expected a key that hides.") from error

    def _key(self) -> _PublicKey:
        # Checked first: the slices below would accept a longer key.
        if len(self.public_key) != self.suite.public_size:
            raise Refusal(
                Reason.MALFORMED, "Expected a public key of the task's suite."
            )
        x25519_key = X25519PublicKey.from_public_bytes(self.public_key[-_X25519_SIZE:])
        if self.suite is not Suite.X_WING:
            return x25519_key
        try:
            ml_kem_key = MLKEM768PublicKey.from_public_bytes(
                self.public_key[:-_X25519_SIZE]
            )
        except ValueError as error:
            raise Refusal(Reason.MALFORMED, "Expected an ML-KEM public key.") from error
        return hpke.MLKEM768X25519PublicKey(ml_kem_key, x25519_key)


class Opener:
    """Opens messages with the analyst's private key."""

    def __init__(self, suite: Suite, private_key: bytes, info: bytes) -> None:
        if len(private_key) != suite.private_size:
            raise Refusal(
                Reason.MALFORMED, "Expected a private key of the task's suite."
            )
        x25519_key = X25519PrivateKey.from_private_bytes(private_key[-_X25519_SIZE:])
        key: _PrivateKey = x25519_key
        if suite is Suite.X_WING:
            ml_kem_key = MLKEM768PrivateKey.from_seed_bytes(
                private_key[:_MLKEM_SEED_SIZE]
            )
            key = hpke.MLKEM768X25519PrivateKey(ml_kem_key, x25519_key)
        self._key, self._info, self._primitives = key, info, suite.hpke()

    def open(self, sealed: bytes | memoryview) -> bytes | None:
        """Returns the decrypted message; None if sealed in another context, or changed."""
        try:
            return self._primitives.decrypt(sealed, self._key, self._info)
        # Not a refusal: single messages that cannot be opened are counted as invalid.
        except (InvalidTag, ValueError):
            return None

    def open_all(self, sealed: bytes, size: int) -> list[bytes | None]:
        """Opens every message as `open` does.

        Args:
            sealed: Concatenated sealed messages.
            size: Bytes of each.
        """
        starts = range(0, len(sealed), size)
        return [self.open(sealed[start : start + size]) for start in starts]
