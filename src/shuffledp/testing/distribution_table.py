"""Table of a randomizer's exact message distributions at all levels and values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.population import Population
from shuffledp.randomizers.bit_channel import BitChannel
from shuffledp.randomness import Rng
from shuffledp.testing.message_distribution import message_distribution, values_to_check
from shuffledp.types import Floats

# Users of each level in the population whose covers are checked.
_NUM_USERS = 1_000
# Of more values than this, a random sample is tried.
_MAX_VALUES = 64


@dataclass(frozen=True, eq=False)
class DistributionTable:
    """A randomizer with the exact distributions of its messages.

    Attributes:
        randomizer: The object under test.
        levels: Ascending local budgets.
        values: Values that users may hold; the bit, where bits are shuffled separately.
        messages: All messages of all levels, shape (messages,) or (messages, width).
        probabilities: Probability of each, shape (levels, values, messages).
    """

    randomizer: Any
    levels: tuple[float, ...]
    values: tuple[float, ...]
    messages: NDArray[Any]
    probabilities: Floats

    @property
    def population(self) -> Population:
        """The same number of users at each level."""
        return Population.from_counts(dict.fromkeys(self.levels, _NUM_USERS))

    @property
    def one_coordinate(self) -> bool:
        """Whether the distributions are of one bit, where bits are shuffled separately."""
        return isinstance(self.randomizer, BitChannel)


def tabulate(
    randomizer: Any, levels: tuple[float, ...], *, rng: Rng | None = None
) -> DistributionTable:
    """Returns the table of a randomizer's distributions.

    Args:
        randomizer: The object under test.
        levels: Ascending local budgets.
        rng: Chooses among more than 64 values, always with the first two and the last.
            Without it, all values are taken.

    Raises:
        InvalidInputError: If a distribution is unknown, or has too many messages.
    """
    values = values_to_check(randomizer)
    if rng is not None and len(values) > _MAX_VALUES:
        inner = 2 + rng.permutation(len(values) - 3)[: _MAX_VALUES - 3]
        chosen_values = [0, 1, *np.sort(inner).tolist(), len(values) - 1]
        values = tuple(values[index] for index in chosen_values)
    distributions = [
        [message_distribution(randomizer, level, value) for value in values]
        for level in levels
    ]
    flat = [distribution for row in distributions for distribution in row]
    first = flat[0][0]
    if all(np.array_equal(messages, first) for messages, _ in flat):
        messages, rows = first, [probabilities for _, probabilities in flat]
    else:
        messages = np.unique(
            np.concatenate([distribution[0] for distribution in flat]), axis=0
        )
        rows = [_aligned(distribution, messages) for distribution in flat]
    probabilities = np.array(rows).reshape(len(levels), len(values), len(messages))
    return DistributionTable(randomizer, levels, values, messages, probabilities)


class MessageIndex:
    """Index of a list of messages, which is sorted only once."""

    def __init__(self, messages: NDArray[Any]) -> None:
        """Sorts the list, shape (messages,) or (messages, width)."""
        # 0 stands for messages that are single numbers.
        self._base = 0
        if messages.ndim > 1:
            # Rows as numbers, to the base of the largest entry of a message.
            self._base = int(messages.max()) + 1
            self._powers = self._base ** np.arange(messages.shape[1])
        keys = self._keys(messages)
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def find(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """Returns the index of each message in the list, -1 if it is absent, shape (n,)."""
        # Conversion to integers would turn 1.5 into the valid message 1.
        if (wanted.ndim > 1) != bool(self._base) or not np.all(
            wanted == np.floor(wanted)
        ):
            return np.full(len(wanted), -1)
        keys = self._keys(wanted)
        nearest_positions = np.searchsorted(self._sorted, keys).clip(
            0, len(self._sorted) - 1
        )
        return np.where(
            self._sorted[nearest_positions] == keys, self._order[nearest_positions], -1
        )

    def _keys(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        whole_numbers: NDArray[np.int64] = messages.astype(np.int64)
        if not self._base:
            return whole_numbers
        if whole_numbers.shape[1:] != self._powers.shape:
            return np.full(len(whole_numbers), -1)
        keys = whole_numbers @ self._powers
        # Entries outside the base would collide with other messages.
        keys[np.any((whole_numbers < 0) | (whole_numbers >= self._base), axis=1)] = -1
        return keys


def find_messages(wanted: NDArray[Any], messages: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the index of each message in the list, -1 if it is absent, shape (n,)."""
    return MessageIndex(messages).find(wanted)


def merge_proportional_messages(probabilities: Floats) -> Floats:
    """Merges messages that carry the same information.

    These are messages whose probabilities are proportional over all levels and values.

    Args:
        probabilities: Shape (levels, values, messages).

    Returns:
        Shape (levels, values, kinds).
    """
    flat = probabilities.reshape(-1, probabilities.shape[2])
    # The share of a message that is never sent would be 0 / 0.
    flat = flat[:, flat.sum(axis=0) > 0.0]
    # Rounded, as equal ratios may differ in their last digits.
    shares = np.round(flat / flat.sum(axis=0), 12)
    _, kind = np.unique(shares, axis=1, return_inverse=True)
    # NumPy 2.0 gives the inverse one dimension more than other versions do.
    kind = kind.ravel()
    kinds = np.zeros((flat.shape[0], int(kind.max()) + 1))
    np.add.at(kinds.T, kind, flat.T)
    merged: Floats = kinds.reshape(*probabilities.shape[:2], -1)
    return merged


def _aligned(
    distribution: tuple[NDArray[Any], Floats], messages: NDArray[Any]
) -> Floats:
    row = np.zeros(len(messages))
    # A randomizer may list a message more than once: its probabilities add up.
    np.add.at(row, find_messages(distribution[0], messages), distribution[1])
    return row
