"""What one message is: an array entry of a fixed size, whoever sent it, whatever it says.

    Numbers    whole numbers from 0, 8 bytes
    Sets       so many of k elements, a bit for each: eight to a byte, the first of them in
               its highest bit; unused bits at the end are 0

A set has no other spelling: no bytes tell how it was drawn, and one person cannot name an
element twice.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomizers.tally import batches
from shuffledp.types import Ints

NUMBER = np.dtype(">i8")


class MessageCode(Protocol):
    """Which messages there are, and how a randomizer's become entries of one type."""

    @property
    def entry(self) -> np.dtype[Any]:
        """The type of one message."""
        ...

    def pack(self, messages: Ints) -> NDArray[Any]:
        """Returns what a randomizer drew for n people as n messages."""
        ...

    def unpack(self, messages: NDArray[Any]) -> Ints:
        """Returns messages that are known as the randomizer drew them."""
        ...

    def known(self, messages: NDArray[Any]) -> NDArray[np.bool_]:
        """Tells which messages could have been drawn, shape (n,)."""
        ...


@dataclass(frozen=True)
class NumberCode:
    """Whole numbers.

    Attributes:
        count: How many there are, from 0.
    """

    count: int

    @property
    def entry(self) -> np.dtype[Any]:
        """64 bits."""
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
    """Sets of a fixed size.

    Attributes:
        num_elements: What they are sets of: 0, ..., k - 1.
        size: How many of them.
    """

    num_elements: int
    size: int

    @property
    def entry(self) -> np.dtype[Any]:
        """One bit for every element, in whole bytes."""
        return np.dtype((np.void, -(-self.num_elements // 8)))

    def pack(self, messages: Ints) -> NDArray[Any]:
        """See `MessageCode`: from the elements of each set, shape (n, size)."""
        packed = np.empty(len(messages), dtype=self.entry)
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
            elements = np.nonzero(self._bits(messages[part]))[1]
            sets[part] = elements.reshape(-1, self.size)
        return sets

    def known(self, messages: NDArray[Any]) -> NDArray[np.bool_]:
        """See `MessageCode`."""
        found = np.empty(messages.size, dtype=np.bool_)
        for part in batches(messages.size, width=self.num_elements):
            bits = self._bits(messages[part])
            unused = bits[:, self.num_elements :].any(axis=1)
            found[part] = (bits.sum(axis=1) == self.size) & ~unused
        return found

    def _bits(self, messages: NDArray[Any]) -> NDArray[np.uint8]:
        """Returns all bits, those behind the elements included."""
        whole = np.ascontiguousarray(messages).view(np.uint8)
        return np.unpackbits(whole.reshape(messages.size, -1), axis=1)
