"""One pair of message distributions that is at least as bad as every pair of values.

For a target user's value x let r_x be their density against omega, and

    S(c) = max over x of E_omega[(r_x - c)_+],

a convex function that falls from 1 - c to 0: the same expectation for a random variable W
whose distribution its slopes are. So every set A has R_x(A) <= H(omega(A)), whatever x is,
H(u) being the mean of the largest part u of W. The same for the complement of A gives
R_x'(A) >= 1 - H(1 - omega(A)). Hence for all x and x', c and E >= 0

    R_x(A) - E R_x'(A) - c omega(A) <= H(u) - E (1 - H(1 - u)) - c u,    u = omega(A),

and the right side belongs to the pair of densities H'(u) and H'(1 - u) on [0, 1]: W sorted
downward, and W sorted upward. Its loss exceeds that of (x, x') in the increasing convex
order, at every epsilon, and so does its blanket bound for any number of messages.

Nothing is lost where one value's density attains all of S and its mirror image is the
opposite value's, sorted the other way round. No assumption is made: omega is any
distribution, and messages that it never produces do not occur.
"""

from dataclasses import dataclass

import numpy as np

from shuffledp.types import Floats

# More than the rounding of S, a sum of some hundred terms below 1.
_SLACK = 1e-12
# Where all densities are as close as this, the two ends do.
_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class DominatingPair:
    """Densities against omega, cell by cell.

    Attributes:
        masses: omega's mass of each cell, shape (cells,).
        falling: The density on x, which falls from cell to cell.
        rising: The density on x', which grows.
    """

    masses: Floats
    falling: Floats
    rising: Floats

    @property
    def spread(self) -> float:
        """The mean square of the difference of the two densities."""
        return float(self.masses @ (self.falling - self.rising) ** 2)


def sorted_pair(values: Floats, masses: Floats) -> DominatingPair:
    """Returns the pair that one distribution makes, sorted downward and upward.

    >>> pair = sorted_pair(np.array([0.5, 1.5]), np.array([0.5, 0.5]))
    >>> pair.masses, pair.falling, pair.rising
    (array([0.5, 0.5]), array([1.5, 0.5]), array([0.5, 1.5]))

    Args:
        values: Of the densities, shape (n,).
        masses: omega's mass of each, which add up to 1, shape (n,).
    """
    order = np.argsort(-values)
    falling, parts = values[order], masses[order]
    ends = np.cumsum(parts)[:-1]
    edges = np.unique(np.concatenate([[0.0], ends, 1.0 - ends, [1.0]]))
    edges = edges[(edges >= 0.0) & (edges <= 1.0)]
    middle = (edges[:-1] + edges[1:]) / 2.0
    return DominatingPair(
        np.diff(edges),
        falling[np.searchsorted(ends, middle)],
        falling[np.searchsorted(ends, 1.0 - middle)],
    )


def dominating_pair(values: Floats, masses: Floats, *, nodes: int) -> DominatingPair:
    """Returns the pair that dominates all pairs of these distributions.

    Args:
        values: Of the densities, one row for each value x, shape (x, n).
        masses: omega's mass of each; every row adds up to 1, shape (x, n).
        nodes: At about how many points S is computed.
    """
    low, high = float(values.min()), float(values.max())
    inner = np.zeros(0)
    if high - low > _CLOSE:
        # Evenly spaced, and where the most telling distribution has its mass.
        telling = int(np.argmax((masses * (values - 1.0) ** 2).sum(axis=1)))
        order = np.argsort(values[telling])
        shares = (np.arange(nodes // 2) + 0.5) / (nodes // 2)
        middle = np.interp(
            shares, np.cumsum(masses[telling][order]), values[telling][order]
        )
        inner = np.concatenate([np.linspace(low, high, nodes // 2), middle])
    # The outer nodes lie a little farther out: room for the slack of those within.
    room = 0.25 * max(high - low, _CLOSE)
    ends = np.array([max(low - room, 0.5 * low), high + room])
    points = np.unique(np.concatenate([ends, inner]))
    heights = np.maximum(_stop_loss(values, masses, points), 1.0 - points) + _SLACK
    heights[0], heights[-1] = 1.0 - points[0], 0.0
    # Lines between the nodes lie above the convex S, so that the pair still dominates; the
    # loss is of second order in the distance of the nodes.
    points, heights = _lower_hull(points, heights)
    slopes = np.diff(heights) / np.diff(points)
    parts = np.maximum(np.diff(np.concatenate([[-1.0], slopes, [0.0]])), 0.0)
    return sorted_pair(points, parts / parts.sum())


def _stop_loss(values: Floats, masses: Floats, points: Floats) -> Floats:
    """Returns the largest mean excess, over all rows, above each of the points."""
    order = np.argsort(-values, axis=1)
    falling = np.take_along_axis(values, order, axis=1)
    parts = np.take_along_axis(masses, order, axis=1)
    zero = np.zeros((len(values), 1))
    above = np.hstack([zero, np.cumsum(parts, axis=1)])
    total = np.hstack([zero, np.cumsum(parts * falling, axis=1)])
    largest_stop_loss = np.zeros(points.size)
    for row, mass, mean in zip(falling, above, total, strict=True):
        count = np.searchsorted(-row, -points)
        np.maximum(
            largest_stop_loss, mean[count] - points * mass[count], out=largest_stop_loss
        )
    return largest_stop_loss


def _lower_hull(points: Floats, heights: Floats) -> tuple[Floats, Floats]:
    """Returns the corners of the largest convex function below these points."""
    hull: list[int] = []
    for new in range(points.size):
        while len(hull) > 1:
            second_last, last = hull[-2], hull[-1]
            rise = (heights[last] - heights[second_last]) * (
                points[new] - points[second_last]
            )
            if rise < (heights[new] - heights[second_last]) * (
                points[last] - points[second_last]
            ):
                break
            hull.pop()
        hull.append(new)
    return points[hull], heights[hull]
