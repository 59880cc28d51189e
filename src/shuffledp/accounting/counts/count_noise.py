"""Noise on the count of a bucket, of all honest people together.

Noise of each bucket is independent of the others' if it is `PoissonNoise`, Poisson many +
messages, whose mean an estimate subtracts, or `GeometricNoise`; buckets of `SlotNoise`
are dependent.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from shuffledp.accounting.counts.bucket_pair import ULP, BucketChange, BucketPair
from shuffledp.accounting.counts.jump_rates import JumpRates
from shuffledp.accounting.counts.poisson_pair import (
    LARGEST_MEAN,
    SMALLEST_MEAN,
    PoissonPair,
    poisson_window,
)
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError

# Relative rounding of a mean that was computed from others.
_ROUNDING = 8e-16


class CountNoise(Protocol):
    """Noise that all honest people together add to the count of one bucket."""

    @property
    def variance(self) -> float:
        """Variance of the noise on an estimated count."""
        ...

    @property
    def fourth_cumulant(self) -> float:
        """Fourth cumulant of the noise on a count; above 0 where tails are long."""
        ...

    @property
    def messages(self) -> float:
        """Mean number of noise messages in the bucket."""
        ...

    def scaled(self, factor: float) -> "CountNoise":
        """Returns the noise of `factor` times as many people, or less than that.

        Raises:
            CertificationError: If nothing is proven for so few.
        """
        ...

    def jumps(self) -> JumpRates:
        """Returns how people draw the noise of one bucket, all together."""
        ...

    def certified(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """Returns changes that say no less about a user than the buckets do.

        Args:
            rate: Probability that a message is sent, in (0, 1].
            buckets: Of the group.
            moved: Whether messages move to other buckets, or appear and disappear.
            times: How many messages, in one collection.
        """
        ...

    def attacked(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """Returns changes that an adversary sees; arguments are those of `certified`."""
        ...


@dataclass(frozen=True)
class PoissonNoise:
    """A Poisson-distributed number of noise messages in every bucket.

    >>> import shuffledp as sdp
    >>> sdp.PoissonNoise(43.0).messages
    43.0

    Attributes:
        mean: Noise messages per bucket of all honest people together, from 1e-9 to 1e9.
    """

    mean: float

    def __post_init__(self) -> None:
        mean = number_between(
            "noise messages per bucket", self.mean, SMALLEST_MEAN, LARGEST_MEAN
        )
        # A number of one type: equal noise has equal identities.
        (field,) = fields(self)
        object.__setattr__(self, field.name, mean)

    @property
    def variance(self) -> float:
        """The mean."""
        return self.mean

    @property
    def fourth_cumulant(self) -> float:
        """The mean."""
        return self.mean

    @property
    def messages(self) -> float:
        """The mean."""
        return self.mean

    def scaled(self, factor: float) -> "PoissonNoise":
        """See `CountNoise`."""
        # Unchanged, with what is known of it already.
        return self if factor == 1.0 else PoissonNoise(self.mean * factor)

    def jumps(self) -> JumpRates:
        """Returns single messages +."""
        return JumpRates(np.array([self.mean]), np.zeros(0), np.zeros(0), 0.0)

    def certified(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """See `CountNoise`."""
        del buckets
        # Rounded downward: more noise is post-processing.
        proven = PoissonPair(self.mean * (1.0 - _ROUNDING), rate) if moved else None
        return BucketChange(self._pair.thinned(rate), moved, times, proven)

    def attacked(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """See `CountNoise`."""
        del buckets
        # An adversary may tell counts beyond the window apart from those inside: what is
        # missing there takes nothing from a lower bound.
        pair = replace(self._pair.thinned(rate), missing=0.0)
        return BucketChange(pair, moved, times)

    @cached_property
    def _pair(self) -> BucketPair:
        # Poisson + 1 against Poisson: the ratio at x is x / mean.
        window = poisson_window(self.mean)
        return BucketPair(
            window.masses * (window.counts / self.mean),
            window.masses,
            2.0 * window.outside,
            2.0 * window.doubt + 10.0 * ULP,
        )


def number_between(name: str, value: float, least: float, most: float) -> float:
    """Returns a parameter; raises InvalidInputError unless it is in this range."""
    number = as_number(value, name)
    if not least <= number <= most:
        raise InvalidInputError(
            f"Expected from {least:g} to {most:g} {name}, got {number:g}."
        )
    return number
