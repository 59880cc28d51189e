"""Codes of messages: array entries of one fixed size, the same for all users and values.

NumberCode    whole numbers from 0, 8 bytes
SubsetCode    subsets of k elements of a fixed size, a bit for each element: eight to a
              byte, the first in its highest bit; unused bits at the end are 0
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomizers.tally import batches
from shuffledp.types import Ints

NUMBER = np.dtype(">i8")


class MessageCode(Protocol):
    """The set of messages, and their packing into array entries of one type."""

    @property
    def entry(self) -> np.dtype[Any]:
        """The type of one message."""
        ...

    def pack(self, messages: Ints) -> NDArray[Any]:
        """Packs the output of a randomizer for n people into n messages."""
        ...

    def unpack(self, messages: NDArray[Any]) -> Ints:
        """Unpacks known messages into the form that the randomizer drew."""
        ...

    def known(self, messages: NDArray[Any]) -> NDArray[np.bool_]:
        """Returns whether each message could have been drawn, shape (n,)."""
        ...


@dataclass(frozen=True)
class NumberCode:
    """Whole numbers from 0.

    Attributes:
        count: Number of different messages: 0, ..., count - 1.
    """

    count: int

    @property
    def entry(self) -> np.dtype[Any]:
        """Type of a packed message: a whole number of 64 bits."""
        return NUMBER

    def pack(self, messages: Ints) -> NDArray[Any]:
        """See `MessageCode`: shape (n,)."""
        return messages.astype(np.int64)

    def unpack(self, messages: NDArray[Any]) -> Ints:
        """See `MessageCode`: shape (n,)."""
        return messages

    def known(self, messages: NDArray[Any]) -> NDArray[np.bool_]:
        """See `MessageCode`."""
        inside: NDArray[np.bool_] = (messages >= 0) & (messages < self.count)
        return inside


@dataclass(frozen=True)
class SubsetCode:
    """Subsets of a fixed size.

    Attributes:
        num_elements: k; elements are 0, ..., k - 1.
        size: Number of elements in each subset.
    """

    # One spelling per subset: bytes do not show how it was drawn, and no message names
    # an element twice.

    num_elements: int
    size: int

    @property
    def entry(self) -> np.dtype[Any]:
        """One bit for every element, in whole bytes."""
        return np.dtype((np.void, -(-self.num_elements // 8)))

    def pack(self, messages: Ints) -> NDArray[Any]:
        """See `MessageCode`: from the elements of each set, shape (n, size)."""
        packed = np.empty(len(messages), dtype=self.entry)
        # Batches, as unpacked bits take eight times the memory of messages.
        for part in batches(len(messages), width=self.num_elements):
            bits = np.zeros((len(messages[part]), self.num_elements), dtype=np.bool_)
            np.put_along_axis(bits, messages[part].astype(np.int64), True, axis=1)
            packed[part] = np.packbits(bits, axis=1).view(self.entry)[:, 0]
        return packed

    def unpack(self, messages: NDArray[Any]) -> Ints:
        """See `MessageCode`: to elements in ascending order, shape (n, size)."""
        kind = np.min_scalar_type(self.num_elements - 1)
        sets = np.empty((messages.size, self.size), dtype=kind)
        for part in batches(messages.size, width=self.num_elements):
            elements = np.nonzero(self._all_bits(messages[part]))[1]
            sets[part] = elements.reshape(-1, self.size)
        return sets

    def known(self, messages: NDArray[Any]) -> NDArray[np.bool_]:
        """See `MessageCode`."""
        is_known = np.empty(messages.size, dtype=np.bool_)
        for part in batches(messages.size, width=self.num_elements):
            bits = self._all_bits(messages[part])
            # Set padding bits would be a second spelling of the same subset.
            unused = bits[:, self.num_elements :].any(axis=1)
            is_known[part] = (bits.sum(axis=1) == self.size) & ~unused
        return is_known

    def _all_bits(self, messages: NDArray[Any]) -> NDArray[np.uint8]:
        """Returns all bits of messages, padding included, shape (n, 8 * bytes)."""
        message_bytes = np.ascontiguousarray(messages).view(np.uint8)
        return np.unpackbits(message_bytes.reshape(messages.size, -1), axis=1)
