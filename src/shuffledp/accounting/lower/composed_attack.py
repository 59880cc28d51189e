"""An adversary's score of several independent pairs: a lower bound of their composition.

The adversary rounds the log-likelihood ratio of every pair to whole multiples of a width,
clips it, and adds up; of a mirrored pair, the ratio of the other one is subtracted. In
both worlds the score is post-processing of the view, so that the divergence of its two
distributions, computed exactly, is a lower bound. All sums are of positive terms.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.lower.attacked_pair import AttackedPair, ratios_of
from shuffledp.accounting.sums.score_sums import (
    ALL_DROPPED,
    clipped,
    sum_steps,
    summed,
)
from shuffledp.types import Floats, Ints

# Steps of a standard deviation of the score, and deviations to either side.
_FINENESS, _DEVIATIONS = 200, 14
# Its exponential is a finite number.
_LARGEST_EXPONENT = 700.0
_ULP = 2.3e-16


@dataclass(frozen=True, eq=False)
class ComposedAttack:
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
        """Returns a proven lower bound of delta at `epsilon` >= 0, in either direction.

        It is that of the masses of the pairs; `after_errors` subtracts what they lack.
        """
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


def composed_attack(pairs: Sequence[AttackedPair]) -> ComposedAttack:
    """Returns the distributions of the score of these pairs, all at once."""
    logs = [_log_ratios(pair) for pair in pairs]
    variance = sum(
        pair.number * _variance(each, pair)
        for each, pair in zip(logs, pairs, strict=True)
    )
    width = math.sqrt(max(variance, 1e-300)) / _FINENESS
    limit = _FINENESS * _DEVIATIONS
    first = second = np.ones(1)
    steps = 0
    for each, pair in zip(logs, pairs, strict=True):
        units = np.clip(np.rint(each / width), -limit, limit).astype(np.int64) + limit
        forward, backward = (
            summed(_binned(units, masses, limit), pair.times, limit)
            for masses in (pair.first, pair.second)
        )
        if pair.is_mirrored:
            joint_masses = clipped(np.convolve(forward, backward[::-1]), limit)
            forward, backward = joint_masses, joint_masses[::-1]
        first, second = (
            clipped(np.convolve(total, part), limit)
            for total, part in ((first, forward), (second, backward))
        )
        steps += sum_steps(pair.times) + 2
    return ComposedAttack(
        first=first,
        second=second,
        missing=ALL_DROPPED,
        doubt=8.0 * steps * limit * _ULP,
    )


def after_errors(
    lower: Callable[[float], float], epsilon: float, *, missing: float, drift: float
) -> float:
    """Returns a lower bound of the divergence of the view, at `epsilon` >= 0.

    Args:
        lower: A lower bound for the masses of the pairs, at any epsilon.
        epsilon: Of the divergence.
        missing: Bound of the mass by which all pairs together may be wrong.
        drift: Apart from that, masses are right up to a factor of e^{+-drift}.
    """
    # A lower bound for masses at epsilon + 2 drift holds for the true ones at epsilon,
    # up to a factor of e^-drift.
    later = math.nextafter(epsilon + 2.0 * drift, math.inf)
    attacked = lower(later)
    # Missing mass is paid for as in an upper bound, where ratios of 1 count, too.
    if missing > 0.0:
        attacked -= 2.0 * (1.0 + math.exp(min(later, _LARGEST_EXPONENT))) * missing
    return max(math.exp(-drift) * (1.0 - 4.0 * _ULP) * attacked, 0.0)


def _log_ratios(pair: AttackedPair) -> Floats:
    # Not the quotients that the pair would keep: some have a million outcomes.
    ratios = ratios_of(pair.first, pair.second)
    with np.errstate(divide="ignore"):
        return np.log(ratios, out=ratios)


def _variance(logs: Floats, pair: AttackedPair) -> float:
    finite = np.isfinite(logs)
    values, masses = logs[finite], pair.second[finite]
    mean = float(masses @ values)
    return float(masses @ (values - mean) ** 2)


def _binned(units: Ints, masses: Floats, limit: int) -> Floats:
    return np.bincount(units, weights=masses, minlength=2 * limit + 1).astype(
        np.float64
    )
