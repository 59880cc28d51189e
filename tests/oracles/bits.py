"""Populations that send bits, by the definition of the divergence."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np

from oracles import multiprecision
from shuffledp.cover import TwoMessages
from shuffledp.types import Floats, Ints

Number = Any


@dataclass(frozen=True, eq=False)
class Crowd:
    """Other users of some levels, each with two probabilities of a 1, and a target user."""

    low: Floats
    high: Floats
    counts: Ints
    first: float
    second: float

    @property
    def bits(self) -> TwoMessages:
        """The same population in the accountant's form."""
        least = np.stack([self.low, 1.0 - self.high])
        return TwoMessages(least, self.first - self.second, self.second)

    def chances(self, holders: Sequence[int]) -> list[float]:
        """Returns each user's probability of a 1, given holders of the likelier value."""
        return [
            float(probability)
            for a, b, n, k in zip(
                self.low, self.high, self.counts, holders, strict=True
            )
            for probability in [b] * int(k) + [a] * int(n - k)
        ]

    def divergence(self, holders: Sequence[int], epsilon: float) -> float:
        """Returns the exact divergence for these data, in doubles."""
        # No term is negative: nothing cancels.
        distribution = np.ones(1)
        for probability in self.chances(holders):
            distribution = np.convolve(distribution, [1.0 - probability, probability])
        first = np.convolve(distribution, [1.0 - self.first, self.first])
        second = np.convolve(distribution, [1.0 - self.second, self.second])
        return float(np.maximum(first - np.exp(epsilon) * second, 0.0).sum())

    def precise_divergence(self, holders: Sequence[int], epsilon: float) -> Number:
        """Returns the same with fifty digits."""
        distribution = multiprecision.bernoulli_sum(
            [mp.mpf(c) for c in self.chances(holders)]
        )
        first = multiprecision.bernoulli_sum([mp.mpf(self.first)])
        second = multiprecision.bernoulli_sum([mp.mpf(self.second)])
        ratio = mp.exp(mp.mpf(epsilon))
        padded = [mp.mpf(0), *distribution, mp.mpf(0)]
        return mp.fsum(
            max(
                (first[1] - ratio * second[1]) * padded[s]
                + (first[0] - ratio * second[0]) * padded[s + 1],
                mp.mpf(0),
            )
            for s in range(len(distribution) + 1)
        )

    def all_data(self) -> Iterator[tuple[int, ...]]:
        """Yields all combinations of holders at each level."""
        return itertools.product(*(range(int(n) + 1) for n in self.counts))


def random_crowd(rng: np.random.Generator, most: Sequence[int] = (40, 9, 5)) -> Crowd:
    """Draws a population of one to three levels of any kind, and a target user."""
    levels = int(rng.integers(1, 4))
    counts = rng.integers(1, most[levels - 1] + 1, size=levels)
    flip = 1.0 / (np.exp(np.exp(rng.uniform(-3.0, 1.8, levels))) + 1.0)
    kind = int(rng.integers(4))
    if kind == 0:
        low, high = flip, 1.0 - flip
    elif kind == 1:
        low, high = flip, np.full(levels, 0.5)
    elif kind == 2:
        low, high = np.full(levels, 0.5), 1.0 - flip
    else:
        low = rng.uniform(0.0, 0.6, levels)
        high = rng.uniform(low, 1.0)
    second = float(rng.uniform(0.001, 0.9))
    first = float(rng.uniform(second + 0.01 * (1.0 - second), 1.0))
    return Crowd(low, high, counts, first, second)
