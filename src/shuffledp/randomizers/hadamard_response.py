"""Hadamard response: the message is a column in which the value's row has a +1.

Value v owns row v + 1 of the Hadamard matrix of order K, the smallest power of 2 above k.
Columns with +1 in that row are e^eps times as likely as the others. Two rows agree in
half of the columns, and half of those have +1. Entry (r, c) is +1 if r and c have an even
number of ones in common; turning the bit of c where r has its lowest one changes that.

Source: Acharya, Sun, Zhang (2019), "Hadamard response: estimating distributions privately,
efficiently, and with little communication".
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import check_integers_below
from shuffledp.randomizers.checks import categories_and_budgets, whole_number
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.randomizers.set_response import Overlaps, SetResponse
from shuffledp.randomizers.tally import batches, tally
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats, Ints

_MOST = 2**31


@dataclass(frozen=True, slots=True)
class HadamardResponse(SetResponse):
    """Public parameters only.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.HadamardResponse(num_categories=5)
    >>> rng = np.random.default_rng(1)
    >>> device.randomize(np.array([0, 4]), np.full(2, 8.0), rng=rng).tolist()
    [2, 5]

    Attributes:
        num_categories: k, how many values there are; at least 2.
    """

    # Of every level: people of several levels may share a call of `randomize`.
    draws_alike: ClassVar[bool] = True

    num_categories: int

    def __post_init__(self) -> None:
        whole_number(self.num_categories, "categories", least=2, most=_MOST)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "hadamard-response"

    @property
    def message_code(self) -> NumberCode:
        """The columns of the Hadamard matrix."""
        return NumberCode(self.order)

    @classmethod
    def families(cls, num_categories: int) -> list[list[Self]]:
        """See `PlannedOracle`."""
        return [[cls(num_categories)]]

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"categories": int(self.num_categories)}

    @property
    def overlaps(self) -> Overlaps:
        """Rows 1 and 2 multiply to row 3, which is -1 where only one of them is +1."""
        return Overlaps(0.5, 0.25, 0.0 if self.num_categories > 2 else None)

    @property
    def order(self) -> int:
        """K, the number of columns."""
        return 1 << int(self.num_categories).bit_length()

    @property
    def message_type(self) -> np.dtype[np.unsignedinteger]:
        """The smallest unsigned integer type that holds every column."""
        return np.min_scalar_type(self.order - 1)

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws one column per person, in the order of `values`.

        Args:
            values: Integers in [0, k), shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            Columns in [0, K), shape (n,), of type `message_type`.

        Raises:
            InvalidInputError: If shapes differ, or a value or a budget is out of range.
        """
        values, epsilons = categories_and_budgets(
            values, epsilons, num_categories=self.num_categories, rng=rng
        )
        messages = np.empty(values.size, dtype=self.message_type)
        for people in batches(values.size):
            rows = values[people].astype(np.int64) + 1
            stream = stream_of(rng, people)
            columns = stream.integers(0, self.order, size=rows.size)
            keeps_value = ~self.ignores_value(epsilons[people], rng=stream)
            keeps_value &= _has_odd_ones(columns & rows)
            columns[keeps_value] ^= (rows & -rows)[keeps_value]
            messages[people] = columns
        return messages

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are integers in [0, K), shape (n,)."""
        check_integers_below(messages, self.order, what="messages")

    def support_counts(
        self, messages: Ints, groups: Ints | None, num_groups: int
    ) -> Ints:
        """Counts the columns of each group with a +1 in each category's row.

        Args:
            messages: From `randomize`, shape (n,).
            groups: Each message's group, shape (n,); None if there is one only.
            num_groups: How many groups there are.

        Returns:
            Shape (num_groups, k).
        """
        return self._supported(tally(messages, self.order, groups, num_groups))

    def draw_support_counts(
        self, holders: Ints, epsilons: Floats, *, rng: np.random.Generator
    ) -> Ints:
        """Draws the support counts of a population, without any people.

        Args:
            holders: How many people of each level hold each value, shape (levels, k).
            epsilons: Local budgets in nats, shape (levels,).
            rng: A simulation's.

        Returns:
            Shape (levels, k).

        Raises:
            InvalidInputError: If shapes differ, or a count or a budget is out of range.
        """
        ignoring, keeping = self.draw_ignoring(
            holders, epsilons, num_categories=self.num_categories, rng=rng
        )
        rows = np.zeros((len(keeping), self.order), dtype=np.int64)
        # Row 0 has +1 everywhere: every column is as likely.
        rows[:, 0], rows[:, 1 : self.num_categories + 1] = ignoring, keeping
        return self._supported(_columns_of(rows, rng=rng))

    def _supported(self, columns: Ints) -> Ints:
        """Returns how many columns of each group have a +1 in each category's row.

        Args:
            columns: How often each was sent, shape (groups, K).
        """
        sums, half = columns, 1
        while half < self.order:  # The fast Walsh-Hadamard transform, in whole numbers.
            pairs = sums.reshape(len(columns), -1, 2, half)
            first, second = pairs[:, :, 0], pairs[:, :, 1]
            sums = np.stack([first + second, first - second], axis=2)
            half *= 2
        sums = sums.reshape(len(columns), self.order)
        # Row 0 has +1 everywhere: its sum is the number of messages.
        counts: Ints = (sums[:, :1] + sums[:, 1 : self.num_categories + 1]) // 2
        return counts

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary logarithm of the number of messages."""
        del epsilons
        return math.log2(self.order)


def _columns_of(rows: Ints, *, rng: np.random.Generator) -> Ints:
    """Draws how often each column is sent by users who favor given rows.

    Args:
        rows: How many users favor each row, shape (groups, K).
        rng: A simulation's.

    Returns:
        Shape (groups, K).
    """
    groups = len(rows)
    # A column's bits are drawn from the highest on, each a fair draw except at the row's
    # lowest one: there the bit makes the number of common ones even. So users are sorted
    # by the column so far, the parity, and the remaining bits of the row.
    states = np.stack([rows, np.zeros_like(rows)], axis=1)[:, None]
    while (size := states.shape[-1]) > 1:
        # Rows with a 0 and with a 1 in this bit, by the rest of their bits.
        zeros, ones = states[..., : size // 2], states[..., size // 2 :]
        share = np.full((2, size // 2), 0.5)
        # Where this is the row's lowest one, the bit makes the number even for good.
        share[:, 0] = 1.0, 0.0
        same, even = rng.binomial(zeros, 0.5), rng.binomial(ones, share)
        with_zero = same + even
        with_one = zeros - same + (ones - even)[..., ::-1, :]
        states = np.stack([with_zero, with_one], axis=2)
        states = states.reshape(groups, -1, 2, size // 2)
    return states[:, :, 0, 0]


def _has_odd_ones(numbers: Ints) -> NDArray[np.bool_]:
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return (numbers & 1).astype(np.bool_)
