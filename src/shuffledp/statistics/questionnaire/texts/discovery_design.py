"""The design of a search for unlisted texts, and which numbers of holders it finds.

Noise of group g has the variance v / a_g, where the shares a_g of all groups add up to 1,
so that v is the variance of all groups combined. Other people's texts are taken to differ
from each other: each of M buckets then has n / M of them. Where prefixes have w bits,
n / 2^w people share one, and the variance is (n / M) (1 + n / 2^w).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from shuffledp.statistics.questionnaire.texts.code_checks import PASSES
from shuffledp.statistics.questionnaire.texts.prefix_layout import PrefixLayout
from shuffledp.statistics.questionnaire.texts.prefix_search import (
    MOST_CANDIDATES,
    SHORTFALL,
)
from shuffledp.types import Floats

# Draws of noise from which probabilities are predicted: right to 0.2 percent at 95%.
_DRAWS = 10_000


@dataclass(frozen=True)
class DiscoveryPrediction:
    """How a search works out for texts that a number of people hold.

    Attributes:
        layout: Of the collection.
        layer_variance: Of noise on a layer's count.
        check_variance: Of noise on a check's count.
        num_users: n.
        expected: How many texts are held by `least` people or more.
        least: m: the search is made for texts of this many people.
        false_texts: alpha: texts without a holder, in the mean, that may be printed.
    """

    layout: PrefixLayout
    layer_variance: float
    check_variance: float
    num_users: int
    expected: int
    least: float
    false_texts: float

    @cached_property
    def _layer_variances(self) -> Floats:
        n, layout = self.num_users, self.layout
        shared = n / 2.0 ** np.array(layout.widths)
        # The prefixes of layer 1 have buckets of their own.
        shared[0] = 0.0
        variances: Floats = self.layer_variance + n / 2**layout.level_bits * (
            1.0 + shared
        )
        return variances

    @property
    def _check_deviation(self) -> float:
        return math.sqrt(
            self.check_variance + self.num_users / 2**self.layout.check_bits
        )

    @property
    def standard_error(self) -> float:
        """About that of a text's count, in people, if it shares no bucket."""
        return self._check_deviation / math.sqrt(self.layout.checks)

    @cached_property
    def candidates(self) -> float:
        """About the most prefixes that pass on any layer."""
        layout, m = self.layout, self.least
        # A layer on which the bucket is another such text's is no test.
        shared = self.expected / 2**layout.level_bits
        steps = np.array(layout.widths, dtype=np.float64)
        largest_count = 0.0
        for layer in range(layout.levels):
            sums = np.cumsum(self._layer_variances[layer::-1])
            windows = np.arange(1, layer + 2)
            window_tails = ndtr(SHORTFALL - m * windows / np.sqrt(sums))
            tails = np.concatenate([[1.0], np.minimum.accumulate(window_tails)])
            passes = [
                sum(math.comb(w, j) * shared**j * tails[w - j] for j in range(w + 1))
                for w in range(layer + 2)
            ]
            # Siblings that left a text's prefixes w layers ago, and prefixes of no text.
            siblings = sum(
                2.0 ** (steps[layer] - steps[layer - w]) * passes[w]
                for w in range(1, layer + 1)
            )
            others = 2.0 ** steps[layer] * passes[layer + 1]
            largest_count = max(
                largest_count, self.expected * (1.0 + siblings) + others
            )
        return largest_count

    @cached_property
    def threshold(self) -> float:
        """About the sum of counts over checks that a text needs, in people."""
        layout, m, deviation = self.layout, self.least, self._check_deviation
        shared, checks = self.expected / 2**layout.check_bits, layout.checks
        # The first pass alone: later ones add a little.
        allowed_passes = self.false_texts / PASSES / max(self.candidates, 1.0)

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
            low, high = (
                (middle, high) if tail(middle) > allowed_passes else (low, middle)
            )
        return high

    def probability(self, num_people: float) -> float:
        """Returns the probability that a text of that many people is found, about.

        0 if more prefixes pass than a search keeps.
        """
        if self.candidates > MOST_CANDIDATES:
            return 0.0
        layout, m = self.layout, self.least
        check_deviation = self._check_deviation
        layer_deviations = np.sqrt(self._layer_variances)
        noise = _noise_draws(layout.levels + layout.checks)
        searched, checked = noise[:, : layout.levels], noise[:, layout.levels :]
        scores = np.clip(num_people + check_deviation * checked, -m, m).sum(axis=1)
        finds = scores >= self.threshold
        scores = np.minimum(
            num_people + layer_deviations * searched, m + layer_deviations
        )
        sums = np.cumsum(np.insert(scores, 0, 0.0, axis=1), axis=1)
        variances = np.cumsum(np.insert(self._layer_variances, 0, 0.0))
        for w in range(1, layout.levels + 1):
            floor = w * m - SHORTFALL * np.sqrt(variances[w:] - variances[:-w])
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


def _noise_draws(groups: int) -> Floats:
    # The same draws for every design, so that a comparison has no noise of its own.
    return np.random.default_rng(2026).normal(size=(_DRAWS, groups))
