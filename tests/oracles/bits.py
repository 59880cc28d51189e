"""Crowds that send ones and zeros, straight from the definition of the divergence."""

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
    """Others of some levels, each with two chances of a one, and a victim."""

    low: Floats
    high: Floats
    counts: Ints
    first: float
    second: float

    @property
    def bits(self) -> TwoMessages:
        """As the accountant is told."""
        least = np.stack([self.low, 1.0 - self.high])
        return TwoMessages(least, self.first - self.second, self.second)

    def chances(self, holders: Sequence[int]) -> list[float]:
        """Everybody's chance of a one, if so many of each level hold the likelier value."""
        return [
            float(chance)
            for a, b, n, k in zip(
                self.low, self.high, self.counts, holders, strict=True
            )
            for chance in [b] * int(k) + [a] * int(n - k)
        ]

    def divergence(self, holders: Sequence[int], epsilon: float) -> float:
        """The exact divergence for these data, in doubles: no term is negative."""
        law = np.ones(1)
        for chance in self.chances(holders):
            law = np.convolve(law, [1.0 - chance, chance])
        here = np.convolve(law, [1.0 - self.first, self.first])
        there = np.convolve(law, [1.0 - self.second, self.second])
        return float(np.maximum(here - np.exp(epsilon) * there, 0.0).sum())

    def precise_divergence(self, holders: Sequence[int], epsilon: float) -> Number:
        """The same with fifty digits."""
        law = multiprecision.coin_sum([mp.mpf(c) for c in self.chances(holders)])
        here = multiprecision.coin_sum([mp.mpf(self.first)])
        there = multiprecision.coin_sum([mp.mpf(self.second)])
        ratio = mp.exp(mp.mpf(epsilon))
        padded = [mp.mpf(0), *law, mp.mpf(0)]
        return mp.fsum(
            max(
                (here[1] - ratio * there[1]) * padded[s]
                + (here[0] - ratio * there[0]) * padded[s + 1],
                mp.mpf(0),
            )
            for s in range(len(law) + 1)
        )

    def all_data(self) -> Iterator[tuple[int, ...]]:
        """Holders at each level, all combinations."""
        return itertools.product(*(range(int(n) + 1) for n in self.counts))


def random_crowd(rng: np.random.Generator, most: Sequence[int] = (40, 9, 5)) -> Crowd:
    """Draws a crowd of one to three levels of any shape, and a victim of any chances."""
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
