"""The certified upper bound: a victim hides behind the blanket messages of the others.

Heterogeneous privacy blanket. If every other person i sends, with probability gamma_i and
whatever her value, a message from one common distribution omega, then the divergence of
the shuffled messages under a victim's two values is at most

    sum_m P(M = m) / (m + 1) E[(L(Y_1) + ... + L(Y_{m+1}))_+],

with Y_j ~ omega independent, L the victim's loss against omega, and M the number of others
who send a blanket message: a sum of independent coins with the gamma_i. For equal
randomizers this is Balle, Bell, Gascon, Nissim (2019), arXiv:1903.02837, Lemma 5.3; the
proof (reveal who sends what she would not send anyway) never needs them to be equal.

For a cover with two mirrored kinds of telling messages (`Cover`), let T of the m + 1
messages be telling, T - 1 ~ Binomial(m, r) once one of them is the victim's place, and D
the difference of their two counts: a simple random walk of T steps. Then the bound is

    sum_{m, T} P(m) P(T | m) r gap (1 + e^eps) / (2 T) E[(D - tau)_+],
    tau = tanh(eps / 2) (alpha T + beta (m + 1)),
    alpha = (2 low + gap - 2 neutral) / gap,    beta = 2 neutral / gap.

All terms are non-negative, so no digits cancel. Two steps shorten the sum, both upward:

* blocks of T use the longest walk (more independent noise only raises a convex function),
  the smallest drift and the smallest divisor of the block;
* given T, the drift is linear in m, and E[(D - tau)_+] convex: the mass of each m is
  split onto its two neighbours on a coarse grid with the same mean.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.binomial import binomial_weight, deviation, walk_excess
from shuffledp.accounting.cover_count import CountDistribution
from shuffledp.cover import Cover
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# A block of T is at most this part of T wide: 4e-5 of epsilon at worst.
_BLOCK = 5e-5
# The split may raise the variance of the victim's loss by this part: 1e-5 of epsilon.
_SPLIT_VARIANCE = 2e-5
# Covers the rounding of sums and products (weights and tails have their own bound).
_ARITHMETIC = 1.0 + 1e-9
# A lost event adds its probability times the largest value of the sum's terms, r gap.
_LOST_VALUE = 2.0


@dataclass(frozen=True, eq=False)
class TellingCounts:
    """P(T in block | m) for every possible m; it does not depend on the victim.

    Attributes:
        start: The smallest m.
        stride: From one m to the next.
        first: Smallest T of each block, shape (blocks,).
        last: Largest T of each block, shape (blocks,).
        weights: Shape (values of m, blocks).
        lost: Probability outside the blocks, given any m.
    """

    start: int
    stride: int
    first: Floats
    last: Floats
    weights: Floats
    lost: float


def telling_counts(
    distributions: list[CountDistribution], telling: float, *, tail: float
) -> TellingCounts:
    """Tabulates T given m, for every m that one of the distributions may take.

    Args:
        distributions: One per victim, all of the same stride.
        telling: omega's mass on telling messages, in (0, 1).
        tail: Probability that may be dropped at either end, given m.
    """
    stride = distributions[0].stride
    start = min(d.start for d in distributions)
    stop = max(d.start + stride * d.weights.size for d in distributions)
    values = np.arange(start, stop, stride, dtype=np.float64)
    mean = values * telling
    reach = deviation(mean * (1.0 - telling), tail)
    low = np.maximum(0.0, np.floor(mean - reach))
    high = np.minimum(values, np.ceil(mean + reach))
    width = max(1, int(_BLOCK * float(mean.mean())))
    first = np.arange(low.min(), high.max() + 1.0, width)
    weights = np.zeros((values.size, first.size))
    for row, m in enumerate(values):
        # Only the blocks that this m can reach, in full, so that sums align with blocks.
        blocks = slice(
            int((low[row] - first[0]) // width),
            int((high[row] - first[0]) // width) + 1,
        )
        edges = first[blocks]
        t = np.arange(edges[0], edges[-1] + width)
        fine = binomial_weight(t, float(m), telling)
        weights[row, blocks] = fine.reshape(-1, width).sum(axis=1)
    return TellingCounts(start, stride, first + 1.0, first + width, weights, 2.0 * tail)


@dataclass(frozen=True, eq=False)
class BlanketBound:
    """The bound for one victim, ready to be evaluated at any epsilon.

    Attributes:
        scale: r gap, what the cover gives each term.
        steps: Length of the walk D in each cell of the sum, shape (cells,).
        drift: alpha T + beta (m + 1) in each cell, shape (cells,).
        weights: Everything that does not depend on epsilon, shape (cells,).
        lost: Probability of what was dropped.
    """

    scale: float
    steps: Floats
    drift: Floats
    weights: Floats
    lost: float

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        slope = math.tanh(epsilon / 2.0)
        _, excess = walk_excess(self.steps, slope * self.drift)
        scale = self.scale * (1.0 + math.exp(epsilon)) / 2.0
        total = scale * float(self.weights @ excess) * _ARITHMETIC
        total += _LOST_VALUE * self.lost
        if not math.isfinite(total):
            raise CertificationError(
                f"No finite bound at epsilon {epsilon:g}: the arithmetic overflowed."
            )
        return min(total, 1.0)


def blanket_bound(
    cover: Cover,
    distribution: CountDistribution,
    counts: TellingCounts | None,
    *,
    epsilon_guess: float,
    tail: float,
) -> BlanketBound:
    """Prepares the sum for one victim.

    Args:
        cover: What the victim hides behind; `gap` must be positive.
        distribution: M, the number of others who send a blanket message.
        counts: The table of T given m; None where every message is telling.
        epsilon_guess: Roughly where the bound will be evaluated. It only sets how fine
            the split is, never whether the bound holds.
        tail: Probability that may be dropped.
    """
    gap, neutral, scale = cover.gap, cover.neutral, cover.telling * cover.gap
    alpha, beta = (2.0 * cover.low + gap - 2.0 * neutral) / gap, 2.0 * neutral / gap
    if counts is None:
        steps = distribution.values + 1.0
        drift = (alpha + beta) * steps
        weights = distribution.weights / steps
        return BlanketBound(scale, steps, drift, weights, distribution.lost)
    grid = distribution.values + 1.0
    # How coarse the split of m may be: variance of the drift against that of the walk.
    walk_variance = max(1.0, cover.telling * float(grid.mean()))
    slope = max(math.tanh(epsilon_guess / 2.0), 1e-300)
    spacing = math.sqrt(6.0 * _SPLIT_VARIANCE * walk_variance) / max(
        slope * beta, 1e-300
    )
    nodes, split = _mean_preserving_split(grid, spacing)
    row = (distribution.start - counts.start) // counts.stride
    table = counts.weights[row : row + grid.size]
    joint = table.T @ (distribution.weights[:, None] * split)
    corner = counts.first if alpha >= 0 else counts.last
    drift = alpha * corner[:, None] + beta * nodes[None, :]
    steps = np.broadcast_to(counts.last[:, None], joint.shape)
    weights = joint / counts.first[:, None]
    # A cell lighter than this is dropped; all of them together weigh at most `tail`.
    heavy = joint > tail / joint.size
    lost = distribution.lost + counts.lost + float(joint[~heavy].sum())
    return BlanketBound(scale, steps[heavy], drift[heavy], weights[heavy], lost)


def _mean_preserving_split(grid: Floats, spacing: float) -> tuple[Floats, Floats]:
    """Returns coarse nodes and each grid point's shares of them, shape (grid, nodes)."""
    cells = max(1, math.ceil((grid[-1] - grid[0]) / spacing)) if spacing < np.inf else 1
    if cells >= grid.size - 1:
        return grid, np.eye(grid.size)
    nodes = np.linspace(grid[0], grid[-1], cells + 1)
    left = np.minimum((grid - grid[0]) * cells // (grid[-1] - grid[0]), cells - 1)
    left = left.astype(np.int64)
    share = (grid - nodes[left]) / (nodes[left + 1] - nodes[left])
    split = np.zeros((grid.size, nodes.size))
    rows = np.arange(grid.size)
    split[rows, left], split[rows, left + 1] = 1.0 - share, share
    return nodes, split
