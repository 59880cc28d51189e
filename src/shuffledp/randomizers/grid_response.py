"""k-ary response about a number, which is first rounded to one of k values of a grid.

The grid has k equally spaced values from `low` to `high`. A device moves its number to one
of the two grid values next to it, at random and without bias; that value is sent by k-ary
randomized response. With gamma the probability that a message ignores its number,

    E(message) = gamma (low + high) / 2 + (1 - gamma) number,

so that a mean is estimated without bias. The variance of a message is

    (1 - gamma) h^2 s (1 - s) + gamma h^2 (k^2 - 1) / 12 + gamma (1 - gamma) away^2

with the width h of a step, the share s of it that the number lies above a grid value, and
its distance `away` from the middle. Rounding, the first part, falls with k, and uniform
messages become more with k at the same central guarantee: about the cube root of the
number of users is best.

*Certificate.* That of k-ary response with k categories, whatever the numbers are. Rounding
happens before: the message of a number is a mixture of the messages of two grid values, and
the mixture is drawn by the user alone. Divergences are jointly convex, so that no pair of
numbers shows more than a pair of grid values, and the uniform part, which is the blanket,
is the same for all numbers.

With k = 2 messages have the same distributions as those of one bit (one_bit.py).

Source: Balle, Bell, Gascon, Nissim (2019), arXiv:1903.02837, section 3 (summation).
"""

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.arrays import float_array, one_number_each
from shuffledp.number_range import half_range
from shuffledp.parameter import Parameter
from shuffledp.population import check_budgets
from shuffledp.randomizers.checks import check_values, whole_number
from shuffledp.randomizers.drawn_counts import check_population, exact_sums
from shuffledp.randomizers.grid import (
    grid_points,
    grid_values,
    positions,
    rounding_variances,
)
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.mechanism_setting import setting_metadata
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.randomizers.planned_oracle import geometric_sizes
from shuffledp.randomizers.set_response import (
    Overlaps,
    SetResponse,
    drawn_blanket_probability,
)
from shuffledp.randomizers.tally import batches
from shuffledp.randomness import Rng, check_rng, stream_of
from shuffledp.types import Floats, Ints

# Exact sums of squares of messages allow for more; no population has use for them.
_MOST_VALUES = 2**20
# Sizes that a plan compares. Two values are one bit, which is compared anyway.
_PLANNED = (3, 10_000)


