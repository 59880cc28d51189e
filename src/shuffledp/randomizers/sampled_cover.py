"""The cover of sampled Clip-Laplace, for a target user among more careful users.

Values and messages are scaled to [-1, 1]; b = eps / 2, f_v is the Clip-Laplace density. A
user who holds v sends y with density R_v = s f_v + (1 - s) f_0. omega is proportional to
e^{-kappa |y|}. With kappa = b of a liberal target user, omega is much steeper than
careful users' densities, and their gamma is small. A flatter omega suits them: kappa is
searched.

*Worst pair.* No pair of values is singled out. Let H(u) bound f_v(A) for every value v and
every set A with omega(A) = u, as in dominating_pair.py, and H_0(u) bound f_0(A). Then
f_v(A) >= 1 - H(1 - u) and f_0(A) >= 1 - H_0(1 - u), and for E >= 1

    R_x(A) - E R_x'(A) - c omega(A) <= s H(u) - s E (1 - H(1 - u))
                                       - (1 - s) (E - 1) (1 - H_0(1 - u)) - c u,

which belongs to the pair of densities s H'(u) + (1 - s) H_0'(1 - u) and
s H'(1 - u) + (1 - s) H_0'(1 - u) on [0, 1] (docs/theory/covers.md). Devices move values to
one of the points of a public grid, so that every value's density is a mixture of two
points' densities, and all points are tried.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.cover import Cover
from shuffledp.population import Population
from shuffledp.randomizers.exponential_blanket import ExponentialBlanket, divergence
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.sparsified_cover import TwoPieceBlanket, worst_pair
from shuffledp.types import Floats

_HALF = STEPS // 2
# Distinct budgets at which a kappa is compared with others.
_SAMPLED = 256
_NODES = 100
# An omega steeper than this would have masses too small for doubles.
_STEEPEST = 40.0
# The dominating pair costs up to a tenth: the search has to lower the mean square of the
# loss by more than that.
_PAYS = 0.8
# More than the rounding of a few operations.
_ROUNDING = 2e-15


def best_kappa(
    rate: float,
    population: Population,
    share: float,
    *,
    blanket_probability: Callable[[Floats, ExponentialBlanket], Floats],
    smallest_spread: float,
) -> float | None:
    """Returns the kappa with the least mean square of the loss, or None if it is no gain.

    Args:
        rate: The target user's b, > 0.
        population: The people among whom the target user hides.
        share: s, in (0, 1].
        blanket_probability: Returns gamma at given rates for a shape of omega.
        smallest_spread: Mean square of the loss per blanket message, of another cover.
    """
    stride = max(1, population.num_levels // _SAMPLED)
    rates = population.epsilons[::stride] / 2.0
    counts = np.add.reduceat(
        population.counts, np.arange(0, population.num_levels, stride)
    )

    def spread(kappa: float) -> float:
        shape = ExponentialBlanket(kappa, rate, 1.0)
        messages = float(counts @ blanket_probability(rates, shape))
        # Of the two ends of the range: about what the dominating pair has.
        ends = divergence(shape, clipped=True)
        return share**2 * ends / max(messages, 1e-300)

    steepest = min(rate, _STEEPEST)
    minimum = minimize_scalar(
        spread,
        bounds=(0.0, steepest),
        method="bounded",
        options={"xatol": steepest / 500},
    )
    return float(minimum.x) if minimum.fun <= _PAYS * smallest_spread else None


def cover_with_kappa(
    kappa: float, *, rate: float, share: float, gammas: Floats
) -> Cover:
    """Returns the cover of a target user behind omega of this kappa.

    Args:
        kappa: omega's rate, >= 0.
        rate: The target user's b, > 0.
        share: s, in (0, 1].
        gammas: Blanket probabilities of the population for this omega, shape (levels,).
    """
    shape = TwoPieceBlanket(kappa, kappa, 0.0, 0.0)
    cells = 80 + int(min(80.0 * rate, 400.0))
    points = np.arange(_HALF + 1) / _HALF
    pair = worst_pair(rate, shape, points, cells=cells, nodes=_NODES)
    # f_0 against omega, sorted upward: the same on x and on x'.
    around = worst_pair(rate, shape, np.zeros(1), cells=cells, nodes=_NODES)
    ends, others = np.cumsum(pair.masses)[:-1], np.cumsum(around.masses)[:-1]
    edges = np.unique(np.concatenate([[0.0], ends, others, [1.0]]))
    edges = edges[(edges >= 0.0) & (edges <= 1.0)]
    middle = (edges[:-1] + edges[1:]) / 2.0
    part = np.searchsorted(ends, middle)
    common = (1.0 - share) * around.rising[np.searchsorted(others, middle)]
    density_x, density_y = share * pair.falling[part], share * pair.rising[part]
    slack = _ROUNDING * (density_x + density_y + common)
    return Cover(
        blanket_probabilities=gammas,
        masses=np.diff(edges),
        differences=density_x - density_y + slack,
        bases=(density_y + common) * (1.0 - _ROUNDING),
    )
