"""HPKE (RFC 9180) in base mode with a known ephemeral key, so that test vectors repeat.

Devices draw the ephemeral key of every message; here it is an argument. Nothing of the
library's sealing is used: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM.
"""

import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_X25519 = 0x0020
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
