"""Tables of probabilities whose messages support categories, for frequencies."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.drawn_counts import check_population, draw_multinomials
from shuffledp.randomizers.finite_channel import FiniteChannel
from shuffledp.randomizers.tally import tally
from shuffledp.types import Floats, Ints

# Probabilities that differ by no more are equal up to rounding.
_ALIKE = 1e-9


class FiniteCategories(FiniteChannel):
    """A table whose values are categories, each supported by some of the messages.

    An estimate needs the probability that a message supports the category held to be
    the same for all categories, and the probability that it supports another one to be
    the same for all pairs. A table without this has no unbiased frequencies by
    counting: `densities` says so, and the rest of the base, the certificate included,
    works all the same.
    """

    @property
    @abstractmethod
    def supports(self) -> NDArray[np.bool_]:
        """True where a message supports a category, shape (messages, values)."""

    @property
    def num_categories(self) -> int:
        """The number of values, k."""
        return self.num_values

    def support_counts(
        self, messages: Ints, groups: Ints | None, num_groups: int
    ) -> Ints:
        """Counts the messages of each group that support each category.

        Args:
            messages: From `randomize`, shape (n,).
            groups: Each message's group, shape (n,); None if there is one only.
            num_groups: How many groups there are.

        Returns:
            Shape (num_groups, k).
        """
        counts: Ints = tally(messages, self.num_messages, groups, num_groups)
        return counts @ self.supports.astype(np.int64)

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
        people, epsilons = check_population(
            holders, epsilons, num_values=self.num_values, rng=rng
        )
        sent_counts = np.zeros((epsilons.size, self.num_messages), dtype=np.int64)
        table = self.drawn(epsilons)
        for level, value in np.ndindex(people.shape):
            sent_counts[level] += draw_multinomials(
                people[level, value : value + 1], table[level, value], rng=rng
            )[0]
        return sent_counts @ self.supports.astype(np.int64)

    def densities(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns the exact probabilities that a message supports a category.

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).

        Returns:
            The probability that it supports the value held, and that it supports one
            given other value, both of shape (levels,).

        Raises:
            InvalidInputError: If they are not the same for all values.
        """
        # Of what devices draw, not of the table: so estimates stay unbiased.
        support = self.drawn(epsilons) @ self.supports.astype(np.float64)
        same_value = np.eye(self.num_values, dtype=np.bool_)
        keep, flip = support[:, same_value], support[:, ~same_value]
        for probabilities in (keep, flip):
            if np.ptp(probabilities, axis=1).max() > _ALIKE:
                raise InvalidInputError(
                    "Expected a table that treats all categories alike: probabilities of "
                    "support that depend on the category, counts are not frequencies."
                )
        return keep[:, 0], flip[:, 0]
