"""Messages of any kind, with a 64-bit code and numeric columns for tests.

A black box answers with numbers, texts, bytes, vectors or sets. Two messages are the same
if their codes are: 64 bits, the number's own or a hash.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

Kind: TypeAlias = Literal["numbers", "vectors", "texts", "sets"]

# Odd, so that multiplying by it loses nothing: 2^64 over the golden ratio.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
# A row of doubles then takes 2 kB per message.
_MOST_COLUMNS = 256


@dataclass(frozen=True, eq=False)
class Messages:
    """Messages of a black box, in order.

    Attributes:
        kind: Numbers, rows of numbers, texts (or bytes), or sets of any size.
        raw: An array for numbers, shape (n,), and vectors, shape (n, width); otherwise a
            list of bytes or of tuples.
    """

    kind: Kind
    raw: Any

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def real(self) -> bool:
        """Whether these are floating-point numbers, or rows of them."""
        return isinstance(self.raw, np.ndarray) and bool(self.raw.dtype.kind == "f")

    @property
    def num_columns(self) -> int:
        """The largest possible number of columns."""
        if isinstance(self.raw, np.ndarray):
            return int(self.raw.shape[1]) if self.raw.ndim == 2 else 1
        # One more for the length of a text, or the size of a set.
        return _MOST_COLUMNS + 1

    def like(self, other: "Messages") -> "Messages":
        """Converts these messages to the kind that they have among others.

        Raises:
            InvalidInputError: If they are of another kind, or width.
        """
        return concatenate([other, self]).at(
            np.arange(len(other), len(other) + len(self))
        )

    def at(self, indices: NDArray[Any]) -> "Messages":
        """Returns the messages at some indices, or where a mask is True."""
        if isinstance(self.raw, np.ndarray):
            return Messages(self.kind, self.raw[indices])
        chosen_indices = np.arange(len(self.raw))[indices].tolist()
        return Messages(self.kind, [self.raw[index] for index in chosen_indices])

    def codes(self) -> NDArray[np.uint64]:
        """Returns 64-bit codes, equal for equal messages, shape (n,)."""
        if self.kind == "numbers":
            return _bit_patterns(self.raw)
        if self.kind == "vectors":
            code = np.zeros(len(self.raw), dtype=np.uint64)
            for column in _bit_patterns(self.raw).T:
                code = (code ^ column) * _FACTOR
                # The upper half takes part in the lower one.
                code ^= code >> np.uint64(29)
            return code
        # Two messages share a hash with probability 2^-64, which makes a test weaker,
        # never wrong: an event is a set of codes.
        hashes = [_hash(message) for message in self.raw]
        return np.array(hashes, dtype=np.uint64)

    def columns(self) -> Floats:
        """Returns numbers that a score may be linear in, shape (n, columns).

        The columns are a vector's entries; the length of a text and its first bytes; or
        the size of a set and its count of each of 256 elements: numbers below, or hashes.
        """
        if self.kind == "numbers":
            column: Floats = self.raw.astype(np.float64)[:, None]
            return column
        if self.kind == "vectors":
            numbers: Floats = self.raw.astype(np.float64)
            return numbers
        if self.kind == "texts":
            # Shorter texts are padded; their true length is a column of its own.
            width = min(max(map(len, self.raw), default=0), _MOST_COLUMNS)
            padded = b"".join(text[:width].ljust(width, b"\0") for text in self.raw)
            letters = np.frombuffer(padded, dtype=np.uint8)
            rows: Floats = letters.reshape(len(self), width).astype(np.float64)
        else:
            rows = np.zeros((len(self.raw), _MOST_COLUMNS))
            for row, members in zip(rows, self.raw, strict=True):
                np.add.at(row, [_element_column(element) for element in members], 1.0)
        lengths = np.array([len(message) for message in self.raw], dtype=np.float64)
        return np.column_stack([lengths, rows])

    def text_of(self, index: int) -> str:
        """Returns the text of one message, cut to 40 characters."""
        message = self.raw[index]
        if isinstance(message, np.ndarray):
            text = str(message.tolist())
        elif isinstance(message, bytes):
            text = repr(message.decode("utf-8", "backslashreplace"))
        elif isinstance(message, tuple):
            text = "{" + ", ".join(map(str, message)) + "}"
        else:
            text = repr(message.item())
        return text if len(text) <= 40 else text[:37] + "..."


def concatenate(parts: Sequence[Messages]) -> Messages:
    """Concatenates the messages of several batches.

    Raises:
        InvalidInputError: If they are of different kinds, or widths.
    """
    kinds = {part.kind for part in parts}
    if kinds == {"vectors", "sets"}:
        # A batch of lists of one length becomes vectors; lists of several lengths are sets.
        parts = [_as_sets(part) for part in parts]
        kinds = {"sets"}
    widths = {part.raw.shape[1:] for part in parts if isinstance(part.raw, np.ndarray)}
    if len(kinds) != 1 or len(widths) > 1:
        raise InvalidInputError(
            "Expected messages of one kind and width, got "
            f"{', '.join(sorted(kinds))} of {len(widths)} widths."
        )
    if widths:
        raw: Any = np.concatenate([part.raw for part in parts])
    else:
        raw = [message for part in parts for message in part.raw]
    return Messages(parts[0].kind, raw)


def as_messages(answers: Any) -> Messages:
    """Converts the answers of a black box to messages.

    Args:
        answers: An array of numbers, shape (n,) or (n, width), or a sequence of n numbers,
            texts, bytes, lists of numbers of one length, or sets (or lists of any length).

    Raises:
        InvalidInputError: If it is none of these, or a number is not finite.
    """
    if isinstance(answers, np.ndarray) and answers.dtype.kind in "biuf":
        return _of_array(answers)
    if not isinstance(answers, Iterable):
        raise InvalidInputError(
            f"Expected a message for each value, got {type(answers).__name__}."
        )
    answer_list = list(answers)
    if all(
        isinstance(answer, bool | int | float | np.generic) for answer in answer_list
    ):
        return _of_array(_message_array(answer_list))
    if all(isinstance(answer, str | bytes) for answer in answer_list):
        texts = [
            answer.encode() if isinstance(answer, str) else answer
            for answer in answer_list
        ]
        return Messages("texts", texts)
    rows = [
        answer.tolist() if isinstance(answer, np.ndarray) else answer
        for answer in answer_list
        if isinstance(answer, list | tuple | set | frozenset | np.ndarray)
    ]
    if len(rows) != len(answer_list) or not all(_hashable(row) for row in rows):
        kinds = sorted({type(answer).__name__ for answer in answer_list})
        raise InvalidInputError(
            "Expected numbers, texts, bytes, lists of numbers or sets as messages, all of "
            f"one kind, got {', '.join(kinds)}."
        )
    ordered = [row for row in rows if isinstance(row, list | tuple)]
    if len(ordered) == len(rows) and len({len(row) for row in ordered}) == 1:
        array = _message_array(ordered)
        if array.dtype.kind in "biuf" and array.ndim == 2 and array.shape[1]:
            return _of_array(array)
    return Messages("sets", [_members(row) for row in rows])


def _of_array(array: NDArray[Any]) -> Messages:
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf":
        raise InvalidInputError(
            "Expected an array of one number or one row of numbers for each value, got "
            f"one of {array.dtype} with {array.ndim} dimensions."
        )
    kind = np.float64 if array.dtype.kind == "f" else np.int64
    if array.dtype == np.uint64:
        # Not converted to int64, which large numbers overflow: the code is their bits.
        return Messages("vectors" if array.ndim == 2 else "numbers", array)
    numbers = array.astype(kind, copy=False)
    if kind is np.float64 and not np.all(np.isfinite(numbers)):
        raise InvalidInputError("Expected finite numbers as messages.")
    return Messages("vectors" if array.ndim == 2 else "numbers", numbers)


def _message_array(listed: list[Any]) -> NDArray[Any]:
    try:
        return np.asarray(listed)
    except (ValueError, OverflowError) as error:
        raise InvalidInputError("Expected numbers of 64 bits as messages.") from error


def _bit_patterns(array: NDArray[Any]) -> NDArray[np.uint64]:
    # 0 and -0 are two messages: an observer can tell them apart.
    return np.ascontiguousarray(array).view(np.uint64)


def _hash(message: bytes | tuple[Any, ...]) -> int:
    text = message if isinstance(message, bytes) else repr(message).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def _element_column(element: Any) -> int:
    if isinstance(element, int) and 0 <= element < _MOST_COLUMNS:
        return element
    # Elements that share a column cost power, not validity.
    return _hash((element,)) % _MOST_COLUMNS


def _hashable(row: Iterable[Any]) -> bool:
    return all(isinstance(element, bool | int | float | str | bytes) for element in row)


def _members(row: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(row, set | frozenset):
        # Elements of a set have no order, and may be of types that do not compare.
        return tuple(sorted(row, key=repr))
    return tuple(row)


def _as_sets(part: Messages) -> Messages:
    if part.kind == "sets":
        return part
    return Messages("sets", [tuple(row) for row in part.raw.tolist()])


def value_text(value: Any) -> str:
    """Returns the text of a value in reports."""
    return value if isinstance(value, str) else json.dumps(value, default=str)
