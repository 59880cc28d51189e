"""The true mean, counted by each part of the people."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shuffledp.analyzer.dependence import Dependence, dependence
from shuffledp.datasets.column_values import numbers_of
from shuffledp.errors import InvalidInputError
from shuffledp.number_range import half_range
from shuffledp.option_text import Argument, option_text
from shuffledp.population import Population
from shuffledp.statistics.level_dependence import LevelGroups
from shuffledp.statistics.mean.moments import power_sums
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.types import Floats, Ints

# Values are added up as whole numbers of steps, 2^40 from the middle to either end: sums
# of floats would depend on how people are divided into parts.
_STEPS = 2.0**40


@dataclass(frozen=True)
class MeanTruth:
    """Number, sum and sum of squares of the values of each level: see `Truth`.

    Attributes:
        protocol: The protocol that is run.
        clip: Whether values outside of the range are moved to its ends.
    """

    protocol: Mean
    clip: bool = False

    @property
    def width(self) -> int:
        """Three numbers."""
        return 3

    def values(self, column: pl.Series) -> Floats:
        """See `Truth`."""
        low, high = self.protocol.low, self.protocol.high
        return bounded(numbers_of(column), low, high, clip=self.clip)

    def count(
        self, values: Floats, group_indices: Ints, num_groups: int
    ) -> NDArray[Any]:
        """See `Truth`."""
        middle, half = self._scale
        # Rounded by at most 2^-41 of half the range: the mean is right to 1e-12 of it.
        steps = np.rint((values / half - middle / half) * _STEPS).astype(np.int64)
        return power_sums(steps, group_indices, num_groups)

    def evaluate(
        self, counts: NDArray[Any], groups: LevelGroups, people: Population
    ) -> tuple[Floats, Dependence | None]:
        """See `Truth`."""
        middle, half = self._scale
        # In Python's integers: a single square may have 2^80 steps.
        total, squares = int(counts[:, 1].sum()), int(counts[:, 2].sum())
        mean = middle + half * (total / (people.num_users * _STEPS))
        # A stratified estimate stays unbiased if levels depend on values.
        if self.protocol.mode == "stratified":
            return np.array([mean]), None
        slopes = self.protocol.channel(people).slopes(mean)
        level_means, together = groups.averages(slopes, people)
        # Deviations from the middle of the range, in the units of values but for a power of
        # two, which changes no digit: squares of values may overflow.
        mantissa, exponent = math.frexp(half)
        sums = counts[:, 1:2].astype(np.float64) * (mantissa / _STEPS)
        square = np.array([float(squares) * (mantissa / _STEPS) ** 2])
        scaled = dependence(together, level_means, sums, square)
        bias = np.ldexp(scaled.bias, exponent)
        return np.array([mean]), Dependence(bias, scaled.p_value)

    @property
    def _scale(self) -> tuple[float, float]:
        low, high = self.protocol.low, self.protocol.high
        return low / 2.0 + high / 2.0, half_range(low, high)


def bounded(values: Floats, low: float, high: float, *, clip: bool) -> Floats:
    """Returns values within bounds.

    Args:
        values: Finite numbers, shape (n,).
        low: The smallest possible one.
        high: The largest.
        clip: Whether those outside are moved to the bounds.

    Raises:
        InvalidInputError: If one is outside, and is not moved.
    """
    outside = values[~((values >= low) & (values <= high))]
    if not clip and outside.size:
        raise InvalidInputError(
            option_text(
                "Expected values from {:g} to {:g}, but {:,} are outside: widen {} "
                "and {}, or move them to the ends with {}.",
                low,
                high,
                outside.size,
                Argument("low"),
                Argument("high"),
                Argument("clip"),
            )
        )
    return np.clip(values, low, high)
