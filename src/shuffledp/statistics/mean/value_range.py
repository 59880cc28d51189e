"""The range of people's values, and that of the randomizer which they are moved to."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.number_range import half_range
from shuffledp.randomizers.checks import check_values
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.types import Floats


@dataclass(frozen=True)
class ValueRange:
    """Two ranges of the same width.

    Attributes:
        low: Smallest possible value.
        high: Largest possible value.
        randomizer_low: Smallest value that the randomizer takes.
        randomizer_high: Largest value that the randomizer takes.
    """

    low: float
    high: float
    randomizer_low: float
    randomizer_high: float

    @property
    def half(self) -> float:
        """Half of the width."""
        return half_range(self.low, self.high)

    @property
    def middle(self) -> float:
        """The middle of the values."""
        # Halved first: the sum of the ends may overflow.
        return self.low / 2.0 + self.high / 2.0

    @property
    def shift(self) -> float:
        """The number taken off a value on the device, and added to the estimate."""
        if (self.randomizer_low, self.randomizer_high) == (self.low, self.high):
            return 0.0
        return self.middle - (self.randomizer_low / 2.0 + self.randomizer_high / 2.0)

    def moved(self, numbers: Floats) -> Floats:
        """Returns values in the range of the randomizer, shape (n,).

        Raises:
            InvalidInputError: If a value is out of range.
        """
        check_values(numbers, self.low, self.high)
        if not self.shift:
            return numbers
        # Rounding of the shift may leave the range, which randomizers refuse.
        return np.clip(numbers - self.shift, self.randomizer_low, self.randomizer_high)

    def scaled(self, mean: float | None) -> float:
        """Returns where a mean, by default the middle, is between -1 and 1.

        Raises:
            InvalidInputError: If it is out of range.
        """
        value = self.middle if mean is None else as_number(mean, "mean")
        if not self.low <= value <= self.high:
            raise InvalidInputError(f"Expected a mean in the range, got {value:g}.")
        # Rounding again: an end of the range may come out a little above 1.
        return float(np.clip((value - self.middle) / self.half, -1.0, 1.0))


def check_randomizer(randomizer: Any, low: float, high: float) -> None:
    """Raises InvalidInputError unless it randomizes numbers of a range of this width."""
    # A class has the attributes of its objects, and would pass.
    if isinstance(randomizer, type) or not isinstance(randomizer, NumberRandomizer):
        raise InvalidInputError(
            "Expected a randomizer of numbers, such as Laplace, got "
            f"{getattr(randomizer, '__name__', repr(randomizer))}."
        )
    # Of another range of this width, values are moved to it, and the estimate back.
    if not half_range(randomizer.low, randomizer.high) == half_range(low, high):
        raise InvalidInputError(
            f"Expected a randomizer of numbers in a range as wide as [{low:g}, "
            f"{high:g}], got one of [{randomizer.low:g}, {randomizer.high:g}]."
        )
