"""Sealing whose ephemeral keys follow from a secret: the same bytes each time.

HPKE in base mode (RFC 9180), as in `sealing`, for the suite x25519: DHKEM(X25519,
HKDF-SHA256), HKDF-SHA256, AES-128-GCM. The cryptography library draws ephemeral keys by
itself, and takes none from outside. Here message i has the ephemeral key

    HMAC-SHA256(secret, i), i in 8 bytes,

so that the owner of the secret can seal the same messages again, and no other party can
tell them from others (HMAC-SHA256 is a pseudorandom function).
"""

import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shuffledp_services.wire.refusal import Reason, Refusal

# Identifiers of the key encapsulation, and of the suite, in labels of RFC 9180.
_KEM = b"KEM\x00\x20"
_SUITE = b"HPKE\x00\x20\x00\x01\x00\x01"
_BASE_MODE = b"\x00"
_KEY_SIZE, _NONCE_SIZE, _SECRET_SIZE = 16, 12, 32


class DerivedSealer:
    """Seals numbered messages for the holder of the private key."""

    def __init__(self, public_key: bytes, info: bytes, secret: bytes) -> None:
        """Begins with what all messages share.

        Args:
            public_key: Of the analyst, 32 bytes.
            info: The context of the messages, from `Step.info`.
            secret: That serves for these messages alone, 32 bytes.
        """
        self._public_key, self._secret = public_key, secret
        self._key = X25519PublicKey.from_public_bytes(public_key)
        self._context = b"".join(
            (
                _BASE_MODE,
                _extract(_SUITE, b"", b"psk_id_hash", b""),
                _extract(_SUITE, b"", b"info_hash", info),
            )
        )

    def seal(self, message: bytes, index: int) -> bytes:
        """Returns the encapsulated key, 32 bytes, and the encrypted message with its tag.

        Args:
            message: The plain message.
            index: Its number, which no other message of this secret has.

        Raises:
            Refusal: If the public key is a weak point.
        """
        key = hmac.digest(self._secret, index.to_bytes(8, "big"), "sha256")
        ephemeral = X25519PrivateKey.from_private_bytes(key)
        enc = ephemeral.public_key().public_bytes_raw()
        try:
            shared = ephemeral.exchange(self._key)
        except ValueError as error:
            # A point of small order has the same shared secret for every sender.
            raise Refusal(Reason.MALFORMED, "Expected a key that hides.") from error
        # Section 4.1 of the RFC, ExtractAndExpand; then 5.1, without a preshared key.
        root = _extract(_KEM, b"", b"eae_prk", shared)
        both = enc + self._public_key
        secret = _expand(_KEM, root, b"shared_secret", both, _SECRET_SIZE)
        root = _extract(_SUITE, secret, b"secret", b"")
        sealing_key = _expand(_SUITE, root, b"key", self._context, _KEY_SIZE)
        # Each key seals one message, whose nonce is the base nonce.
        nonce = _expand(_SUITE, root, b"base_nonce", self._context, _NONCE_SIZE)
        return enc + AESGCM(sealing_key).encrypt(nonce, message, b"")


def _extract(suite: bytes, salt: bytes, label: bytes, content: bytes) -> bytes:
    labeled = b"HPKE-v1" + suite + label + content
    return hmac.digest(salt or bytes(_SECRET_SIZE), labeled, "sha256")


def _expand(suite: bytes, key: bytes, label: bytes, info: bytes, size: int) -> bytes:
    labeled = size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    # One block of HKDF has 32 bytes, the most that is needed.
    return hmac.digest(key, labeled + b"\x01", "sha256")[:size]
