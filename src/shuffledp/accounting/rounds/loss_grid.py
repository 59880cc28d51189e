"""Privacy losses on a grid, as other accountants compose them.

An atom of ratio X = e^loss between two grid points a < X < b is split between them: the
share (X - a) / (b - a) of its mass under Q goes to b, the rest to a. Both totals stay, and
(X - E)_+ is convex, so that the pair on the grid dominates (Doroshenko et al. 2022,
arXiv:2207.04380). Shares and masses are rounded upward, which raises losses or adds mass,
and so never lowers a divergence. No loss is clipped.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.rounds.loss_distribution import LossDistribution
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

# 80 MB of masses.
MAX_POINTS = 10**7
_ULP = 2.3e-16


@dataclass(frozen=True, eq=False)
class LossGrid:
    """A pair (P, Q) that dominates, with losses at whole multiples of a width.

    Attributes:
        width: Distance of neighboring losses, above 0.
        lowest: The smallest loss, in widths.
        masses: Masses under P of this loss and of those that follow, shape (losses,).
        infinite: Mass under P of an infinite loss; all masses add up to 1.
    """

    width: float
    lowest: int
    masses: Floats
    infinite: float


def loss_grid(distribution: LossDistribution, width: float) -> LossGrid:
    """Returns a pair on a grid that dominates this distribution's.

    Args:
        distribution: Of a collection.
        width: Distance of neighboring losses, above 0.

    Raises:
        InvalidInputError: If the grid has more than ten million points.
    """
    losses, masses = distribution.losses, distribution.masses
    if losses[-1] - losses[0] > MAX_POINTS * width:
        raise InvalidInputError(
            f"Expected a larger interval than {width:g}: losses up to {losses[-1]:g} need "
            f"more than {MAX_POINTS:,} of it."
        )
    below = np.floor(losses / width)
    below += (below + 1.0) * width <= losses
    lower, upper = below * width, (below + 1.0) * width
    # The distance of a loss from a grid point is a difference of larger numbers.
    doubt = 8.0 * _ULP * (1.0 + np.abs(losses) / width)
    share = np.expm1(losses - lower) / math.expm1(width) + doubt
    lower_share = np.expm1(losses - upper) / math.expm1(-width) + doubt
    positions = (below - below[0]).astype(np.int64)
    total = np.zeros(int(positions[-1]) + 2)
    for shift, point, part in ((0, lower, lower_share), (1, upper, share)):
        weights = masses * np.clip(part, 0.0, 1.0) * np.exp(point)
        # Upward by more than the rounding of the exponential and the products.
        weights *= 1.0 + 8.0 * _ULP * (4.0 + np.abs(point))
        total += np.bincount(positions + shift, weights=weights, minlength=total.size)
    return _normalized(width, int(below[0]), total, distribution.infinite)


def _normalized(
    width: float, first_cell: int, masses: Floats, infinite: float
) -> LossGrid:
    """Returns a pair of totals P = 1 and Q <= 1.

    What rounding upward adds to either total is taken from the smallest losses, up to some
    loss l. At epsilons from l on, the divergence stays. Below, that of P from Q is
    1 - e^epsilon Q(all), and 1 - Q(all) is at least the divergence of Q from P at -l.
    The mass that P lacks then is infinite.
    """
    ratios = np.exp(-width * (first_cell + np.arange(masses.size, dtype=np.float64)))
    masses, infinite = masses.copy(), min(infinite, 1.0)

    def excess(index: int) -> float:
        """Returns the excess over 1 of the masses from this one on and the infinite one."""
        above = masses[index:]
        in_p = math.fsum([*above.tolist(), infinite, -1.0])
        in_q = math.fsum([*(above * ratios[index:]).tolist(), -1.0])
        return max(in_p, in_q / float(ratios[index])) if above.size else in_p

    first, end = 0, masses.size
    if excess(0) > 0.0:
        while end - first > 1:
            middle = (first + end) // 2
            first, end = (middle, end) if excess(middle) > 0.0 else (first, middle)
        masses[first] = max(masses[first] - excess(first) * (1.0 + 8.0 * _ULP), 0.0)
    masses = masses[first:]
    lacking = math.fsum([1.0, -infinite, *(-masses).tolist()])
    return LossGrid(width, first_cell + first, masses, infinite + max(lacking, 0.0))
