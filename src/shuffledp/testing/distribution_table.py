"""A randomizer with its exact laws, side by side for all levels and values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.population import Population
from shuffledp.randomizers.bit_channel import BitChannel
from shuffledp.randomness import Rng
from shuffledp.testing.message_distribution import message_distribution, values_to_check
from shuffledp.types import Floats

# People of each level in the crowd whose covers are looked at.
_PEOPLE = 1_000
# So many values are tried; of more, a sample.
_MOST_VALUES = 64


@dataclass(frozen=True, eq=False)
class DistributionTable:
    """What is checked.

    Attributes:
        randomizer: The object under test.
        levels: Ascending local budgets.
        values: What people may hold; of bits shuffled apart, what the bit is.
        messages: All messages of all levels, shape (messages,) or (messages, width).
        table: The chance of each, shape (levels, values, messages).
    """

    randomizer: Any
    levels: tuple[float, ...]
    values: tuple[float, ...]
    messages: NDArray[Any]
    table: Floats

    @property
    def crowd(self) -> Population:
        """As many people of each level."""
        return Population.from_counts(dict.fromkeys(self.levels, _PEOPLE))

    @property
    def one_coordinate(self) -> bool:
        """Whether the laws are those of one bit of several, shuffled apart."""
        return isinstance(self.randomizer, BitChannel)


def tabulate(
    randomizer: Any, levels: tuple[float, ...], *, rng: Rng | None = None
) -> DistributionTable:
    """Returns the randomizer with its laws.

    Args:
        randomizer: What is checked.
        levels: Ascending local budgets.
        rng: Chooses among more than 64 values; the first two and the last are always there.
            Without it all values are taken.

    Raises:
        InvalidInputError: If it states none, or has too many messages.
    """
    values = values_to_check(randomizer)
    if rng is not None and len(values) > _MOST_VALUES:
        inner = 2 + rng.permutation(len(values) - 3)[: _MOST_VALUES - 3]
        chosen = [0, 1, *np.sort(inner).tolist(), len(values) - 1]
        values = tuple(values[place] for place in chosen)
    laws = [
        [message_distribution(randomizer, level, value) for value in values]
        for level in levels
    ]
    flat = [law for row in laws for law in row]
    first = flat[0][0]
    if all(np.array_equal(messages, first) for messages, _ in flat):
        messages, rows = first, [chances for _, chances in flat]
    else:
        messages = np.unique(np.concatenate([law[0] for law in flat]), axis=0)
        rows = [_spread(law, messages) for law in flat]
    table = np.array(rows).reshape(len(levels), len(values), len(messages))
    return DistributionTable(randomizer, levels, values, messages, table)


class MessageIndex:
    """Finds messages in a list; sorting it once is most of the work."""

    def __init__(self, messages: NDArray[Any]) -> None:
        """Sorts the list, shape (messages,) or (messages, width)."""
        self._base = 0
        if messages.ndim > 1:
            # Rows as numbers, to the base of the largest entry of a message.
            self._base = int(messages.max()) + 1
            self._powers = self._base ** np.arange(messages.shape[1])
        keys = self._keys(messages)
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def places(self, drawn: NDArray[Any]) -> NDArray[np.int64]:
        """Returns where each drawn message is in the list, -1 if nowhere, shape (n,)."""
        if (drawn.ndim > 1) != bool(self._base) or not np.all(drawn == np.floor(drawn)):
            return np.full(len(drawn), -1)
        keys = self._keys(drawn)
        near = np.searchsorted(self._sorted, keys).clip(0, len(self._sorted) - 1)
        return np.where(self._sorted[near] == keys, self._order[near], -1)

    def _keys(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        whole: NDArray[np.int64] = messages.astype(np.int64)
        if not self._base:
            return whole
        if whole.shape[1:] != self._powers.shape:
            return np.full(len(whole), -1)
        keys = whole @ self._powers
        keys[np.any((whole < 0) | (whole >= self._base), axis=1)] = -1
        return keys


def find_messages(drawn: NDArray[Any], messages: NDArray[Any]) -> NDArray[np.int64]:
    """Returns where each drawn message is in the list, -1 if nowhere, shape (n,)."""
    return MessageIndex(messages).places(drawn)


def merge_proportional_messages(table: Floats) -> Floats:
    """Returns the table with messages put together that nobody can tell apart.

    Messages whose chances are in proportion, over all levels and values, tell the same.

    Args:
        table: Shape (levels, values, messages).

    Returns:
        Shape (levels, values, kinds).
    """
    flat = table.reshape(-1, table.shape[2])
    flat = flat[:, flat.sum(axis=0) > 0.0]
    shares = np.round(flat / flat.sum(axis=0), 12)
    _, kind = np.unique(shares, axis=1, return_inverse=True)
    kind = kind.ravel()
    kinds = np.zeros((flat.shape[0], int(kind.max()) + 1))
    np.add.at(kinds.T, kind, flat.T)
    found: Floats = kinds.reshape(*table.shape[:2], -1)
    return found


def _spread(law: tuple[NDArray[Any], Floats], messages: NDArray[Any]) -> Floats:
    row = np.zeros(len(messages))
    np.add.at(row, find_messages(law[0], messages), law[1])
    return row
