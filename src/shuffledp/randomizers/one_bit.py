"""One bit about a number: who holds v in [low, high] says "high" the more often.

With t = (v - low) / (high - low), the message is 1 with probability

    1 / (e^eps + 1) + t (e^eps - 1) / (e^eps + 1),

else 0. It is drawn as a fair coin with chance 2 / (e^eps + 1), and otherwise as one that
comes up 1 with chance t. On the two ends this is binary randomized response; every value in
between is a mixture of the two, so the ends are the worst pair, and the cover is theirs.

Source: Ding, Kulkarni, Yekhanin (2017), "Collecting telemetry data privately".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.arrays import check_integers_below, one_number_each
from shuffledp.errors import InvalidInputError
from shuffledp.population import check_budgets
from shuffledp.randomizers.checks import value_range
from shuffledp.randomizers.set_response import Overlaps, SetResponse
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, check_rng, coins
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class OneBit(SetResponse):
    """Public parameters only.

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        value_range(self.low, self.high)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "one-bit"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"low": float(self.low), "high": float(self.high)}

    @property
    def overlaps(self) -> Overlaps:
        """Two messages, and one belongs to each end."""
        return Overlaps(0.5, 0.0, None)

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        """Draws one bit per person, in the order of `values`.

        Args:
            values: Numbers in [low, high], shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            0 or 1, shape (n,), of the smallest integer type.

        Raises:
            InvalidInputError: If shapes differ, or a value or a budget is out of range.
        """
        check_rng(rng)
        numbers, budgets = one_number_each(values, epsilons)
        # Written this way round, it refuses NaN, too.
        if numbers.size and not (
            numbers.min() >= self.low and numbers.max() <= self.high
        ):
            raise InvalidInputError(
                f"Expected values to be numbers in [{self.low:g}, {self.high:g}]."
            )
        check_budgets(budgets)
        messages = np.empty(numbers.size, dtype=np.uint8)
        for people in batches(numbers.size):
            # Whatever the rounding of t, every t in [0, 1] keeps the local budget.
            chances = np.clip(self._shares(numbers[people]), 0.0, 1.0)
            chances[self.ignores_value(budgets[people], rng=rng)] = 0.5
            messages[people] = coins(chances, rng=rng)
        return messages

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are bits, shape (n,)."""
        check_integers_below(messages, 2, what="messages")

    def decode(self, messages: Ints) -> Floats:
        """Returns the end of the range that each bit speaks for, shape as `messages`."""
        return np.where(messages == 0, float(self.low), float(self.high))

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded bit.

        Args:
            epsilons: Local budgets, shape (levels,).
            values: Numbers in [low, high], shape (values,).

        Returns:
            Both of shape (levels, values).
        """
        keep, flip = self.densities(np.asarray(epsilons, dtype=np.float64))
        share = self._shares(np.asarray(values, dtype=np.float64))
        high = flip[:, None] + (keep - flip)[:, None] * share[None, :]
        mean = self.low * (1.0 - high) + self.high * high
        length = np.float64(self.high) - np.float64(self.low)
        with np.errstate(over="ignore"):
            return mean, high * (1.0 - high) * length**2

    def bits_per_person(self, epsilons: Floats) -> float:
        """1, at every level."""
        del epsilons
        return 1.0

    def _shares(self, values: Floats) -> Floats:
        """Returns t; halves, as the length of the range may exceed the largest number."""
        shares: Floats = (values / 2.0 - self.low / 2.0) / value_range(
            self.low, self.high
        )
        return shares
