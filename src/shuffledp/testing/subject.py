"""A randomizer with its exact laws, side by side for all levels and values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.population import Population
from shuffledp.randomizers.bit_channel import BitChannel
from shuffledp.testing.laws import law_of, values_of
from shuffledp.types import Floats

# People of each level in the crowd whose covers are looked at.
_PEOPLE = 1_000


@dataclass(frozen=True, eq=False)
class Subject:
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


def subject_of(randomizer: Any, levels: tuple[float, ...]) -> Subject:
    """Returns the randomizer with its laws.

    Raises:
        InvalidInputError: If it states none, or has too many messages.
    """
    values = values_of(randomizer)
    laws = [[law_of(randomizer, level, value) for value in values] for level in levels]
    flat = [law for row in laws for law in row]
    first = flat[0][0]
    if all(np.array_equal(messages, first) for messages, _ in flat):
        messages, rows = first, [chances for _, chances in flat]
    else:
        messages = np.unique(np.concatenate([law[0] for law in flat]), axis=0)
        rows = [_spread(law, messages) for law in flat]
    table = np.array(rows).reshape(len(levels), len(values), len(messages))
    return Subject(randomizer, levels, values, messages, table)


def places_of(drawn: NDArray[Any], messages: NDArray[Any]) -> NDArray[np.int64]:
    """Returns where each drawn message is in the list, -1 if nowhere, shape (n,)."""
    if drawn.ndim > 1:
        # Rows as numbers, to the base of the largest entry of a message.
        base = int(messages.max()) + 1
        powers = base ** np.arange(messages.shape[1])
        keys, found = messages.astype(np.int64) @ powers, drawn.astype(np.int64) @ powers
        found[np.any((drawn < 0) | (drawn >= base), axis=1)] = -1
    else:
        keys, found = messages.astype(np.int64), drawn.astype(np.int64)
    order = np.argsort(keys)
    place = order[np.clip(np.searchsorted(keys[order], found), 0, len(keys) - 1)]
    return np.where(keys[place] == found, place, -1)


def kinds_of(table: Floats) -> Floats:
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
    np.add.at(row, places_of(law[0], messages), law[1])
    return row
