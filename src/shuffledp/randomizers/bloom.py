"""Bloom filters: any string as a few set bits, the same on every device.

A string in cohort m sets the bits

    position_j = (word j of digest) mod num_bits,    j = 0, ..., num_hashes - 1,

where the digest is BLAKE2b (RFC 7693) of the string in UTF-8, unkeyed, with

    digest length   8 num_hashes bytes,
    salt            m as 4 bytes, least significant first, and 12 bytes of 0,
    personalization the 15 bytes "shuffledp-bloom" and 1 byte of 0,

and word j is its bytes 8j to 8j + 7, least significant first. Positions may coincide; then
fewer bits are set.

Cohorts hash differently: two strings that share a bit in one are apart in another.

Source: Erlingsson, Pihur, Korolova (2014), "RAPPOR", arXiv:1407.6981, section 2.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import int_array
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number

Strings: TypeAlias = Sequence[str] | NDArray[Any]

# BLAKE2b gives up to 64 bytes, 8 of them per position.
MAX_HASHES = 8
MAX_COHORTS = 2**32
MAX_BITS = 2**20

# Padded with bytes of 0 by hashlib, as the salt is.
_PERSON = b"shuffledp-bloom"
_WORD = 8


def bloom_filters(
    strings: Strings, cohorts: ArrayLike, *, num_bits: int, num_hashes: int
) -> NDArray[np.bool_]:
    """Returns the bits that each person's string sets, shape (n, num_bits).

    >>> bloom_filters(["a"], [0], num_bits=8, num_hashes=2).astype(int)
    array([[0, 1, 0, 1, 0, 0, 0, 0]])

    Args:
        strings: One per person, shape (n,).
        cohorts: Each person's cohort, in [0, 2**32), shape (n,).
        num_bits: Length of a filter.
        num_hashes: How many positions a string sets, 1 to 8.

    Raises:
        InvalidInputError: If shapes differ, or something is not a string or out of range.
    """
    positions = bloom_positions(
        strings, cohorts, num_bits=num_bits, num_hashes=num_hashes
    )
    bits = np.zeros((positions.shape[0], num_bits), dtype=np.bool_)
    for column in positions.T:
        bits[np.arange(column.size), column] = True
    return bits


def bloom_positions(
    strings: Strings, cohorts: ArrayLike, *, num_bits: int, num_hashes: int
) -> NDArray[np.int64]:
    """Returns the positions themselves, shape (n, num_hashes); see `bloom_filters`."""
    num_bits = whole_number(num_bits, "bits", least=1, most=MAX_BITS)
    num_hashes = whole_number(num_hashes, "hashes", least=1, most=MAX_HASHES)
    texts, numbers = as_strings(strings), int_array(cohorts, "cohorts")
    if len(texts) != numbers.size:
        raise InvalidInputError(
            f"Expected as many strings as cohorts, got {len(texts)} strings and "
            f"{numbers.size} cohorts."
        )
    if numbers.size == 0:
        return np.empty((0, num_hashes), dtype=np.int64)
    if numbers.min() < 0 or numbers.max() >= MAX_COHORTS:
        raise InvalidInputError("Expected cohorts in [0, 2**32).")
    # Hashed is every distinct pair of string and cohort, not every person.
    text_codes: dict[str, int] = {}
    codes = np.array([text_codes.setdefault(text, len(text_codes)) for text in texts])
    span = int(numbers.max()) + 1
    pairs, pair_of_user = np.unique(codes * span + numbers, return_inverse=True)
    encoded_texts = _encoded(list(text_codes))
    length = _WORD * num_hashes
    digests = b"".join(
        hashlib.blake2b(
            encoded_texts[pair // span],
            digest_size=length,
            salt=(pair % span).to_bytes(4, "little"),
            person=_PERSON,
        ).digest()
        for pair in pairs.tolist()
    )
    # Least significant byte first on every machine: all devices set the same bits.
    words = np.frombuffer(digests, dtype="<u8").reshape(-1, num_hashes)
    # Small positions are favored by num_bits / 2**64 at most, which no collection
    # could notice.
    positions: NDArray[np.int64] = (words % np.uint64(num_bits)).astype(np.int64)
    return positions[pair_of_user]


def as_strings(values: Strings, what: str = "strings") -> list[str]:
    """Returns a list of strings.

    Raises:
        InvalidInputError: If it is anything but a flat collection of strings.
    """
    if isinstance(values, str | bytes):
        raise InvalidInputError(
            f"Expected {what} as a flat list of text, not one text."
        )
    try:
        texts = list(values.tolist() if isinstance(values, np.ndarray) else values)
    except TypeError as error:
        raise InvalidInputError(f"Expected {what} as a flat list of text.") from error
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInputError(f"Expected {what} as a flat list of text.")
    return texts


def _encoded(texts: list[str]) -> list[bytes]:
    try:
        return [text.encode() for text in texts]
    except UnicodeEncodeError:
        pass
    # Outside of the handler: Python's own message would quote the string.
    raise InvalidInputError("Expected strings that UTF-8 can encode.")
