"""Asks devices for messages, whatever they send, and finds each in its exact law.

What people hold is numbered from 0: of scalar devices these are the values tried, of
vectors of bits all categories, or the bits of a filter. A report has one column, or one for
each bit, and every entry has a row of the table of laws.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomizers.rappor import Rappor
from shuffledp.randomizers.unary_encoding import UnaryEncoding
from shuffledp.randomness import Rng
from shuffledp.testing.distribution_table import DistributionTable, MessageIndex
from shuffledp.types import Ints


def can_draw(device: Any) -> bool:
    """Returns whether a device draws messages."""
    return hasattr(device, "randomize") or isinstance(device, Rappor)


@dataclass(frozen=True, eq=False)
class MessageSender:
    """A device, and where its messages stand in the table of laws.

    Attributes:
        subject: What is checked.
        index: Finds messages among those of the law.
    """

    subject: DistributionTable
    index: MessageIndex

    @staticmethod
    def of(subject: DistributionTable) -> "MessageSender":
        """Returns the sender of a subject."""
        return MessageSender(subject, MessageIndex(subject.messages))

    @property
    def num_held(self) -> int:
        """How many values people may hold."""
        device = self.subject.randomizer
        if isinstance(device, Rappor):
            return int(device.num_bits)
        if isinstance(device, UnaryEncoding):
            return int(device.num_categories)
        return len(self.subject.values)

    @property
    def width(self) -> int:
        """How many columns a report has."""
        return self.num_held if self.subject.one_coordinate else 1

    def rows(self, held: Ints) -> Ints:
        """Returns the row of the table of every entry, shape (n, width).

        Args:
            held: What each person holds, in [0, num_held), shape (n,).
        """
        if not self.subject.one_coordinate:
            return held[:, None]
        # The first row of a bit's table is that of a 1.
        return np.where(self._bits(held), 0, 1)

    def send(self, held: Ints, levels: Ints, *, rng: Rng) -> Ints:
        """Returns the place of every entry in the law, -1 if nowhere, shape (n, width).

        Args:
            held: What each person holds, in [0, num_held), shape (n,).
            levels: The place of each person's level, shape (n,).
            rng: Given to the device.
        """
        device, epsilons = self.subject.randomizer, np.array(self.subject.levels)
        if isinstance(device, Rappor):
            kept = device.permanent_response(
                self._bits(held), epsilons[levels], rng=rng
            )
            sent: NDArray[Any] = device.instantaneous_response(kept, rng=rng)
        elif isinstance(device, UnaryEncoding):
            sent = np.asarray(device.randomize(held, epsilons[levels], rng=rng))
        else:
            values = np.array(self.subject.values)[held]
            sent = np.asarray(device.randomize(values, epsilons[levels], rng=rng))
            if len(sent) != held.size:
                return np.full((held.size, 1), -1)
            return self.index.places(sent)[:, None]
        if sent.shape != (held.size, self.width):
            return np.full((held.size, self.width), -1)
        return sent.astype(np.int64)

    def _bits(self, held: Ints) -> NDArray[np.bool_]:
        device = self.subject.randomizer
        ones = int(device.num_hashes) if isinstance(device, Rappor) else 1
        columns = (held[:, None] + np.arange(ones)) % self.num_held
        bits = np.zeros((held.size, self.num_held), dtype=np.bool_)
        np.put_along_axis(bits, columns, True, axis=1)
        return bits


def held_evenly(size: int, num_held: int, *, rng: np.random.Generator) -> Ints:
    """Returns what people hold, each value about equally often, in random order."""
    held: Ints = rng.permutation(np.arange(size) % num_held)
    return held
