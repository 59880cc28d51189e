"""The design of a search for unlisted texts, and which numbers of holders it finds.

Noise of group g has the variance v / a_g, where the shares a_g of all groups add up to 1,
so that v is the variance of all groups combined. Other people's texts are taken to differ
from each other: each bucket then has n / M of them, a variance of n / M.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from shuffledp.statistics.questionnaire.prefix_layout import PrefixLayout
from shuffledp.statistics.questionnaire.prefix_search import MOST_CANDIDATES, SHORTFALL
from shuffledp.types import Floats

# Draws of noise from which probabilities are predicted: right to 0.2 percent at 95%.
_DRAWS = 10_000


@dataclass(frozen=True)
class DiscoveryPrediction:
    """How a search works out for texts that a number of people hold.

    Attributes:
        layout: Of the collection.
        level_variance: Of noise on a level's count.
        check_variance: Of noise on a check's count.
        num_users: n.
        expected: How many texts are held by `least` people or more.
        least: m: the search is made for texts of so many people.
        false_texts: alpha: texts that nobody holds, in the mean, that may be printed.
    """

    layout: PrefixLayout
    level_variance: float
    check_variance: float
    num_users: int
    expected: int
    least: float
    false_texts: float

    @property
    def _deviations(self) -> tuple[float, float]:
        n, layout = self.num_users, self.layout
        return (
            math.sqrt(self.level_variance + n / 2**layout.level_bits),
            math.sqrt(self.check_variance + n / 2**layout.check_bits),
        )

    @cached_property
    def candidates(self) -> float:
        """About the most prefixes that pass on any level."""
        layout, m = self.layout, self.least
        deviation, levels = self._deviations[0], self.layout.levels
        windows = np.arange(1, levels + 1)
        alone = ndtr(SHORTFALL - m * np.sqrt(windows) / deviation)
        tails = np.concatenate([[1.0], np.minimum.accumulate(alone)])
        # A level on which the bucket is another such text's is no test.
        shared = self.expected / 2**layout.level_bits
        passes = np.array(
            [
                sum(math.comb(w, j) * shared**j * tails[w - j] for j in range(w + 1))
                for w in range(levels + 1)
            ]
        )
        steps = np.array(layout.widths, dtype=np.float64)
        worst = 0.0
        for level in range(levels):
            # Siblings that left a text's prefixes w levels ago, and prefixes of no text.
            siblings = sum(
                2.0 ** (steps[level] - steps[level - w]) * passes[w]
                for w in range(1, level + 1)
            )
            others = 2.0 ** steps[level] * passes[level + 1]
            worst = max(worst, self.expected * (1.0 + siblings) + others)
        return worst

    @cached_property
    def threshold(self) -> float:
        """About the sum of counts over checks that a text needs, in people."""
        layout, m, deviation = self.layout, self.least, self._deviations[1]
        shared, checks = self.expected / 2**layout.check_bits, layout.checks
        allowed = self.false_texts / max(self.candidates, 1.0)

        def tail(total: float) -> float:
            mass = 0.0
            for j in range(checks + 1):
                noise = deviation * math.sqrt(checks - j)
                above = total - j * m
                passes = ndtr(-above / noise) if noise else float(above <= 0.0)
                mass += math.comb(checks, j) * shared**j * passes
            return float(mass)

        low, high = 0.0, checks * m
        for _ in range(30):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if tail(middle) > allowed else (low, middle)
        return high

    def probability(self, held: float) -> float:
        """Returns the probability that a text of `held` people is found, about.

        0 if more prefixes pass than a search keeps.
        """
        if self.candidates > MOST_CANDIDATES:
            return 0.0
        layout, m = self.layout, self.least
        level, check = self._deviations
        noise = _noise(layout.levels + layout.checks)
        searched, checked = noise[:, : layout.levels], noise[:, layout.levels :]
        scores = np.clip(held + check * checked, -m, m).sum(axis=1)
        finds = scores >= self.threshold
        scores = np.minimum(held + level * searched, m + level)
        sums = np.cumsum(np.insert(scores, 0, 0.0, axis=1), axis=1)
        for w in range(1, layout.levels + 1):
            floor = w * m - SHORTFALL * level * math.sqrt(w)
            finds &= np.all(sums[:, w:] - sums[:, :-w] >= floor, axis=1)
        return float(finds.mean())

    def found_from(self, probability: float = 0.95) -> float:
        """Returns about the number of holders from which a text is found, in people.

        Infinite if none is found with this probability.
        """
        low, high = 0.0, 2.0 * self.least
        if self.probability(high) < probability:
            return math.inf
        for _ in range(12):
            middle = 0.5 * (low + high)
            if self.probability(middle) < probability:
                low = middle
            else:
                high = middle
        return high


def _noise(groups: int) -> Floats:
    # The same draws for every design, so that a comparison has no noise of its own.
    return np.random.default_rng(2026).normal(size=(_DRAWS, groups))
