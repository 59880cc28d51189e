"""The blanket bound where few blanket messages are expected, for any cover.

The summands E[(L_1 + ... + L_{m+1})_+] / (m + 1) are computed one after the other, from m =
0, for losses on a lattice: every loss is split onto the two lattice points beside it, with
the same mean, which only raises the bound. As the summands never increase in m, the last
one stands for all that follow. Only sums and products of non-negative numbers occur.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.accounting.upper.atoms import atoms
from shuffledp.accounting.upper.cover_count import CountDistribution
from shuffledp.cover import Cover
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

_POINTS = 500
# For an estimate: a lattice so coarse adds about a thousandth.
_FEW_POINTS = 100
_MOST = 16
# Covers the rounding of sums and products.
_ARITHMETIC = 1.0 + 1e-10


@dataclass(frozen=True, eq=False)
class FewMessagesBound:
    """The bound for one target user, ready to be evaluated at any epsilon.

    Attributes:
        cover: The target user's cover.
        distribution: M, the number of others who send a blanket message.
    """

    cover: Cover
    distribution: CountDistribution

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        return self._delta(epsilon, _POINTS)

    def _delta(self, epsilon: float, points: int) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                total = self._sum(self.cover, epsilon, points)
                total += self.cover.beyond(epsilon)
            except (OverflowError, ValueError):
                total = math.nan
        if not math.isfinite(total):
            raise CertificationError(
                f"No finite bound at epsilon {epsilon:g}: the arithmetic overflowed."
            )
        return min(total, 1.0)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound, nearly always a little more."""
        return self._delta(epsilon, _FEW_POINTS)

    def slack(self, epsilon: float) -> float:
        """Returns which part of the bound is due to losses that vary within cells."""
        try:
            plain = self._sum(replace(self.cover, cells=None), epsilon, _POINTS)
            whole = self.delta(epsilon)
        except (OverflowError, ValueError, CertificationError):
            # The bound is not to be had, and the local budget speaks in its place.
            return 0.0
        plain += self.cover.beyond(epsilon)
        return min(max(1.0 - plain / max(whole, 1e-306), 0.0), 1.0)

    def _sum(self, cover: Cover, epsilon: float, points: int) -> float:
        loss = atoms(cover, 1.0, epsilon)
        low, high = float(loss.losses.min()), float(loss.losses.max())
        if not math.isfinite(high - low):
            raise OverflowError
        if high <= 0.0:
            return 0.0
        start, probabilities = self.distribution.start, self.distribution.weights
        last = min(start + probabilities.size - 1, _MOST)
        # Beside so low a loss no sum is positive, and a lower one changes nothing.
        low = max(low, -(last + 1) * high)
        step = max((high - low) / points, 1e-15 * max(-low, high), 1e-300)
        single = _on_lattice(np.maximum(loss.losses, low), loss.masses, low, step)
        total, before, sums, first = 0.0, 0.0, single, 0
        for m in range(last + 1):
            if m:
                sums = np.convolve(sums, single)
            # Rounded up by more than the points' own rounding.
            losses = (m + 1) * low + step * np.arange(first, first + sums.size)
            losses += 1e-15 * (m + 1) * max(-low, high)
            value = float(sums @ np.maximum(losses, 0.0)) / (m + 1)
            share = float(probabilities[m - start]) if start <= m < last else 0.0
            if m < last:
                total += share * value
                before += share
                # Sums so low stay below 0, whatever is added.
                left_out = int(
                    np.count_nonzero(losses < -(last - m) * (high + 2 * step))
                )
                sums, first = sums[left_out:], first + left_out
            else:
                # All that follow, and what was dropped from either tail.
                total += max(1.0 - before, 0.0) * value
            # What was dropped may have been at m = 0, where the summand is largest.
            if m == 0:
                total += self.distribution.lost * value
        return total * _ARITHMETIC


def _on_lattice(losses: Floats, masses: Floats, low: float, step: float) -> Floats:
    """Returns masses on low, low + step, ... with the same mean."""
    position = (losses - low) / step
    left = np.floor(position).astype(np.int64)
    share = position - left
    size = int(left.max()) + 2
    single = np.bincount(left, masses * (1.0 - share), minlength=size)
    other = np.bincount(left + 1, masses * share, minlength=size)
    return (single + other).astype(np.float64)
