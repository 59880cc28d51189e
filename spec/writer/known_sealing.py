"""HPKE (RFC 9180) in base mode with a known ephemeral key, so that test vectors repeat.

Devices draw the ephemeral key of every message; here it is an argument. Nothing of the
library's sealing is used: DHKEM(X25519, HKDF-SHA256) or X-Wing, HKDF-SHA256, AES-128-GCM.
"""

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from known_ml_kem import encapsulate_with

_X25519, _X_WING = 0x0020, 0x647A
_KEM = b"KEM\x00\x20"


def seal_with(
    ephemeral_key: bytes, public_key: bytes, info: bytes, message: bytes
) -> bytes:
    """Returns the encapsulated key, 32 bytes, and the encrypted message with its tag."""
    ephemeral = X25519PrivateKey.from_private_bytes(ephemeral_key)
    enc = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public_key))
    # RFC 9180, section 4.1: ExtractAndExpand.
    pseudorandom = _extract(_KEM, b"", b"eae_prk", shared)
    secret = _expand(_KEM, pseudorandom, b"shared_secret", enc + public_key, 32)
    key, nonce = key_schedule(_X25519, secret, info)
    return enc + AESGCM(key).encrypt(nonce, message, b"")


def seal_with_x_wing(
    randomness: bytes, public_key: bytes, info: bytes, message: bytes
) -> tuple[bytes, bytes]:
    """Returns the shared secret, and the sealed message as above.

    Args:
        randomness: That of ML-KEM-768, and the ephemeral key of X25519, 32 bytes each.
        public_key: That of ML-KEM-768, and that of X25519.
        info: The context.
        message: To seal.
    """
    secret, ciphertext = encapsulate_with(randomness[:32], public_key[:-32])
    ephemeral = X25519PrivateKey.from_private_bytes(randomness[32:])
    point = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public_key[-32:]))
    combined = secret + shared + point + public_key[-32:] + b"\\.//^\\"
    shared = hashlib.sha3_256(combined).digest()
    key, nonce = key_schedule(_X_WING, shared, info)
    return shared, ciphertext + point + AESGCM(key).encrypt(nonce, message, b"")


def key_schedule(kem: int, secret: bytes, info: bytes) -> tuple[bytes, bytes]:
    """Returns key and first nonce of RFC 9180, section 5.1, without a preshared key.

    Args:
        kem: Identifier of the key encapsulation.
        secret: That it shared, 32 bytes.
        info: The context.
    """
    # HKDF-SHA256 and AES-128-GCM.
    suite = b"HPKE" + kem.to_bytes(2, "big") + b"\x00\x01\x00\x01"
    context = b"".join(
        (
            b"\x00",
            _extract(suite, b"", b"psk_id_hash", b""),
            _extract(suite, b"", b"info_hash", info),
        )
    )
    root = _extract(suite, secret, b"secret", b"")
    # The first nonce is the base nonce itself.
    return (
        _expand(suite, root, b"key", context, 16),
        _expand(suite, root, b"base_nonce", context, 12),
    )


def _extract(suite: bytes, salt: bytes, label: bytes, content: bytes) -> bytes:
    return hmac.digest(
        salt or bytes(32), b"HPKE-v1" + suite + label + content, "sha256"
    )


def _expand(suite: bytes, key: bytes, label: bytes, info: bytes, size: int) -> bytes:
    begin = size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    # One block of HKDF is 32 bytes, as much as is ever needed here.
    return hmac.digest(key, begin + b"\x01", "sha256")[:size]
