"""Ed25519 signatures over canonical JSON, each bound to one purpose."""

from functools import lru_cache
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from shuffledp_services.wire.canonical import canonical, from_text, to_text
from shuffledp_services.wire.refusal import Reason, Refusal

SIGNATURE_SIZE = 64


def new_signing_key() -> bytes:
    """Draws a signing key from the operating system, 32 bytes."""
    return Ed25519PrivateKey.generate().private_bytes_raw()


def verify_key_of(signing_key: bytes) -> bytes:
    """Returns the public key, 32 bytes."""
    key = Ed25519PrivateKey.from_private_bytes(signing_key)
    return key.public_key().public_bytes_raw()


def signed(purpose: str, value: dict[str, Any], signing_key: bytes) -> dict[str, Any]:
    """Returns the value with its signature in base64url as member "signature"."""
    signature = _key(signing_key).sign(_text(purpose, canonical(value)))
    return {**value, "signature": to_text(signature)}


def signed_text(purpose: str, value: dict[str, Any], signing_key: bytes) -> bytes:
    """Returns the output of `signed` as JSON."""
    # Encodes the value once: the signature is appended to the text.
    text = canonical(value)
    signature = to_text(_key(signing_key).sign(_text(purpose, text)))
    # In place of the closing brace: readers parse, so that members have any order.
    return b'%b,"signature":"%b"}' % (text[:-1], signature.encode())


@lru_cache(maxsize=16)
def _key(signing_key: bytes) -> Ed25519PrivateKey:
    # Cached, as loading a key computes its public half, which takes as long as signing.
    return Ed25519PrivateKey.from_private_bytes(signing_key)


def check_signed(
    purpose: str, value: dict[str, Any], verify_key: bytes
) -> dict[str, Any]:
    """Verifies a signature, and returns the value without it.

    Raises:
        Refusal: If the holder of the key did not sign the value for this purpose.
    """
    content = {name: entry for name, entry in value.items() if name != "signature"}
    signature = from_text(value.get("signature"), SIGNATURE_SIZE, "a signature")
    try:
        Ed25519PublicKey.from_public_bytes(verify_key).verify(
            signature, _text(purpose, canonical(content))
        )
    except (InvalidSignature, ValueError) as error:
        raise Refusal(
            Reason.SIGNATURE_FORGED, f"Expected the {purpose} to be signed."
        ) from error
    return content


def _text(purpose: str, text: bytes) -> bytes:
    # Domain separation: a signature for one purpose is invalid for any other.
    return b"shuffledp " + purpose.encode() + b" 1\0" + text
