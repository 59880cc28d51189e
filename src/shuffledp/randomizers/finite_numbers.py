"""Tables of probabilities whose values are numbers, to estimate a mean from."""

import dataclasses
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import float_array, one_number_each
from shuffledp.population import check_budgets
from shuffledp.randomizers.checks import check_values
from shuffledp.randomizers.drawn_counts import (
    check_population,
    draw_multinomials,
    exact_sums,
)
from shuffledp.randomizers.finite_channel import FiniteChannel
from shuffledp.randomizers.grid import grid_values, positions
from shuffledp.randomness import Rng, bernoulli_draws, check_rng
from shuffledp.types import Floats, Ints


class FiniteNumbers(FiniteChannel):
    """A table whose values are evenly spaced numbers from `low` to `high`.

    A number between two of them is moved to one of the two, at random and without bias.
    Messages are evenly spaced numbers, too: the first stands for `low`, the last for
    `high`. Subclasses are frozen dataclasses with fields `low` and `high`.

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
    """

    low: float
    high: float

    @property
    def unit(self) -> Self:
        """The same mechanism for values from -1 to 1; the messages are the same."""
        this: Any = self
        rescaled: Self = dataclasses.replace(this, low=-1.0, high=1.0)
        return rescaled

    @property
    def unbiased(self) -> bool:
        """False unless a subclass overrides it: tables shift means toward the middle."""
        return False

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        """Draws one message per person, in the order of `values`.

        Args:
            values: Numbers in [low, high], shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            Messages in [0, num_messages), shape (n,).

        Raises:
            InvalidInputError: If shapes differ, a value or a budget is out of range, or a
                level is not kept.
        """
        check_rng(rng)
        numbers, budgets = one_number_each(values, epsilons)
        check_budgets(budgets)
        below, share = self._grid_position(numbers)
        # The value is moved, not the message: a guarantee for all values still holds.
        return self.draw(below + bernoulli_draws(share, rng=rng), budgets, rng=rng)

    def draw_sums(
        self,
        values: Floats,
        counts: Ints,
        epsilons: Floats,
        *,
        rng: np.random.Generator,
    ) -> NDArray[np.object_]:
        """Draws the sums of all messages of a population, without one draw per user.

        Args:
            values: Numbers in [low, high], shape (values,).
            counts: How many people of each level hold each value, (levels, values).
            epsilons: Local budgets in nats, shape (levels,).
            rng: A simulation's.

        Returns:
            Number, sum and sum of squares of each level's messages, exact whole numbers
            of Python, shape (levels, 3).

        Raises:
            InvalidInputError: If shapes differ, or a value, a count or a budget is out of
                range.
        """
        numbers = float_array(values, "values")
        people, epsilons = check_population(
            counts, epsilons, num_values=numbers.size, rng=rng
        )
        below, share = self._grid_position(numbers)
        num_rounded_up = rng.binomial(people, share)
        sums = np.zeros((epsilons.size, 3), dtype=np.object_)
        messages = np.arange(self.num_messages)
        for level, table in enumerate(self.drawn(epsilons)):
            people_at_point = np.zeros(self.num_values, dtype=np.int64)
            np.add.at(people_at_point, below, people[level] - num_rounded_up[level])
            # No one is moved up from `high`: the index only has to exist.
            np.add.at(
                people_at_point,
                np.minimum(below + 1, people_at_point.size - 1),
                num_rounded_up[level],
            )
            for point, probabilities in enumerate(table):
                message_counts = draw_multinomials(
                    people_at_point[point : point + 1], probabilities, rng=rng
                )[0]
                sums[level] += np.array(
                    exact_sums(messages, message_counts), dtype=np.object_
                )
        return sums

    def decode(self, messages: Ints) -> Floats:
        """Returns the number that each message stands for, in the units of the values."""
        return grid_values(messages, self.low, self.high, self.num_messages)

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded message, exactly.

        Args:
            epsilons: Local budgets, shape (levels,).
            values: Numbers in [low, high], shape (values,).

        Returns:
            Both of shape (levels, values).
        """
        below, share = self._grid_position(np.asarray(values, dtype=np.float64))
        above = np.minimum(below + 1, self.num_values - 1)
        table = self.drawn(np.asarray(epsilons, dtype=np.float64))
        # The distribution of a number between two points is a mixture of theirs.
        distributions = (1.0 - share)[:, None] * table[:, below] + share[
            :, None
        ] * table[:, above]
        numbers = self.decode(np.arange(self.num_messages))
        mean = distributions @ numbers
        variance = np.sum(distributions * (numbers - mean[..., None]) ** 2, axis=2)
        return mean, variance

    @property
    def law_values(self) -> tuple[float, ...]:
        """The evenly spaced numbers: other values have mixtures of two distributions."""
        return tuple(np.linspace(self.low, self.high, self.num_values).tolist())

    def _grid_position(self, numbers: Floats) -> tuple[Ints, Floats]:
        """Returns the point at or below each number, and how far on it is to the next."""
        check_values(numbers, self.low, self.high)
        position = positions(numbers, self.low, self.high, self.num_values - 1)
        below = np.floor(position)
        return below.astype(np.int64), position - below
