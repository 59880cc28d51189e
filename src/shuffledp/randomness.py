"""Sources of randomness: seeded generators, the operating system, and keyed streams.

Simulations pass `numpy.random.default_rng(seed)` and can be repeated. Code that handles
real users' data - a device, a shuffler - passes `SystemRandom()`: NumPy's generators
are fast but predictable from their output, and predictable noise protects no value.
Code that runs the devices' randomizers on many machines, where work may be repeated,
passes `KeyedRandom`.
"""

import os
from abc import ABC, abstractmethod
from copy import copy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_whole, int_array
from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.types import Floats, Ints

_FOR_DEVICES = (
    "Expected a shuffle to draw from SystemRandom() or a seeded generator: KeyedRandom is "
    "for devices."
)
_SECRET_SIZE, _KEY_SIZE, _BLOCK = 16, 32, 16
# More bytes than an address can name would not fit into any memory.
MAX_DRAWS = 2**56
_PURPOSE = b"shuffledp randomness of people 1"


class _Words(ABC):
    """The part of `numpy.random.Generator` that randomizers use, from words of 64 bits."""

    def random(self, size: int) -> Floats:
        """Draws `size` multiples of 2**-53, uniform on [0, 1)."""
        # 53 of the 64 bits: as many as the significand of a double holds.
        high_bits = self._words(_size(size)) >> np.uint64(11)
        return high_bits.astype(np.float64) * 2.0**-53

    def integers(self, low: int, high: int, size: int) -> NDArray[np.int64]:
        """Draws `size` integers, exactly uniform on [low, high)."""
        span = as_whole(high, "the end") - as_whole(low, "the start")
        if not 0 < span <= 2**63:
            raise InvalidInputError(
                f"Expected a start below the end, got {low} and {high}."
            )
        # Words past the last multiple of span would favor small results: redraw them.
        limit = np.uint64(2**64 - 1 - 2**64 % span)
        words = self._words(_size(size))
        while (bad := np.flatnonzero(words > limit)).size:
            words[bad] = self._redrawn(bad, size)
        return (words % np.uint64(span)).astype(np.int64) + low

    @abstractmethod
    def _words(self, size: int) -> NDArray[np.uint64]:
        """Draws `size` independent uniform words."""

    @abstractmethod
    def _redrawn(self, bad: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
        """Draws new words for the positions `bad` of `size` that were drawn together."""


class SystemRandom(_Words):
    """The part of `numpy.random.Generator` that shuffledp uses, fed by `os.urandom`.

    >>> throws = SystemRandom().integers(1, 7, size=1_000)
    >>> sorted(set(throws.tolist()))
    [1, 2, 3, 4, 5, 6]
    """

    def permutation(self, x: int) -> NDArray[np.int64]:
        """Draws one of the x! orders of 0, ..., x - 1, each equally likely."""
        while True:
            # Sorting independent keys gives every order the same probability if no two
            # are equal.
            keys = self._words(_size(x))
            order = np.argsort(keys)
            ordered = keys[order]
            # Otherwise all are drawn again: probability below 3e-6 at x = 10^7.
            if not np.any(ordered[1:] == ordered[:-1]):
                return order

    def _words(self, size: int) -> NDArray[np.uint64]:
        # An array over bytes would be read-only; `integers` replaces words in it.
        return np.frombuffer(bytearray(os.urandom(8 * size)), dtype=np.uint64)

    def _redrawn(self, bad: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
        return self._words(bad.size)


class KeyedRandom(_Words):
    """An independent, reproducible stream of random numbers for each user.

    A user's draws depend on the key and on their digest alone, not on the other users,
    their order, or how the work was divided: repeated work gives the same messages.
    Without the secret, streams are indistinguishable from random bits (AES is a
    pseudorandom permutation; all digests are of one length). Numbers drawn in one call are
    ordered user by user, equally many for each.

    >>> people = np.arange(32, dtype=np.uint8).reshape(2, 16)
    >>> both = KeyedRandom(bytes(32), people)
    >>> second = KeyedRandom(bytes(32), people[1:])
    >>> bool(both.random(2)[1] == second.random(1)[0])
    True
    """

    def __init__(self, secret: bytes, people: NDArray[np.uint8]) -> None:
        """Derives the streams.

        Args:
            secret: At least 16 bytes that no other party knows or can guess.
            people: A digest for each user, of one or more blocks of 16 bytes, shape
                (n, 16 m). Equal digests share one stream: no user may occur twice, and
                a user's digest must differ for every value and level that they may
                randomize, or for every collection.

        Raises:
            InvalidInputError: If the secret is short, or these are not digests.
            MissingExtraError: If the package cryptography is missing.
        """
        if not isinstance(secret, bytes):
            raise InvalidInputError(
                f"Expected the secret as bytes, got {type(secret).__name__}."
            )
        if len(secret) < _SECRET_SIZE:
            raise InvalidInputError(
                f"Expected a secret of at least {_SECRET_SIZE} bytes, got {len(secret)}."
            )
        if not isinstance(people, np.ndarray):
            raise InvalidInputError(
                "Expected people's digests as an array of bytes (np.uint8), got "
                f"{type(people).__name__}."
            )
        width = people.shape[1] if people.ndim == 2 else 0
        if people.dtype != np.uint8 or width == 0 or width % _BLOCK:
            raise InvalidInputError(
                f"Expected {_BLOCK} bytes for each person, or more."
            )
        keys = _derived(secret, width)
        seeds = np.zeros((len(people), _BLOCK), dtype=np.uint8)
        # The seed is the CBC-MAC of the digest, with AES-256 under the first key.
        for begin in range(0, width, _BLOCK):
            seeds ^= people[:, begin : begin + _BLOCK]
            seeds = _encrypted(keys[:_KEY_SIZE], seeds)
        self._key = keys[_KEY_SIZE:]
        # Big-endian on every machine: the second half of a seed counts blocks.
        self._seeds = seeds.view(">u8").reshape(-1, 2)
        # Blocks drawn so far; `of` shares this array, so that none is drawn twice.
        self._used = np.zeros(len(seeds), dtype=np.uint64)
        self._people = np.arange(len(seeds))

    def of(self, people: slice | NDArray[np.int64]) -> "KeyedRandom":
        """Returns the streams of some users, continued from their current position.

        Args:
            people: Their indices in increasing order, or a slice; a repeated index
                stands for the next draws of this person.
        """
        chosen_people: slice | Ints = (
            people
            if isinstance(people, slice)
            else int_array(people, "indices of people")
        )
        part_random = copy(self)
        part_random._people = self._people[chosen_people]
        return part_random

    def permutation(self, x: int) -> NDArray[np.int64]:
        """Raises InvalidInputError, as a permutation belongs to no single stream."""
        raise InvalidInputError(_FOR_DEVICES)

    def _words(self, size: int) -> NDArray[np.uint64]:
        people = self._people
        each, remainder = divmod(size, people.size) if people.size else (0, size)
        if remainder:
            raise InvalidInputError("Expected as many numbers for each person.")
        first = self._used[people]
        in_order = bool(np.all(people[1:] > people[:-1]))
        if not in_order:
            # How often each index occurred before it: repeated draws take later blocks.
            again = np.arange(people.size) - np.searchsorted(people, people)
            first += again.astype(np.uint64) * np.uint64(each)
        # AES-256 in counter mode under the second key; word j of a stream is the first
        # half of block j.
        blocks = np.empty((people.size, each, 2), dtype=">u8")
        blocks[...] = self._seeds[people, None]
        offsets: NDArray[np.uint64] = np.arange(each).astype(np.uint64)
        blocks[..., 1] += first[:, None] + offsets  # Modulo 2**64.
        if in_order:
            self._used[people] += np.uint64(each)
        else:
            # `+=` would count a repeated index only once.
            np.add.at(self._used, people, np.uint64(each))
        drawn = _encrypted(self._key, blocks).view(np.uint64)
        return drawn.reshape(-1, 2)[:, 0].copy()

    def _redrawn(self, bad: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
        # Numbers are ordered user by user: the user of each position.
        return self.of(bad // (size // self._people.size))._words(bad.size)


def _size(size: int) -> int:
    """Returns a number of draws; raises InvalidInputError if it is none."""
    num_draws = as_whole(size, "draws")
    if not 0 <= num_draws <= MAX_DRAWS:
        raise InvalidInputError(f"Expected 0 to {MAX_DRAWS:,} draws, got {num_draws}.")
    return num_draws


Rng: TypeAlias = np.random.Generator | SystemRandom | KeyedRandom


def stream_of(rng: Rng, people: slice | NDArray[np.int64]) -> Rng:
    """Returns the source for some users: the same `rng`, or their own streams.

    Args:
        rng: Source of all users.
        people: Their indices in increasing order, or a slice.
    """
    return rng.of(people) if isinstance(rng, KeyedRandom) else rng


def random_words(size: int, *, rng: Rng) -> NDArray[np.uint64]:
    """Draws independent uniform words of 64 bits, shape (size,)."""
    if isinstance(rng, np.random.Generator):
        return rng.integers(0, 2**64, size, dtype=np.uint64)
    return rng._words(size)


def bernoulli_draws(probabilities: Floats, *, rng: Rng) -> NDArray[np.bool_]:
    """Draws Bernoulli variables with exactly these probabilities, to the last bit.

    Args:
        probabilities: In [0, 1], any shape.
        rng: The only source of randomness.

    Returns:
        Shape as `probabilities`.
    """
    # Comparison with one uniform number would round a probability to a multiple of 2**-53:
    # harmless to estimates, but a large relative error of a probability of 1e-15.
    flat = probabilities.ravel()
    hits = np.zeros(flat.size, dtype=np.bool_)
    people = probabilities.shape[0] if probabilities.ndim else 1
    undecided, remaining = None, flat
    while remaining.size:
        scaled = remaining * 2.0**53
        first_digits = np.floor(scaled)
        if undecided is None:
            drawn = rng.random(remaining.size) * 2.0**53
            hits = drawn < first_digits
        else:
            # The user of each undecided draw: a row each, equally many draws in a row.
            stream = stream_of(rng, undecided // max(1, flat.size // people))
            drawn = stream.random(remaining.size) * 2.0**53
            hits[undecided] = drawn < first_digits
        # The next 53 bits decide between equals, if the probability has any left.
        equal = np.flatnonzero((drawn == first_digits) & (scaled > first_digits))
        undecided = equal if undecided is None else undecided[equal]
        remaining = scaled[equal] - first_digits[equal]
    return hits.reshape(probabilities.shape)


def check_rng(rng: Rng) -> None:
    """Raises InvalidInputError unless `rng` is a source of randomness we know."""
    if not isinstance(rng, np.random.Generator | SystemRandom | KeyedRandom):
        raise InvalidInputError(
            "Expected rng to be numpy.random.default_rng(seed) or SystemRandom(), "
            f"got {type(rng).__name__}."
        )


def check_order_rng(rng: Rng) -> None:
    """Raises InvalidInputError unless an order of many people may be drawn from `rng`."""
    check_rng(rng)
    if isinstance(rng, KeyedRandom):
        raise InvalidInputError(_FOR_DEVICES)


def _derived(secret: bytes, width: int) -> bytes:
    """Returns two keys for digests of `width` bytes."""
    # CBC-MAC is only secure for messages of one length, so each width has its own keys.
    require("cryptography", extra="keyed", what="Randomness from a key")
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    purpose = _PURPOSE + width.to_bytes(4, "big")
    return HKDF(SHA256(), 2 * _KEY_SIZE, None, purpose).derive(secret)


def _encrypted(key: bytes, blocks: NDArray[Any]) -> NDArray[np.uint8]:
    """Returns AES-256 of every block of 16 bytes, shape (blocks, 16)."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    # ECB as the bare permutation: the modes (counter, CBC-MAC) are made of it by callers.
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    ciphertext = encryptor.update(blocks.data.cast("B") if blocks.size else b"")
    return np.frombuffer(bytearray(ciphertext), dtype=np.uint8).reshape(-1, _BLOCK)
