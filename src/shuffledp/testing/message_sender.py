"""Draws messages from devices of any kind, as indices into their exact distribution.

Values are numbered from 0: for scalar devices these are the values tried, for vectors of
bits all categories, or the bits of a filter. A report has one column, or one for each bit,
and every entry has a row of the table of distributions.
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
    """A device with the index of its messages.

    Attributes:
        distributions: Exact distributions of the device under test.
        index: Index of the messages of the distributions.
    """

    distributions: DistributionTable
    index: MessageIndex

    @staticmethod
    def of(distributions: DistributionTable) -> "MessageSender":
        """Returns the sender for a table of distributions."""
        return MessageSender(distributions, MessageIndex(distributions.messages))

    @property
    def num_values(self) -> int:
        """Number of values that users may hold."""
        device = self.distributions.randomizer
        if isinstance(device, Rappor):
            return int(device.num_bits)
        if isinstance(device, UnaryEncoding):
            return int(device.num_categories)
        return len(self.distributions.values)

    @property
    def width(self) -> int:
        """Number of columns of a report."""
        return self.num_values if self.distributions.one_coordinate else 1

    def rows(self, values: Ints) -> Ints:
        """Returns the row of the table of every entry, shape (n, width).

        Args:
            values: Number of each user's value, in [0, num_values), shape (n,).
        """
        if not self.distributions.one_coordinate:
            return values[:, None]
        # The first row of a bit's table is that of a 1.
        return np.where(self._bits(values), 0, 1)

    def send(self, values: Ints, levels: Ints, *, rng: Rng) -> Ints:
        """Draws messages and returns their indices, -1 for foreign ones, shape (n, width).

        Args:
            values: Number of each user's value, in [0, num_values), shape (n,).
            levels: Index of each user's level, shape (n,).
            rng: Given to the device.
        """
        device, epsilons = (
            self.distributions.randomizer,
            np.array(self.distributions.levels),
        )
        if isinstance(device, Rappor):
            # The table has the probabilities of both steps together.
            permanent = device.permanent_response(
                self._bits(values), epsilons[levels], rng=rng
            )
            sent_bits: NDArray[Any] = device.instantaneous_response(permanent, rng=rng)
        elif isinstance(device, UnaryEncoding):
            sent_bits = np.asarray(device.randomize(values, epsilons[levels], rng=rng))
        else:
            scalars = np.array(self.distributions.values)[values]
            sent_bits = np.asarray(device.randomize(scalars, epsilons[levels], rng=rng))
            if len(sent_bits) != values.size:
                # A wrong number of messages fails like a foreign message.
                return np.full((values.size, 1), -1)
            return self.index.find(sent_bits)[:, None]
        if sent_bits.shape != (values.size, self.width):
            return np.full((values.size, self.width), -1)
        return sent_bits.astype(np.int64)

    def _bits(self, values: Ints) -> NDArray[np.bool_]:
        device = self.distributions.randomizer
        ones = int(device.num_hashes) if isinstance(device, Rappor) else 1
        # A filter's bits are tested without any hash: value v holds bits v, v + 1, ...
        columns = (values[:, None] + np.arange(ones)) % self.num_values
        bits = np.zeros((values.size, self.num_values), dtype=np.bool_)
        np.put_along_axis(bits, columns, True, axis=1)
        return bits


def balanced_values(size: int, num_values: int, *, rng: np.random.Generator) -> Ints:
    """Returns values of users, each about equally often, in random order."""
    values: Ints = rng.permutation(np.arange(size) % num_values)
    return values