@dataclass(frozen=True, slots=True)
class GridResponse(SetResponse):
    """Public parameters only.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.GridResponse(0.0, 16.0, num_values=9)
    >>> rng = np.random.default_rng(1)
    >>> messages = device.randomize(np.array([2.0, 9.0]), np.full(2, 8.0), rng=rng)
    >>> device.decode(messages).tolist()
    [2.0, 8.0]

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
        num_values: k, how many equally spaced values the grid has, both ends included; at
            least 2. About the cube root of the number of people is best.
    """

    low: float = 0.0
    high: float = 1.0
    _: KW_ONLY
    # Of a population of unknown size: within a factor of 5 of the smallest variance for
    # 1,000 to 1,000,000 people at a central epsilon of 1.
    num_values: int = field(
        default=16,
        metadata=setting_metadata(
            Parameter(
                "values",
                "whole number",
                "Values of the grid",
                least=2,
                most=10_000,
                default=16,
            )
        ),
    )

    def __post_init__(self) -> None:
        half_range(self.low, self.high)
        whole_number(self.num_values, "values of a grid", least=2, most=_MOST_VALUES)

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "grid-response"

    @property
    def plan_name(self) -> str:
        """See `PlannedNumbers`."""
        return f"{self.mechanism}(values={self.num_values})"

    @property
    def message_code(self) -> NumberCode:
        """The indices of the grid values."""
        return NumberCode(self.num_values)

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {
            "low": float(self.low),
            "high": float(self.high),
            "values": int(self.num_values),
        }

    @property
    def unit(self) -> Self:
        """The same mechanism for values from -1 to 1; the messages are the same."""
        return replace(self, low=-1.0, high=1.0)

    @property
    def unbiased(self) -> bool:
        """True: the mean of a decoded message is affine in the value."""
        return True

    @property
    def overlaps(self) -> Overlaps:
        """Those of k-ary response: covers, attacks and densities follow from them."""
        return self._response.overlaps

    def sizes(self) -> list[Self]:
        """See `PlannedNumbers`."""
        return [replace(self, num_values=k) for k in geometric_sizes(*_PLANNED)]

    def comparable_levels(self, epsilons: Floats, other: Self) -> Floats:
        """See `PlannedNumbers`.

        Users hide among the uniform messages of one grid value: levels are comparable where
        a message is a given wrong value with the same probability, 1 / (e^eps + k - 1).
        """
        added = float(other.num_values - self.num_values)
        # e^eps + added, without an overflow.
        growth = np.maximum(1.0 + added * np.exp(-epsilons), np.exp(-epsilons))
        levels: Floats = np.maximum(epsilons + np.log(growth), 0.0)
        return levels

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        """Draws one message per person, in the order of `values`.

        Args:
            values: Numbers in [low, high], shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            Indices of grid values, in [0, k), shape (n,).

        Raises:
            InvalidInputError: If shapes differ, or a value or a budget is out of range.
        """
        check_rng(rng)
        numbers, budgets = one_number_each(values, epsilons)
        check_values(numbers, self.low, self.high)
        check_budgets(budgets)
        response = self._response
        messages: Ints = np.empty(numbers.size, dtype=response.message_type)
        for people in batches(numbers.size):
            stream = stream_of(rng, people)
            # The value is moved, not the message: the guarantee for grid values holds.
            points = grid_points(self._positions(numbers[people]), rng=stream)
            messages[people] = response.randomize(points, budgets[people], rng=stream)
        return messages

    def draw_sums(
        self,
        values: Floats,
        counts: Ints,
        epsilons: Floats,
        *,
        rng: np.random.Generator,
    ) -> NDArray[np.object_]:
        """See `NumberRandomizer`: shape (levels, 3)."""
        numbers = float_array(values, "values")
        people, epsilons = check_population(
            counts, epsilons, num_values=numbers.size, rng=rng
        )
        check_values(numbers, self.low, self.high)
        offsets = self._positions(numbers)
        # All of the last value stay where they are: there is no value above it.
        below = np.minimum(np.floor(offsets), self.num_values - 2).astype(np.int64)
        up = rng.binomial(people, offsets - below)
        messages = np.arange(self.num_values)
        sums = np.zeros((epsilons.size, 3), dtype=np.object_)
        for part in batches(epsilons.size, width=self.num_values):
            holders = np.zeros((len(epsilons[part]), self.num_values), dtype=np.int64)
            np.add.at(holders.T, below, (people - up)[part].T)
            np.add.at(holders.T, below + 1, up[part].T)
            sent = self._response.draw_support_counts(holders, epsilons[part], rng=rng)
            sums[part] = [exact_sums(messages, row) for row in sent]
        return sums

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are integers in [0, k), shape (n,)."""
        self._response.check_messages(messages)

    def decode(self, messages: Ints) -> Floats:
        """Returns the grid value of each message, shape as `messages`."""
        return grid_values(messages, self.low, self.high, self.num_values)

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded message, exactly, (levels, values)."""
        offsets = self._positions(np.asarray(values, dtype=np.float64))
        return self._moments(epsilons, offsets, rounding_variances(offsets))

    def largest_moments(
        self, epsilons: Floats, values: Floats
    ) -> tuple[Floats, Floats]:
        """See `CoarseRandomizer`."""
        offsets = self._positions(np.asarray(values, dtype=np.float64))
        # Halfway between two grid values; of two values, the variance is a parabola.
        rounding = np.full(offsets.shape, 0.25)
        if self.num_values == 2:
            rounding = rounding_variances(offsets)
        return self._moments(epsilons, offsets, rounding)

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary logarithm of the number of messages."""
        return self._response.bits_per_person(epsilons)

    @property
    def law_values(self) -> tuple[float, ...]:
        """The grid values, and one between the first two: see `check_randomizer`."""
        first, second, *others = self.decode(np.arange(self.num_values)).tolist()
        between = 0.65 * first + 0.35 * second
        # Rounding may move the last value out of the range.
        return (first, between, *(min(n, self.high) for n in (second, *others)))

    def law(self, epsilon: float, value: float) -> tuple[Ints, Floats]:
        """Returns all messages and the probability of each, both of shape (k,).

        Args:
            epsilon: A level.
            value: A number in [low, high].
        """
        (offset,) = self._positions(np.array([value])).tolist()
        below = min(int(offset), self.num_values - 2)
        points = np.zeros(self.num_values)
        points[below : below + 2] = 1.0 - (offset - below), offset - below
        low, gap = (float(part[0]) for part in self.drawn(np.array([epsilon])))
        return np.arange(self.num_values), (low + gap * points) / self.num_values

    def _moments(
        self, epsilons: Floats, offsets: Floats, rounding: Floats
    ) -> tuple[Floats, Floats]:
        """Returns mean and variance of messages of numbers at these grid positions.

        Args:
            epsilons: Local budgets, shape (levels,).
            offsets: In [0, k - 1], shape (values,).
            rounding: Variance of rounding, in steps squared, shape (values,).
        """
        steps, epsilons = self.num_values - 1, np.asarray(epsilons, dtype=np.float64)
        gamma = drawn_blanket_probability(epsilons, self.overlaps.inside)[:, None]
        # From the middle, in steps.
        away = offsets - steps / 2.0
        uniform = steps * (steps + 2) / 12.0
        variance = gamma * (uniform + (1.0 - gamma) * away**2)
        variance = variance + (1.0 - gamma) * rounding
        half, middle = (
            half_range(self.low, self.high),
            self.low / 2.0 + self.high / 2.0,
        )
        mean = middle + half * ((1.0 - gamma) * (away / (steps / 2.0)))
        # The square of a long range may overflow: then the variance is infinite.
        with np.errstate(over="ignore"):
            return mean, variance * np.float64(half / (steps / 2.0)) ** 2

    @property
    def _response(self) -> KRandomizedResponse:
        return KRandomizedResponse(int(self.num_values))

    def _positions(self, numbers: Floats) -> Floats:
        """Returns where numbers lie on the grid, in [0, k - 1], shape as `numbers`."""
        return positions(numbers, self.low, self.high, int(self.num_values) - 1)
