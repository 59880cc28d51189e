"""Messages with noise of known shape, cut into cells.

Distribution functions are written down once more, so that attacks share nothing with the
randomizers and their accountant. Laplace and Gaussian noise is added to values in [0, 1];
Clip-Laplace noise to values in [-1, 1].
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from shuffledp.types import Floats, Ints
from shuffledp_papers.court.worlds import Worlds

# (edges, value) -> P(message < edge) and P(message > edge) of each group of users.
Tails = Callable[[Floats, float], tuple[Floats, Floats]]

# Number of cells for few groups, and for many.
_CELLS, _FEWER_CELLS = 3000, 600
_FEW_GROUPS = 8


def laplace_tails(epsilons: Floats) -> Tails:
    """Returns the tails of Laplace noise of scale 1 / epsilon, shape (groups, edges)."""

    def tails(edges: Floats, value: float) -> tuple[Floats, Floats]:
        away = edges - value
        half = 0.5 * np.exp(-epsilons[:, None] * np.abs(away))
        below = np.where(away < 0.0, half, 1.0 - half)
        above = np.where(away < 0.0, 1.0 - half, half)
        return below, above

    return tails


def gaussian_tails(deviations: Floats) -> Tails:
    """Returns the tails of normal noise, shape (groups, edges)."""

    def tails(edges: Floats, value: float) -> tuple[Floats, Floats]:
        away = (edges - value) / deviations[:, None]
        return ndtr(away), ndtr(-away)

    return tails


def clip_laplace_tails(epsilons: Floats) -> Tails:
    """Returns the tails of Laplace noise of scale 2 / epsilon, given that |message| < 1."""

    def tails(edges: Floats, value: float) -> tuple[Floats, Floats]:
        rates = epsilons[:, None] / 2.0

        def area(low: Floats | float, high: Floats | float) -> Floats:
            # The integral of e^{-rate |y - value|} from low to high, times the rate. The
            # exponent is largest at the end nearer to the value: nothing overflows.
            left = [np.minimum(end - value, 0.0) for end in (low, high)]
            right = [np.maximum(end - value, 0.0) for end in (low, high)]
            rising = -np.exp(rates * left[1]) * np.expm1(rates * (left[0] - left[1]))
            falling = -np.exp(-rates * right[0]) * np.expm1(
                rates * (right[0] - right[1])
            )
            total: Floats = rising + falling
            return total

        whole = area(-1.0, 1.0)
        inside = np.clip(edges, -1.0, 1.0)
        return area(-1.0, inside) / whole, area(inside, 1.0) / whole

    return tails


def cell_probabilities(tails: Tails, edges: Floats, value: float) -> Floats:
    """Returns probabilities of cells between edges, shape (groups, edges + 1)."""
    below, above = tails(edges, value)
    # Differences of the nearer tail, which keep their digits far from the value.
    inner = np.where(
        above[:, :-1] < 0.5, above[:, :-1] - above[:, 1:], below[:, 1:] - below[:, :-1]
    )
    cells = np.hstack([below[:, :1], inner, above[:, -1:]])
    probabilities: Floats = np.maximum(cells, 0.0)
    return probabilities


def noise_worlds(
    target_user: Tails,
    others: Tails,
    counts: Ints,
    *,
    edges: Floats,
    values: tuple[float, float],
    others_hold: float,
) -> Worlds:
    """Returns a target user with one of two values among users who all hold one value."""
    return Worlds(
        cell_probabilities(target_user, edges, values[0])[0],
        cell_probabilities(target_user, edges, values[1])[0],
        cell_probabilities(others, edges, others_hold),
        counts,
    )


def unbounded_edges(scales: Floats, *, reach: float) -> Floats:
    """Returns edges for noise of these scales added to [0, 1], ever wider outside.

    Args:
        scales: Scales of the noise of all users.
        reach: Distance of the outermost edges, in units of the largest scale.
    """
    cells = _CELLS if scales.size <= _FEW_GROUPS else _FEWER_CELLS
    min_scale, max_scale = float(scales.min()), float(scales.max())
    outward = np.geomspace(0.01 * min_scale, reach * max_scale, cells // 3)
    inner = np.linspace(0.0, 1.0, cells // 3)
    return np.unique(np.concatenate([-outward, inner, 1.0 + outward]))


def clipped_edges(epsilons: Floats) -> Floats:
    """Returns edges within [-1, 1], ever finer towards its ends."""
    cells = _CELLS if epsilons.size <= _FEW_GROUPS else _FEWER_CELLS
    fine = np.geomspace(1e-3 / float(epsilons.max()), 1.0, cells // 3)
    inner = np.linspace(-1.0, 1.0, cells // 3)[1:-1]
    edges = np.unique(np.concatenate([-1.0 + fine, inner, 1.0 - fine]))
    inside: Floats = edges[(edges > -1.0) & (edges < 1.0)]
    return inside
