"""All data of few people in two halves, with the distribution of what each half sends.

The bands of a population are parted in two. Under a fixed tilt (`tilted`) how many others
send a 1 is the sum of two independent numbers, one of each half (`all_data`).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp.accounting.two_messages.tilted import TiltedPopulation
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class DataHalf:
    """Data of some bands, in ascending order of their means.

    Attributes:
        holders: Holders in each band, shape (data, bands).
        exponents: K - theta mu of these people, shape (data,).
        means: mu, shape (data,).
        chances: Their tilted distribution, shape (data, people + 1).
    """

    holders: Floats
    exponents: Floats
    means: Floats
    chances: Floats

    @cached_property
    def bounds(self) -> Floats:
        """What adds up to a bound, with that of the other half, shape (data,).

        No number of messages of both is likelier than the likeliest of either, or than
        the geometric mean of the two.
        """
        bounds: Floats = self.exponents + 0.5 * np.log(self.chances.max(axis=1))
        return bounds

    def logs(self, theta: float) -> Floats:
        """Returns K of these people, shape (data,)."""
        return self.exponents + theta * self.means

    def chosen(self, which: Ints) -> "DataHalf":
        """Returns the half with these data only, in their order."""
        return DataHalf(
            self.holders[which],
            self.exponents[which],
            self.means[which],
            self.chances[which],
        )


def parted_bands(counts: Floats) -> tuple[Ints, Ints]:
    """Returns bands of two halves with about as many data, that of fewer people first."""
    parts: tuple[list[int], list[int]] = ([], [])
    sizes = [0.0, 0.0]
    for band in np.argsort(-counts, kind="stable").tolist():
        smaller = int(sizes[1] < sizes[0])
        parts[smaller].append(band)
        sizes[smaller] += math.log1p(counts[band])
    halves = [np.array(part, dtype=np.int64) for part in parts]
    halves.sort(key=lambda bands: float(counts[bands].sum()))
    return halves[0], halves[1]


def data_half(tilted: TiltedPopulation, bands: Ints, spare: float) -> DataHalf:
    """Returns the data of some bands that may be worst.

    Args:
        tilted: The population.
        bands: Positions of bands.
        spare: By how much an exponent may be less than the largest one.
    """
    population = tilted.population
    chances, holders = np.ones((1, 1)), np.zeros((1, 0))
    exponents, means = np.zeros(1), np.zeros(1)
    for band in bands.tolist():
        people = int(population.counts[band])
        numbers = np.arange(people + 1.0)
        of_band = people * tilted.low_exponent[band] + numbers * tilted.rise[band]
        together = np.add.outer(exponents, of_band)
        old, new = np.nonzero(together >= together.max() - spare)
        # Of one person who holds the value for which a 1 is rarer, and by how much more.
        mean = tilted.one[band]
        more = 1.0 - tilted.zero[band] - mean
        exponents = together[old, new]
        means = means[old] + (people * mean + numbers * more)[new]
        holders = np.column_stack([holders[old], numbers[new]])
        table, width = _band_chances(tilted, band, people)[new], chances.shape[1]
        before, chances = chances[old], np.zeros((old.size, width + people))
        for ones in range(people + 1):
            chances[:, ones : ones + width] += before * table[:, ones, None]
    half = DataHalf(holders, exponents, means, chances)
    return half.chosen(np.argsort(means, kind="stable"))


def _band_chances(tilted: TiltedPopulation, band: int, people: int) -> Floats:
    """Returns the tilted distribution of each number of holders, shape (n + 1, n + 1)."""
    population = tilted.population
    rarely, never = population.ones[band], population.zeros[band]
    # Neither of two probabilities is computed from the other, so that no digit is lost.
    rarely_not = (1.0 - rarely) / (1.0 + rarely * math.expm1(tilted.theta))
    usually = (1.0 - never) / ((1.0 - never) + never * math.exp(-tilted.theta))
    powers = []
    for zero, once in (
        (rarely_not, tilted.one[band]),
        (tilted.zero[band], usually),
    ):
        rows = np.zeros((people + 1, people + 1))
        rows[0, 0] = 1.0
        for row in range(people):
            rows[row + 1] = zero * rows[row]
            rows[row + 1, 1:] += once * rows[row, :-1]
        powers.append(rows)
    others, holding = powers
    return np.stack(
        [
            np.convolve(
                holding[number, : number + 1],
                others[people - number, : people - number + 1],
            )
            for number in range(people + 1)
        ]
    )
