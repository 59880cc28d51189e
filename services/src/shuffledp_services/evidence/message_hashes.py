"""SHA-256 of sealed messages, as arrays of bytes and as text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError, InvalidInputError

SIZE = 32
KIND = f"S{SIZE}"
Hashes = NDArray[np.bytes_]


def checked_hashes(hashes: Hashes, what: str, *, dimensions: int) -> Hashes:
    """Validates and returns hashes of 32 bytes each.

    Raises:
        InvalidInputError: If they are anything else, or of another shape.
    """
    array = np.asarray(hashes)
    # NumPy makes an empty list an array of floats.
    if array.size == 0 and array.ndim == dimensions:
        return array.astype(KIND)
    if array.dtype != np.dtype(KIND) or array.ndim != dimensions:
        raise InvalidInputError(f"Expected {what} as hashes of {SIZE} bytes.")
    return array


def hashes_to_hex(hashes: Hashes) -> Any:
    """Returns hashes as hexadecimal texts, in lists as deep as the array."""
    if hashes.ndim > 1:
        return [hashes_to_hex(row) for row in hashes]
    # NumPy strips zero bytes at the end of fixed-size strings.
    return [digest.ljust(SIZE, b"\0").hex() for digest in hashes.tolist()]


def hashes_from_hex(value: object, what: str) -> list[bytes]:
    """Reads a list of hashes.

    Raises:
        DataError: If it is anything else.
    """
    if not isinstance(value, list):
        raise DataError(f"Expected {what} as a list of hashes.")
    return [hash_from_hex(text, what) for text in value]


def hash_from_hex(text: object, what: str) -> bytes:
    """Reads one hash of 64 lower-case hexadecimal digits.

    Raises:
        DataError: If it is anything else.
    """
    if not isinstance(text, str) or len(text) != 2 * SIZE:
        raise DataError(f"Expected {what} as {2 * SIZE} hexadecimal digits.")
    if set(text) - set("0123456789abcdef"):
        raise DataError(f"Expected {what} as {2 * SIZE} hexadecimal digits.")
    return bytes.fromhex(text)
