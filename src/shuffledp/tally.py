"""Tallies: additive counts of shuffled messages, the sufficient input of an estimate.

Messages are counted in piles (level groups): those of one cohort and, where messages
carry their level, of one level. Each protocol defines its counts of a pile. Tallies of
parts of a collection add up to that of the whole, exactly, in any order; so a cluster, a
service and a simulation may all count for the same estimator.
"""

import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.arguments import expect_instance
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.identity import Identity, check_same
from shuffledp.population import MAX_USERS, check_budgets
from shuffledp.strict_json import read_json
from shuffledp.types import Floats, Ints

_FORMAT = "shuffledp-tally-1"
_KEYS = {"format", "protocol", "levels", "people", "counts"}
_MAGIC = b"shuffledp-tally-1\n"
# Limit of decompressed text: longer lists would take gigabytes of memory.
_MOST_BYTES = 1 << 26


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of one collection, or of a part of it.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> frequency, rng = sdp.Frequency(3), np.random.default_rng(1)
    >>> reports = frequency.randomize(np.array([0, 1, 2, 2]), np.ones(4), rng=rng)
    >>> tally = frequency.tally(sdp.shuffle(reports, rng=rng))
    >>> (tally + tally).num_users
    8

    Attributes:
        identity: Of the protocol whose messages were counted.
        levels: Privacy levels of those who sent them, ascending, shape (levels,); empty
            where levels are not sent.
        people: Reports of each cohort and level, shape (cohorts, levels); one column
            where levels are not sent.
        counts: Counts of each pile, shape (cohorts, piles, numbers): one pile per level if
            messages carry their level, else one. Whole numbers, of 64 bits or of any size
            (dtype object).
    """

    identity: Identity
    levels: Floats
    people: Ints
    counts: NDArray[Any]

    def __post_init__(self) -> None:
        expect_instance(self.identity, Identity)
        for name in ("levels", "people", "counts"):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray):
                raise InvalidInputError(
                    f"Expected {name} as an array, got {type(array).__name__}."
                )
        if self.people.ndim != 2:
            raise InvalidInputError("Expected people by cohorts and levels.")
        columns = max(self.levels.size, 1)
        cohorts, piles = len(self.people), columns if self.linked else 1
        if self.people.shape != (cohorts, columns) or not cohorts:
            raise InvalidInputError("Expected people by cohorts and levels.")
        if self.counts.ndim != 3 or self.counts.shape[:2] != (cohorts, piles):
            raise InvalidInputError("Expected counts by cohorts and piles.")
        if self.people.dtype != np.int64 or not _are_integers(self.counts):
            raise InvalidInputError("Expected whole numbers in a tally.")
        # In floats: a sum of 64-bit integers could overflow and pass.
        if np.any(self.people < 0) or self.people.sum(dtype=np.float64) > MAX_USERS:
            raise InvalidInputError(f"Expected from 0 to {MAX_USERS:g} people.")
        if self.levels.dtype != np.float64 or self.levels.ndim != 1:
            raise InvalidInputError("Expected levels as an array of floats.")
        if np.any(np.diff(self.levels) <= 0):
            raise InvalidInputError("Expected levels in ascending order.")
        if not self.num_users and np.any(self.counts != 0):
            raise InvalidInputError(
                "Expected nothing to be counted where there are no people."
            )

    @property
    def linked(self) -> bool:
        """Whether messages carry their level."""
        return bool(self.identity.record["mode"] == "stratified")

    @property
    def num_users(self) -> int:
        """The number of counted reports."""
        return int(self.people.sum())

    def __add__(self, other: object) -> "Tally":
        """Returns the tally of both parts.

        Raises:
            InvalidInputError: If they are of different protocols.
        """
        if not isinstance(other, Tally):
            return NotImplemented
        check_same(other.identity, self.identity, what="a tally")
        ours, theirs = self.counts.shape, other.counts.shape
        if (ours[0], ours[2]) != (theirs[0], theirs[2]):
            raise InvalidInputError(
                "Expected tallies of equally many cohorts and numbers."
            )
        # An empty part has no levels: it fits tallies with levels and without.
        if not other.num_users and not other.levels.size:
            return self
        if not self.num_users and not self.levels.size:
            return other
        if (self.levels.size > 0) != (other.levels.size > 0):
            raise InvalidInputError(
                "Expected tallies of people who send their levels, or of people who don't."
            )
        # A part need not have people at every level of the whole.
        levels = np.union1d(self.levels, other.levels)
        first, second = self._over(levels), other._over(levels)
        return Tally(
            self.identity,
            levels,
            first.people + second.people,
            _exact_sum(first.counts, second.counts),
        )

    def __radd__(self, other: object) -> "Tally":
        """Returns this tally for 0, with which Python's `sum` begins."""
        return self if other == 0 else NotImplemented

    def _over(self, levels: Floats) -> "Tally":
        """Returns the same tally with a column for each of these levels."""
        # They contain ours: of equal size, they are the same.
        if levels.size == self.levels.size:
            return self
        columns = np.searchsorted(levels, self.levels)
        people = np.zeros((len(self.people), levels.size), dtype=np.int64)
        people[:, columns] = self.people
        counts = self.counts
        # Unlinked messages are one pile, whatever the levels.
        if self.linked:
            shape = (counts.shape[0], levels.size, counts.shape[2])
            counts = np.zeros(shape, dtype=self.counts.dtype)
            counts[:, columns] = self.counts
        return Tally(self.identity, levels, people, counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return (
            self.identity == other.identity
            and np.array_equal(self.levels, other.levels)
            and np.array_equal(self.people, other.people)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values, for JSON; `from_dict` reads them back."""
        return {
            "format": _FORMAT,
            "protocol": self.identity.record,
            "levels": self.levels.tolist(),
            "people": self.people.tolist(),
            "counts": self.counts.tolist(),
        }

    @classmethod
    def from_dict(cls, record: object) -> "Tally":
        """Reads the output of `to_dict`.

        Raises:
            DataError: If it is not a tally.
        """
        if not isinstance(record, dict) or set(record) != _KEYS:
            raise DataError("Expected a tally.")
        if record["format"] != _FORMAT:
            raise DataError(f"Expected a tally of format {_FORMAT!r}.")
        try:
            return cls(
                Identity.from_record(record["protocol"]),
                _levels_as_array(record["levels"]),
                _integer_array(record["people"]).astype(np.int64),
                _integer_array(record["counts"]),
            )
        except (InvalidInputError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"Expected a tally that makes sense: {error}") from error

    def to_bytes(self) -> bytes:
        """Returns a few bytes, to be stored or sent; `from_bytes` reads them back."""
        text = json.dumps(self.to_dict(), separators=(",", ":"), allow_nan=False)
        # Nothing is written that `from_bytes` would refuse to read.
        if len(text) > _MOST_BYTES:
            raise InvalidInputError(
                f"Expected a tally of at most {_MOST_BYTES:,} bytes, got {len(text):,}."
            )
        return _MAGIC + zlib.compress(text.encode())

    @classmethod
    def from_bytes(cls, content: bytes) -> "Tally":
        """Reads the output of `to_bytes`.

        Raises:
            DataError: If it is not a tally.
        """
        if not isinstance(content, bytes) or not content.startswith(_MAGIC):
            raise DataError("Expected the bytes of a tally.")
        try:
            # Bounded: a few bytes could otherwise decompress to gigabytes.
            reader = zlib.decompressobj()
            text = reader.decompress(content[len(_MAGIC) :], _MOST_BYTES)
            if not reader.eof or reader.unused_data:
                raise DataError(
                    "Expected the whole bytes of a tally, and nothing more."
                )
            return cls.from_dict(read_json(text, "a tally"))
        except zlib.error as error:
            raise DataError("Expected the bytes of a tally.") from error


def _exact_sum(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Returns the sum, in numbers of any size where 64 bits might not hold it."""
    # Two numbers below 2^61 add up within 64 bits. In Python's integers, as the absolute
    # value of the smallest 64-bit integer does not fit 64 bits.
    if any(
        part.size and max(int(part.max()), -int(part.min())) >= 1 << 61
        for part in (first, second)
    ):
        first = first.astype(object)
    total: NDArray[Any] = first + second
    return total


def _integer_array(values: object) -> NDArray[Any]:
    """Returns nested lists of whole numbers as an array, of 64 bits if they fit."""
    # As objects: NumPy would read true as 1, and round some numbers beyond 64 bits.
    array = np.array(values, dtype=object)
    if not _are_integers(array):
        raise TypeError("whole numbers")
    try:
        return array.astype(np.int64)
    except OverflowError:
        return array


def _are_integers(numbers: NDArray[Any]) -> bool:
    if numbers.dtype != object:
        return numbers.dtype.kind == "i"
    # Truth values are instances of int, too.
    return all(type(number) is int for number in numbers.ravel())


def _levels_as_array(values: object) -> Floats:
    """Returns a list of budgets as an array."""
    # NumPy would also convert texts and truth values.
    if not isinstance(values, list) or {type(value) for value in values} - {int, float}:
        raise TypeError("numbers as levels")
    levels = np.array(values, dtype=np.float64)
    check_budgets(levels)
    return levels
