"""Noise messages as devices draw them: independent jumps of a few messages at once.

Poisson and negative binomial numbers are infinitely divisible: a collection's noise is a
Poisson number of jumps, each of a size of its own; each of H people draws 1 / H of them in
the mean. A geometric number of ratio p has p^j / j jumps of size j in the mean, a
negative binomial one of shape r and ratio t has r t^j / j.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

# Jumps beyond the longest, in the mean per bucket, that devices never draw.
_OMITTED = 1e-20
_MOST_SIZES = 1_000_000


@dataclass(frozen=True, eq=False)
class JumpRates:
    """Mean numbers of jumps into one bucket, of all people together.

    Attributes:
        plus: Of j messages +, j = 1, 2, ..., shape (sizes,).
        minus: Of j messages -, shape (sizes,).
        pairs: Of j pairs (+, -), shape (sizes,).
        omitted: Jumps of larger sizes in the mean, which are not drawn.
    """

    plus: Floats
    minus: Floats
    pairs: Floats
    omitted: float

    @property
    def total(self) -> float:
        """Jumps in the mean."""
        return float(self.plus.sum() + self.minus.sum() + self.pairs.sum())

    @property
    def kinds(self) -> int:
        """How many kinds of jumps there are, by sign and size."""
        return self.plus.size + self.minus.size + self.pairs.size


# Asked for again by every bound of the same noise.
@lru_cache(maxsize=4)
def logarithmic_rates(shape: float, ratio: float) -> tuple[Floats, float]:
    """Returns the jumps of a negative binomial number in the mean, and those left out.

    Args:
        shape: r > 0.
        ratio: t in (0, 1); the mean is r t / (1 - t).

    Raises:
        InvalidInputError: If there are too many sizes to draw from.
    """
    # The sum of r t^j / j beyond n is at most r t^n / (n (1 - t)).
    num_sizes = math.log(_OMITTED * (1.0 - ratio) / max(shape, 1.0)) / math.log(ratio)
    if not num_sizes <= _MOST_SIZES:
        raise InvalidInputError(
            f"Expected noise whose jumps have at most {_MOST_SIZES:,} sizes, got "
            f"{num_sizes:,.0f}: take a smaller decay, or fewer pairs in a larger shape."
        )
    sizes = np.arange(1.0, max(math.ceil(num_sizes), 1) + 1.0)
    rates: Floats = shape * ratio**sizes / sizes
    rates.setflags(write=False)
    return rates, _OMITTED
