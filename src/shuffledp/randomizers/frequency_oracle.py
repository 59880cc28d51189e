"""The interface of a randomizer of categories, for the estimation of frequencies."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shuffledp.cover import LocalRandomizer
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


@runtime_checkable
class FrequencyOracle(LocalRandomizer, Protocol):
    """A randomizer of values in [0, k): each message supports some of the categories."""

    @property
    def num_categories(self) -> int:
        """The number of values, k."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> NDArray[Any]:
        """Draws one message per person, shape (n,) or (n, width)."""

    def check_messages(self, messages: NDArray[Any]) -> object:
        """Raises InvalidInputError unless these are messages of `randomize`."""

    def support_counts(
        self, messages: NDArray[Any], groups: Ints | None, num_groups: int
    ) -> Ints:
        """Counts the messages of each group that support each category.

        Args:
            messages: From `randomize`, in any order.
            groups: Each message's group, in [0, num_groups), shape (n,); None if there
                is one group only.
            num_groups: How many groups there are.

        Returns:
            Shape (num_groups, k).
        """

    def draw_support_counts(
        self, holders: Ints, epsilons: Floats, *, rng: np.random.Generator
    ) -> Ints:
        """Draws the support counts of a population, without one draw per user.

        The distribution is that of `support_counts` on the output of `randomize`.

        Args:
            holders: How many people of each level hold each value, shape (levels, k).
            epsilons: Local budgets in nats, shape (levels,).
            rng: A simulation's.

        Returns:
            Shape (levels, k).

        Raises:
            InvalidInputError: If shapes differ, a count or a budget is out of range, or
                there are too many kinds of messages to be counted.
        """

    def densities(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns the exact probabilities that a message supports a category.

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).

        Returns:
            The probability that it supports the value held, and that it supports one
            given other value, both of shape (levels,).
        """

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary logarithm of the number of messages."""
