"""One bit about a number: who holds v in [low, high] says "high" the more often.

With t = (v - low) / (high - low), the message is 1 with probability

    1 / (e^eps + 1) + t (e^eps - 1) / (e^eps + 1),

else 0. On the two ends this is binary randomized response; every value in between is a
mixture of the two, so the ends are the worst pair, and the cover is theirs.

Source: Ding, Kulkarni, Yekhanin (2017), "Collecting telemetry data privately".
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import check_integers_below, float_array, one_number_each
from shuffledp.number_range import half_range
from shuffledp.population import check_budgets
from shuffledp.randomizers.checks import check_values
from shuffledp.randomizers.drawn_counts import check_population
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.randomizers.set_response import (
    Overlaps,
    SetResponse,
    drawn_blanket_probability,
)
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, bernoulli_draws, check_rng, stream_of
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class OneBit(SetResponse):
    """Public parameters only.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.OneBit(0.0, 16.0)
    >>> rng = np.random.default_rng(1)
    >>> device.randomize(np.array([0.0, 8.0, 16.0]), np.full(3, 6.0), rng=rng).tolist()
    [0, 1, 1]

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
    """

    # Of every level: people of several levels may share a call of `randomize`.
    draws_alike: ClassVar[bool] = True

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        half_range(self.low, self.high)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "one-bit"

    @property
    def message_code(self) -> NumberCode:
        """The bits."""
        return NumberCode(2)

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"low": float(self.low), "high": float(self.high)}

    @property
    def unit(self) -> "OneBit":
        """The same mechanism for values from -1 to 1; the messages are the same."""
        return OneBit(-1.0, 1.0)

    @property
    def unbiased(self) -> bool:
        """True: the probability of a 1 is affine in the value."""
        return True

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
        check_values(numbers, self.low, self.high)
        check_budgets(budgets)
        messages = np.empty(numbers.size, dtype=np.uint8)
        for people in batches(numbers.size):
            probabilities, stream = (
                self._shares(numbers[people]),
                stream_of(rng, people),
            )
            # A fair draw with probability 2 / (e^eps + 1), otherwise one of probability
            # t.
            probabilities[self.ignores_value(budgets[people], rng=stream)] = 0.5
            messages[people] = bernoulli_draws(probabilities, rng=stream)
        return messages

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
            Number, sum and sum of squares of each level's bits, exact whole numbers of
            Python, shape (levels, 3).

        Raises:
            InvalidInputError: If shapes differ, or a value, a count or a budget is out of
                range.
        """
        numbers = float_array(values, "values")
        people, epsilons = check_population(
            counts, epsilons, num_values=numbers.size, rng=rng
        )
        check_values(numbers, self.low, self.high)
        gamma = drawn_blanket_probability(epsilons, self.overlaps.inside)
        ignoring = rng.binomial(people, gamma[:, None])
        ones = rng.binomial(ignoring, 0.5)
        ones += rng.binomial(people - ignoring, self._shares(numbers))
        # A bit is its own square.
        total = ones.sum(axis=1)
        return np.stack([people.sum(axis=1), total, total], axis=1).astype(np.object_)

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
        # Python's floats raise where a power overflows; this one becomes infinite.
        with np.errstate(over="ignore"):
            length = np.float64(self.high) - np.float64(self.low)
            return mean, high * (1.0 - high) * length**2

    def bits_per_person(self, epsilons: Floats) -> float:
        """1, at every level."""
        del epsilons
        return 1.0

    def _shares(self, values: Floats) -> Floats:
        """Returns t of each value, shape as `values`."""
        half = half_range(self.low, self.high)
        # Halves, as high - low may be more than the largest double. Whatever the
        # rounding, every t in [0, 1] keeps the local budget.
        return np.clip((values / 2.0 - self.low / 2.0) / half, 0.0, 1.0)
