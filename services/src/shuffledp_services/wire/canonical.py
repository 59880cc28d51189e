"""Canonical JSON: one text per value, so that all parties hash and sign equal bytes."""

import base64
import binascii
import hashlib
import json
import math
from typing import Any

from shuffledp.errors import DataError
from shuffledp.strict_json import read_json
from shuffledp_services.wire.refusal import Reason, Refusal

# Made once: to make it takes as long as to encode a receipt.
_ENCODER = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    # NaN and infinity have no JSON text.
    allow_nan=False,
)


def canonical(value: dict[str, Any]) -> bytes:
    """Returns JSON in UTF-8 with sorted names and no spaces; rejects NaN."""
    return _ENCODER.encode(value).encode()


def sha256(content: bytes | memoryview) -> bytes:
    """Returns the SHA-256 of the content, 32 bytes."""
    return hashlib.sha256(content).digest()


def to_text(content: bytes) -> str:
    """Encodes bytes as unpadded base64url."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def from_text(text: object, size: int, what: str) -> bytes:
    """Decodes unpadded base64url of `size` bytes.

    Raises:
        Refusal: If the value is anything else.
    """
    if isinstance(text, str):
        try:
            # The decoder wants padding to a multiple of 4, and skips foreign characters
            # unless `validate` is set.
            content = base64.b64decode(
                text + "=" * (-len(text) % 4), altchars=b"-_", validate=True
            )
        except (binascii.Error, ValueError):
            content = b""
        # Canonical only: the unused bits of the last letter must be zero.
        if len(content) == size and to_text(content) == text:
            return content
    raise Refusal(Reason.MALFORMED, f"Expected {what} as {size} bytes in base64url.")


def read_object(content: bytes | str, what: str) -> dict[str, Any]:
    """Parses one JSON object.

    Raises:
        Refusal: If the content is anything else, names a member twice, nests deeply, or
            has a value without canonical text.
    """
    try:
        # `strict_json` refuses repeated names and deep nesting, which parsers treat
        # differently.
        return read_json(content, what)
    except DataError:
        raise Refusal(
            Reason.MALFORMED, f"Expected {what} as one JSON object."
        ) from None


def to_number(value: object, what: str) -> float:
    """Returns a finite number as float.

    Raises:
        Refusal: If the value is anything else, or out of the range of floats.
    """
    # True is an int, and no number on the wire.
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            if math.isfinite(value):
                return float(value)
        # An integer above the largest float, about 1.8e308.
        except OverflowError:
            pass
    raise Refusal(Reason.MALFORMED, f"Expected {what} as a finite number.")


def is_text(value: object, longest: int) -> bool:
    """Tells whether a value is a non-blank text that can be encoded as UTF-8."""
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        return False
    # A lone surrogate, as truncated input leaves it, has no UTF-8 encoding.
    return not any("\ud800" <= character <= "\udfff" for character in value)
