"""An adversary's score of several buckets, whose distribution is a lower bound.

The adversary rounds the log-likelihood ratio of every bucket to whole multiples of a
width, clips it, and adds up; where a message moves, the ratio of the bucket it would move
to is subtracted. In both worlds the score is post-processing of the view, so that the
divergence of its two distributions, computed exactly, is a lower bound. All sums are of
positive terms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.counts.bucket_pair import ULP, BucketChange, BucketPair
from shuffledp.accounting.sums.score_sums import (
    ALL_DROPPED,
    clipped,
    sum_steps,
    summed,
)
from shuffledp.types import Floats, Ints

# Steps of a standard deviation of the score, and deviations to either side.
_FINENESS, _DEVIATIONS = 200, 14


@dataclass(frozen=True, eq=False)
class BucketScores:
    """Distributions of the score in both worlds.

    Attributes:
        first: Probability of each score in the first world, shape (scores,).
        second: In the second world, shape (scores,).
        missing: Bound of the mass that either leaves out.
        doubt: Bound of the relative error of both.
    """

    first: Floats
    second: Floats
    missing: float
    doubt: float

    def lower(self, epsilon: float) -> float:
        """Returns a proven lower bound of delta at `epsilon` >= 0, in either direction."""
        return max(
            self._gain(self.first, self.second, epsilon),
            self._gain(self.second, self.first, epsilon),
        )

    def _gain(self, first: Floats, second: Floats, epsilon: float) -> float:
        with np.errstate(over="ignore"):
            growth = float(np.exp(epsilon))
        tells = first > growth * second
        gain = float((first - growth * second)[tells].sum())
        wrong = self.doubt * float((first + growth * second)[tells].sum())
        return max(gain - wrong - growth * self.missing, 0.0)


def bucket_scores(changes: Sequence[BucketChange]) -> BucketScores:
    """Returns the distributions of the score of these changes, all at once."""
    logs = [_log_ratios(change.pair) for change in changes]
    variance = sum(
        change.buckets * _variance(each, change.pair)
        for each, change in zip(logs, changes, strict=True)
    )
    width = math.sqrt(max(variance, 1e-300)) / _FINENESS
    limit = _FINENESS * _DEVIATIONS
    first = second = np.ones(1)
    steps = 0
    for each, change in zip(logs, changes, strict=True):
        units = np.clip(np.rint(each / width), -limit, limit).astype(np.int64) + limit
        pair = change.pair
        with_message, without = (
            summed(_binned(units, masses, limit), change.times, limit)
            for masses in (pair.with_message, pair.without)
        )
        if change.moved:
            moved = clipped(np.convolve(with_message, without[::-1]), limit)
            with_message, without = moved, moved[::-1]
        first, second = (
            clipped(np.convolve(total, part), limit)
            for total, part in ((first, with_message), (second, without))
        )
        steps += sum_steps(change.times) + 2
    return BucketScores(
        first=first,
        second=second,
        missing=ALL_DROPPED,
        doubt=8.0 * steps * limit * ULP,
    )


def _log_ratios(pair: BucketPair) -> Floats:
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(pair.ratios)
    return logs


def _variance(logs: Floats, pair: BucketPair) -> float:
    finite = np.isfinite(logs)
    values, masses = logs[finite], pair.without[finite]
    mean = float(masses @ values)
    return float(masses @ (values - mean) ** 2)


def _binned(units: Ints, masses: Floats, limit: int) -> Floats:
    return np.bincount(units, weights=masses, minlength=2 * limit + 1).astype(
        np.float64
    )
