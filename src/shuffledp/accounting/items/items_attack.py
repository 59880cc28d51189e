"""Attack on s replaced items: the adversary adds up rounded scores.

The adversary scores the counts of the items left with u(x) = round(log a(x) / h), clipped,
and of those right with -u(y), and adds up. In both worlds a function of the view is a
post-processing of it, so that their divergence, computed exactly, is a lower bound; and
log a(x) - log a(y) being the log-likelihood ratio, next to nothing is lost. The second
world's distribution is the mirror image of the first one's. All sums are of positive
terms.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.items.item_pair import ItemPair, poisson_window
from shuffledp.accounting.sums.score_sums import ALL_DROPPED, sum_steps, summed
from shuffledp.types import Floats

# Rounding is so fine a part of the score's standard deviation, and clipping so far out.
_FINENESS = 40
_FINENESS_OF_MANY = 16
_MANY = 8
_DEVIATIONS = 14
_ULP = 2.3e-16


@dataclass(frozen=True, eq=False)
class ItemsAttack:
    """The distribution of the adversary's score in the first world.

    Attributes:
        scores: Probability of each score -size, ..., size, shape (2 size + 1,).
        missing: Bound of the mass that these probabilities leave out.
        doubt: Bound of their relative error.
    """

    scores: Floats
    missing: float
    doubt: float

    def delta(self, epsilon: float) -> float:
        """Returns a proven lower bound of delta at `epsilon` >= 0."""
        with np.errstate(over="ignore"):
            growth = float(np.exp(epsilon))
        first, second = self.scores, self.scores[::-1]
        tells = first > growth * second
        gain = float((first - growth * second)[tells].sum())
        wrong = self.doubt * float((first + growth * second)[tells].sum())
        return max(gain - wrong - growth * self.missing, 0.0)


def items_attack(pair: ItemPair, times: int) -> ItemsAttack:
    """Returns the attack on `times` items replaced at once.

    Args:
        pair: One item replaced; its send_chance is above 0.
        times: How many, at least 1.
    """
    window = poisson_window(pair.mean)
    masses, probability = window.masses, pair.send_probability
    shifted = np.concatenate([[0.0], masses[:-1]])
    distributions = [(1.0 - probability) * masses + probability * shifted, masses]
    with np.errstate(divide="ignore"):
        logs = np.log(pair.ratios())
    finite = np.isfinite(logs)
    mean = float((masses * np.where(finite, logs, 0.0)).sum())
    spread = (np.where(finite, logs, mean) - mean) ** 2
    deviation = math.sqrt(max(float((masses * spread).sum()), 1e-300))
    # Where counts are mostly 0, nearly all of the variance is that of one jump.
    jump = float(np.max(np.abs(np.diff(logs[finite][:3])), initial=0.0))
    fineness = _FINENESS if times <= _MANY else _FINENESS_OF_MANY
    width = max(deviation, jump / 10.0) / fineness
    size = fineness * _DEVIATIONS
    units = np.clip(np.rint((logs - mean) / width), -size, size).astype(np.int64) + size
    single = [
        np.bincount(units, weights=distribution, minlength=2 * size + 1).astype(
            np.float64
        )
        for distribution in distributions
    ]
    limit = math.ceil(size * math.sqrt(times)) + size
    first, second = (summed(distribution, times, limit) for distribution in single)
    steps = sum_steps(times)
    return ItemsAttack(
        scores=np.convolve(first, second[::-1]),
        missing=8.0 * times * window.outside + ALL_DROPPED,
        doubt=2.0 * times * (window.doubt + 10.0 * _ULP) + 8.0 * steps * limit * _ULP,
    )
