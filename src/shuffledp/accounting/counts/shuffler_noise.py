"""Noise that the shuffler adds to the count of a bucket, and its exact pair.

The shuffler adds U dummies to each bucket, independently of the others: messages + like
those of people. With p = decay and c = dummies,

    P(U = u) = p^{|u - c|} / (sum over j of p^{|j|}, |j| <= c),    u = 0, ..., 2 c.

So U is never negative, and c in the mean, which the analyst subtracts: the remainder is
discrete Laplace noise without its far tails. One + more turns the probability of u into
that of u - 1: the ratio is p for u = 1, ..., c, 1 / p for u = c + 1, ..., 2 c, 0 at u = 0,
and infinite at u = 2 c + 1. That is the whole pair: four outcomes.

*Source*: for dummies of a shuffler, Murakami, Sei and Eriguchi (2025), arXiv:2504.07362;
for the distribution, Geng, Ding, Guo and Kumar (2018), arXiv:1810.00877. The pair is ours.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.accounting.counts.bucket_pair import ULP, BucketChange, BucketPair
from shuffledp.accounting.counts.jump_rates import JumpRates
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

MOST_DUMMIES = 100_000
_SMALLEST_DECAY = 1e-100
# Roundings of a number of dummies as `randomizers/dummy_numbers` draws it, beside 2 c.
_DRAWN = 1000.0
# Probabilities below the smallest normal number, which are not right to a part of
# themselves, add up to less.
_UNDERFLOW = 1e-300


@dataclass(frozen=True)
class ShufflerNoise:
    """Dummies that the shuffler adds: a trusted shuffler, and nothing from devices.

    >>> import shuffledp as sdp
    >>> noise = sdp.ShufflerNoise(decay=0.6065, dummies=37)
    >>> round(noise.variance, 2), noise.messages
    (7.83, 37.0)

    Attributes:
        decay: p in [1e-100, 1), the ratio of the probabilities of neighboring numbers.
        dummies: c, the mean number in each bucket, from 1 to 100,000; there are from 0 to
            2 c.
    """

    decay: float
    dummies: int

    def __post_init__(self) -> None:
        decay = as_number(self.decay, "decay")
        if not _SMALLEST_DECAY <= decay < 1.0:
            raise InvalidInputError(
                f"Expected {_SMALLEST_DECAY:g} <= decay < 1, got {decay:g}."
            )
        check_whole(self.dummies, "dummies per bucket", least=1)
        if self.dummies > MOST_DUMMIES:
            raise InvalidInputError(
                f"Expected at most {MOST_DUMMIES:,} dummies per bucket, got "
                f"{self.dummies:,}."
            )
        # Numbers of one type each: equal noise has equal identities.
        object.__setattr__(self, "decay", decay)
        object.__setattr__(self, "dummies", int(self.dummies))

    @property
    def variance(self) -> float:
        """That of a bucket's dummies."""
        return self._moment(2)

    @property
    def fourth_cumulant(self) -> float:
        """Fourth central moment minus three squared variances."""
        return self._moment(4) - 3.0 * self._moment(2) ** 2

    @property
    def messages(self) -> float:
        """Dummies of a bucket in the mean."""
        return float(self.dummies)

    def scaled(self, factor: float) -> "ShufflerNoise":
        """Returns the noise itself: it does not depend on people."""
        del factor
        return self

    def jumps(self) -> JumpRates:
        """Returns no jumps: devices draw none of this noise."""
        no_rates = np.zeros(0)
        return JumpRates(no_rates, no_rates, no_rates, 0.0)

    def certified(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """See `CountNoise`."""
        del buckets
        return BucketChange(self._pair.thinned(rate), moved, times)

    def attacked(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """Returns the same: the adversary sees these counts."""
        return self.certified(rate, buckets=buckets, moved=moved, times=times)

    def _moment(self, power: int) -> float:
        distances = np.arange(-self.dummies, self.dummies + 1, dtype=np.float64)
        return float(self._masses @ distances**power)

    @cached_property
    def _masses(self) -> Floats:
        """Probabilities of 0, ..., 2 c dummies."""
        weights = np.concatenate([self._side[::-1], [1.0], self._side])
        masses: Floats = weights / (1.0 + 2.0 * self._side.sum())
        return masses

    @cached_property
    def _side(self) -> Floats:
        """Returns p, ..., p^c."""
        powers: Floats = self.decay ** np.arange(1.0, self.dummies + 1.0)
        return powers

    @cached_property
    def _pair(self) -> BucketPair:
        side = self._side
        # Outcomes of one ratio are one: 0; p up to c; 1 / p up to 2 c; infinite.
        end, side_sum = float(side[-1]), float(side.sum())
        shorter_sum = 1.0 + float(side[:-1].sum())
        total = 1.0 + 2.0 * side_sum
        return BucketPair.of(
            np.array([0.0, side_sum, shorter_sum, end]) / total,
            np.array([end, shorter_sum, side_sum, 0.0]) / total,
            missing=_UNDERFLOW,
            # Of these masses, and of those that are drawn.
            drift=(4.0 * self.dummies + _DRAWN) * ULP,
        )


def is_from_shuffler(
    noise: Sequence[object], *, num_honest: int, size: int | None
) -> bool:
    """Tells whether the shuffler adds the noise of all groups.

    Args:
        noise: Of each group.
        num_honest: Among how many people noise is divided.
        size: Messages of a report with dummies; None if there is none.

    Raises:
        InvalidInputError: If it adds that of some groups only, or if devices were to
            divide or fill up the shuffler's noise.
    """
    by_shuffler = [isinstance(each, ShufflerNoise) for each in noise]
    if not any(by_shuffler):
        return False
    if not all(by_shuffler):
        raise InvalidInputError(
            "Expected ShufflerNoise in all groups of buckets, or in none."
        )
    if num_honest != 1:
        raise InvalidInputError(
            f"Expected honest = 1 with ShufflerNoise, which people add none of, got "
            f"{num_honest:,}."
        )
    if size is not None:
        raise InvalidInputError(
            "Expected no report size with ShufflerNoise: a report has its answers only."
        )
    return True


def enough_dummies(decay: float, *, changes: int, delta: float) -> int:
    """Returns a number of dummies whose missing tails cost at most about `delta`.

    Args:
        decay: p in (0, 1).
        changes: Answers of a person.
        delta: In (0, 1).
    """
    # The ends u = 0 and u = 2 c + 1 tell the worlds apart, in two buckets per answer.
    end = (1.0 - decay) / (1.0 + decay) * 2.0 * changes
    return max(math.ceil(math.log(min(delta / end, 1.0)) / math.log(decay)), 1)
