"""Message distributions of a population that sends one of two messages, 1 or 0.

A *population* is all users but the target. For every value, a user of level g sends a 1
with a probability between a_g and b_g. Stored are a_g and 1 - b_g, the least
probabilities of either message, as no digit of them is lost where they are tiny.
"""

from dataclasses import dataclass, replace

import numpy as np

from shuffledp.accounting.sums.grouping import group_indices
from shuffledp.cover import TwoMessages
from shuffledp.errors import CertificationError
from shuffledp.types import Floats, Ints

# Levels of a population that are told apart; more are put into this many bands. Half as
# many take half the time: compositions evaluate many epsilons, each of which rises by less
# than 1%.
MAX_BANDS, MAX_BANDS_COMPOSED = 256, 128
# Of many levels, as many are looked at for how many differ.
_LOOKED_AT = 1_000
# Probabilities of this size and less change no digit that is of use, of a billion people
# and under the largest tilt: levels that differ by less are one band.
_NOTHING = 1e-150
# Keeps an interval inside, or outside, of what it was computed from.
_ROUNDING = 4e-15


@dataclass(frozen=True, eq=False)
class BinaryPopulation:
    """The other users in bands of similar levels, and the target user.

    Attributes:
        ones: a_g, the least probability of a 1 in each band, shape (bands,).
        zeros: 1 - b_g, the least probability of a 0, shape (bands,).
        counts: How many others there are in each band, all positive, shape (bands,).
        gap: Increase of the target's probability of a 1 from x' to x.
        stray: The target's probability of a 1 at x'.
    """

    ones: Floats
    zeros: Floats
    counts: Floats
    gap: float
    stray: float

    @property
    def key(self) -> tuple[bytes, float, float]:
        """All that bounds depend on."""
        bands = np.stack([self.ones, self.zeros, self.counts])
        return bands.tobytes(), self.gap, self.stray


def wider(
    bits: TwoMessages, counts: Ints, max_bands: int = MAX_BANDS
) -> BinaryPopulation:
    """Returns a population whose worst data are no better for the target user.

    The divergence is convex in each user's probability of a 1
    (`docs/theory/two-messages.md`). So a user who may choose from a wider interval, such
    as any other's in the same band, hides the target user no better. This bounds the
    worst of all data, and not the divergence at the same data.

    Args:
        bits: The message probabilities of the target user and of the levels of the
            others.
        counts: How many others there are at each level, shape (levels,).
        max_bands: The largest number of bands.
    """
    population = _banded(bits, counts, np.minimum, 1.0 - _ROUNDING, max_bands)
    # The less a target user strays, the larger is the divergence.
    return population if bits.stray > _NOTHING else replace(population, stray=0.0)


def narrower(bits: TwoMessages, counts: Ints) -> BinaryPopulation:
    """Returns a population whose worst data are no worse for the target user.

    Raises:
        CertificationError: If people of one band have no probability of a 1 in common.
    """
    return _banded(bits, counts, np.maximum, 1.0 + _ROUNDING, MAX_BANDS)


def _banded(
    bits: TwoMessages, counts: Ints, choose: np.ufunc, rounding: float, max_bands: int
) -> BinaryPopulation:
    absent = np.flatnonzero(counts <= 0)
    # One index alone is quick: a million levels often miss the target user's only.
    left_out = int(absent[0]) if absent.size == 1 else absent
    min_probabilities = np.delete(bits.least, left_out, axis=1)
    people = np.delete(counts, left_out).astype(np.float64)
    if not _are_many(min_probabilities):
        band = _distinct(_alike(min_probabilities))
        if band.max(initial=0) + 1 < people.size:
            min_probabilities, people = _merged(min_probabilities, people, band, choose)
    if people.size > max_bands:
        # Narrow bands where variances are small: most people may be there.
        band = group_indices(np.sqrt(min_probabilities.sum(axis=0)), max_bands)
        min_probabilities, people = _merged(min_probabilities, people, band, choose)
    ones, zeros = min_probabilities * rounding
    # No interval turns round: that of a Bernoulli draw that tells nothing is a point.
    total = np.maximum(ones + zeros, 1.0)
    if total.max(initial=1.0) > 1.0 + 1e-13:
        raise CertificationError("Expected intervals of a band that meet.")
    return BinaryPopulation(ones / total, zeros / total, people, bits.gap, bits.stray)


def _alike(min_probabilities: Floats) -> Floats:
    return np.where(min_probabilities <= _NOTHING, 0.0, min_probabilities)


def _are_many(min_probabilities: Floats) -> bool:
    """Returns whether it is clear at once that more than MAX_BANDS levels differ."""
    first = _alike(min_probabilities[:, :_LOOKED_AT])
    return int(_distinct(first).max(initial=0)) + 1 > MAX_BANDS


def _distinct(pairs: Floats) -> Ints:
    """Returns the rank of each pair of probabilities, shape (levels,); equal ones share it.

    np.unique along an axis compares pairs one by one, which takes seconds for a million.
    """
    order = np.lexsort(pairs[::-1])
    changes = np.any(np.diff(pairs[:, order], axis=1) != 0.0, axis=0)
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(changes)])[: order.size]
    return ranks


def _merged(
    min_probabilities: Floats, people: Floats, band: Ints, choose: np.ufunc
) -> tuple[Floats, Floats]:
    """Returns one pair of probabilities for each band of levels, and its people."""
    steps = np.diff(band)
    # Of levels in ascending order, the bands are in order, too.
    for forward, ordered in (
        (slice(None), steps >= 0),
        (slice(None, None, -1), steps <= 0),
    ):
        if ordered.all():
            starts = np.concatenate([[0], np.flatnonzero(steps) + 1])
            merged = choose.reduceat(min_probabilities, starts, axis=1)
            return merged[:, forward], np.add.reduceat(people, starts)[forward]
    # Numbers of 16 bits are sorted at once, not by comparisons.
    few = band.max(initial=0) < 2**16
    order = np.argsort(band.astype(np.uint16) if few else band, kind="stable")
    starts = np.flatnonzero(np.diff(band[order], prepend=-1))
    merged = choose.reduceat(min_probabilities[:, order], starts, axis=1)
    return merged, np.add.reduceat(people[order], starts)


def nested(bits: TwoMessages) -> bool:
    """Returns whether the intervals of all levels are nested."""
    order = np.lexsort((bits.least[1], bits.least[0]))
    return bool(np.all(np.diff(bits.least[1][order]) >= 0.0))
