"""HPKE in base mode, written from RFC 9180 with plain X25519, HMAC and AES-GCM.

Only for DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, and the first message of a
context.
"""

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_KEM_ID = b"KEM" + (0x0020).to_bytes(2, "big")
_SUITE_ID = b"HPKE" + b"".join(
    number.to_bytes(2, "big") for number in (0x0020, 0x0001, 0x0001)
)


def public_of(private: bytes) -> bytes:
    key = X25519PrivateKey.from_private_bytes(private).public_key()
    return key.public_bytes_raw()


def seal(
    message: bytes, *, recipient: bytes, ephemeral: bytes, info: bytes, aad: bytes = b""
) -> bytes:
    """Returns enc followed by the sealed message.

    Args:
        message: The plain text.
        recipient: Public key of the recipient.
        ephemeral: Private key, which real senders draw at random.
        info: Of the key schedule.
        aad: Of the cipher.
    """
    own = X25519PrivateKey.from_private_bytes(ephemeral)
    shared = own.exchange(X25519PublicKey.from_public_bytes(recipient))
    enc = public_of(ephemeral)
    secret = _extract_and_expand(shared, enc + recipient)
    key, nonce = _schedule(secret, info)
    return enc + AESGCM(key).encrypt(nonce, message, aad)


def _extract_and_expand(shared: bytes, context: bytes) -> bytes:
    eae = _extract(b"", b"eae_prk", shared, _KEM_ID)
    return _expand(eae, b"shared_secret", context, 32, _KEM_ID)


def _schedule(secret: bytes, info: bytes) -> tuple[bytes, bytes]:
    psk_id = _extract(b"", b"psk_id_hash", b"", _SUITE_ID)
    context = b"\0" + psk_id + _extract(b"", b"info_hash", info, _SUITE_ID)
    base = _extract(secret, b"secret", b"", _SUITE_ID)
    return (
        _expand(base, b"key", context, 16, _SUITE_ID),
        _expand(base, b"base_nonce", context, 12, _SUITE_ID),
    )


def _extract(salt: bytes, label: bytes, content: bytes, suite: bytes) -> bytes:
    text = b"HPKE-v1" + suite + label + content
    return hmac.new(salt or bytes(32), text, hashlib.sha256).digest()


def _expand(
    key: bytes, label: bytes, context: bytes, length: int, suite: bytes
) -> bytes:
    text = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + context
    return hmac.new(key, text + b"\x01", hashlib.sha256).digest()[:length]
