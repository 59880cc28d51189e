"""The interface of a randomizer of numbers, for the estimation of means."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.cover import LocalRandomizer
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


@runtime_checkable
class NumberRandomizer(LocalRandomizer, Protocol):
    """A randomizer of values in [low, high], one whole number per person."""

    @property
    def low(self) -> float:
        """Smallest possible value."""

    @property
    def high(self) -> float:
        """Largest possible value."""

    @property
    def unit(self) -> "NumberRandomizer":
        """The same mechanism for values from -1 to 1; the messages are the same."""

    @property
    def unbiased(self) -> bool:
        """True if the mean of a decoded message is affine in the value, at each level.

        If not, the mean of messages depends on more than the mean of the values.
        """

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        """Draws one message per person, shape (n,), in the order of `values`."""

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are messages, shape (n,)."""

    def decode(self, messages: Ints) -> Floats:
        """Returns the number that each message stands for, in the units of the values.

        It is affine, a + b m of the message m, so that the sum of the messages determines
        the sum of the decoded numbers.
        """

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded message, both (levels, values)."""

    def draw_sums(
        self,
        values: Floats,
        counts: Ints,
        epsilons: Floats,
        *,
        rng: np.random.Generator,
    ) -> NDArray[np.object_]:
        """Draws the sums of all messages of a population, without one draw per user.

        The distribution is that of `randomize` for every user separately.

        Args:
            values: Numbers in [low, high], shape (values,).
            counts: How many people of each level hold each value, (levels, values).
            epsilons: Local budgets in nats, shape (levels,).
            rng: A simulation's.

        Returns:
            Number, sum and sum of squares of each level's messages, exact whole numbers
            of Python, shape (levels, 3).

        Raises:
            InvalidInputError: If shapes differ, a value, a count or a budget is out of
                range, or noise spreads over too many messages to be counted.
        """

    def bits_per_person(self, epsilons: Floats) -> float:
        """Returns how long a message must be for people of these levels."""


@runtime_checkable
class CoarseRandomizer(NumberRandomizer, Protocol):
    """A randomizer that rounds values to few numbers.

    Its variance depends on where a value lies between two of them, which mean and spread of
    the values do not show.
    """

    def largest_moments(
        self, epsilons: Floats, values: Floats
    ) -> tuple[Floats, Floats]:
        """Returns mean and a bound of the variance, both (levels, values).

        The bound is a polynomial of degree 2 in the value, so that its average over many
        values follows from their mean and spread.
        """


def estimation_moments(
    randomizer: NumberRandomizer,
) -> Callable[[Floats, Floats], tuple[Floats, Floats]]:
    """Returns the moments that errors follow from if mean and spread alone are known."""
    if isinstance(randomizer, CoarseRandomizer):
        return randomizer.largest_moments
    return randomizer.moments
