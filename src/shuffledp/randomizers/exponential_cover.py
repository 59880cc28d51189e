"""The cover of two-sided exponential noise, on the whole line or within the value range.

Values are scaled to [-1, 1]; a user at level eps sends y with density proportional to
e^{-b |y - v|}, b = eps / 2, on the line (Laplace) or on [-1, 1] (Clip-Laplace). For every v
the density is at least that of the farther end, c e^{-b (1 + |y|)}: on the line since
nothing is farther; within the range since -b |y - v| - log(normalizer(v)) grows as v moves
inward. omega is taken proportional to

    e^{-kappa |y|} for |y| <= 1,    e^{-kappa - r (|y| - 1)} for 1 < |y| <= reach,

0 <= kappa <= b_v <= r, b_v being the target user's rate. Then gamma is a smallest ratio of
exponentials, attained at |y| = 0, 1 or reach. For every omega of this shape the ends -1
and 1 are the target user's worst pair: docs/theory/covers.md proves it. With r = b_v the
target user's densities against omega are constant beyond 1, so that each side is one kind
of message. A larger r lets people of larger budgets cover a careful one.
"""

import math

import numpy as np

from shuffledp.cover import CellBounds, Cover
from shuffledp.population import Population
from shuffledp.randomizers.exponential_blanket import (
    ExponentialBlanket,
    TargetDensities,
    blanket_probability,
    end_density,
    log_peak,
    mean_decay_of,
)
from shuffledp.randomizers.exponential_spread import best_decays
from shuffledp.types import Floats

# Distinct budgets at which a shape of omega is compared with others.
_SAMPLED = 256
# Parts of delta that may stay uncovered; the best is taken.
_TAILS = (0.3, 0.01)
# Rates of omega outside, over the target user's. Messages far out show much then: they may
# show so many deviations over how far out a normal loss has delta; gains below a part of
# the deviation do not count.
_STEEPER, _MOST_SHOWN, _STEEPER_COST = (1.1, 1.2, 1.35, 1.5), 15.0, 1.05
# Cells outside, on either side, if the loss varies there.
_OUTER_CELLS = 400
# Rounding of the target user's densities, as a part of their sum.
_ROUNDING = 4e-15


def exponential_cover(
    epsilon: float,
    population: Population,
    *,
    clipped: bool,
    delta: float,
    steeper: bool = False,
) -> Cover:
    """Returns the cover for a target user at this level, with the best omega of the family.

    Args:
        epsilon: The target user's local budget, > 0.
        population: The other users.
        clipped: Clip-Laplace, and not Laplace.
        delta: About the size of the divergence that is asked for, in (0, 1).
        steeper: Whether omega may fall faster outside of [-1, 1] than the target user's.
    """
    shape = best_shape(
        epsilon, population, clipped=clipped, delta=delta, steeper=steeper
    )
    gamma = blanket_probability(population.epsilons / 2.0, shape, clipped=clipped)
    return cover_in_shape(shape, gamma, clipped=clipped)


def best_shape(
    epsilon: float,
    population: Population,
    *,
    clipped: bool,
    delta: float,
    steeper: bool = False,
) -> ExponentialBlanket:
    """Returns the omega with about the smallest bound; arguments as above."""
    rate = epsilon / 2.0
    stride = max(1, population.num_levels // _SAMPLED)
    rates = population.epsilons[::stride] / 2.0
    counts = np.add.reduceat(
        population.counts, np.arange(0, population.num_levels, stride)
    )

    # What all shapes have in common.
    peak, own_spread = (
        log_peak(rates, clipped=clipped),
        TargetDensities.of(rate, clipped=clipped),
    )
    if clipped:
        shapes = [ExponentialBlanket(rate, rate, 1.0)]
        return best_decays(shapes, own_spread, peak, rates, counts)[0][1]
    contrast = -math.expm1(-2.0 * rate)
    shapes, costs = [ExponentialBlanket(rate, rate, math.inf)], [1.0]
    for part in _TAILS:
        # What stays uncovered leaves less of delta to the rest.
        cost = 1.0 - math.log1p(-part) / max(-math.log(delta), 1.0)
        last_cell_end = 1.0 + math.log(0.5 / (part * delta)) / rate
        # At small epsilons the ends show only their difference there.
        nearer = max(last_cell_end + math.log(contrast) / rate, 1.0 + 1.0 / rate)
        # A device that keeps delta by itself needs no cover.
        factors = _STEEPER if steeper and rate > delta else ()
        shapes += [
            ExponentialBlanket(rate, rate, last_cell_end),
            *(ExponentialBlanket(rate, rate, nearer, factor) for factor in factors),
        ]
        costs += [cost, *(cost * _STEEPER_COST for _ in factors)]
    candidates = best_decays(shapes, own_spread, peak, rates, counts)
    order = sorted(range(len(shapes)), key=lambda i: candidates[i][0] * costs[i])
    for spread, shape in (candidates[index] for index in order):
        if shape.steeper == 1.0:
            return shape
        people = counts @ blanket_probability(rates, shape, clipped=False)
        shown_far_out = float(_outer_cells(shape)[4][1, -1]) * contrast
        shown_far_out *= math.sqrt(-2.0 * math.log(delta) / max(spread, 1e-300))
        if shown_far_out <= _MOST_SHOWN * float(people):
            return shape
    return candidates[0][1]


def cover_in_shape(shape: ExponentialBlanket, gamma: Floats, *, clipped: bool) -> Cover:
    """Returns a target user's cells: the right half, the outer right, and their mirrors.

    Args:
        shape: Of omega; `rate` is the target user's.
        gamma: Blanket weights of the population, shape (levels,).
        clipped: Clip-Laplace, and not Laplace.
    """
    rate, kappa, norm = shape.rate, shape.kappa, shape.norm
    # The density's own peak, against that of a Laplace distribution of the same rate.
    scale = end_density(np.array([rate]), clipped=clipped)[0] / (rate / 2.0)
    # Cells narrow enough for a steep density, too; the error is of their second order.
    edges = np.linspace(0.0, 1.0, 201 + int(min(40.0 * rate, 1500.0)))
    left, right = edges[:-1], edges[1:]
    width, middle = right - left, (left + right) / 2.0
    masses = np.exp(-kappa * left) * width * mean_decay_of(kappa * width) / norm
    far_masses = 0.5 * np.exp(-rate * (1.0 + left)) * -np.expm1(-rate * width)
    near_masses = 0.5 * np.exp(-rate * (1.0 - right)) * -np.expm1(-rate * width)
    # far - near, without cancellation.
    lower_differences = -np.exp(-rate + rate * middle) * -np.expm1(-2.0 * rate * middle)
    lower_differences *= np.sinh(rate * width / 2.0)
    ends = np.exp(
        np.array([-rate * (1.0 + edges), -rate * (1.0 - edges)]) + kappa * edges
    ) * (rate / 2.0 * norm)
    low = np.minimum(ends[:, :-1], ends[:, 1:])
    high = np.maximum(ends[:, :-1], ends[:, 1:])
    uncovered = None
    if shape.reach > 1.0:
        outer = _outer_cells(shape)
        masses, near_masses, far_masses = (
            np.append(inner, outside)
            for inner, outside in zip(
                (masses, near_masses, far_masses), outer[:3], strict=True
            )
        )
        lower_differences = np.append(
            lower_differences, math.expm1(-2.0 * rate) * outer[1]
        )
        low, high = np.hstack([low, outer[3]]), np.hstack([high, outer[4]])
        if math.isfinite(shape.reach):
            nearer = 0.5 * math.exp(-rate * (shape.reach - 1.0))
            farther = nearer * math.exp(-2.0 * rate)
            uncovered = np.array([[nearer, farther], [farther, nearer]])
    base, other, lower_differences = (
        scale * near_masses / masses,
        scale * far_masses / masses,
        scale * lower_differences / masses,
    )
    # On the mirrored half x and x' change places. Differences are rounded up.
    rounding = _ROUNDING + 6e-16 * rate
    if shape.steeper > 1.0:
        # Exponents are large far out.
        rounding += 6e-16 * shape.outside * shape.reach
    slack = rounding * (base + other)
    return Cover(
        blanket_probabilities=gamma,
        masses=np.concatenate([masses, masses]),
        differences=np.concatenate(
            [lower_differences + slack, -lower_differences + slack]
        ),
        bases=np.concatenate([base, other]),
        cells=CellBounds(
            scale * (1.0 - rounding) * np.hstack([low, low[::-1]]),
            scale * (1.0 + rounding) * np.hstack([high, high[::-1]]),
        ),
        uncovered=uncovered,
    )


def _outer_cells(shape: ExponentialBlanket) -> tuple[Floats, ...]:
    """Returns omega's masses in cells beyond 1, the target user's, and density bounds.

    Returns:
        omega's masses, and the target user's around the nearer and the farther end,
        shape (cells,); the smallest and the largest density against omega around the
        farther and the nearer end, shape (2, cells).
    """
    rate, beyond = shape.rate, shape.reach - 1.0
    scale = math.exp(-shape.kappa) / shape.norm
    if shape.steeper == 1.0:
        tail_share = np.array([-math.expm1(-rate * beyond)])
        masses, near_masses = scale * tail_share / rate, 0.5 * tail_share
        flat = np.array([near_masses * math.exp(-2.0 * rate), near_masses]) / masses
        return masses, near_masses, near_masses * math.exp(-2.0 * rate), flat, flat
    edges = np.linspace(0.0, beyond, _OUTER_CELLS + 1)
    left, width = edges[:-1], np.diff(edges)
    masses = scale * np.exp(-shape.outside * left) * width
    masses *= mean_decay_of(shape.outside * width)
    near_masses = 0.5 * np.exp(-rate * left) * -np.expm1(-rate * width)
    # The density against omega grows outward.
    ratio = 0.5 * rate / scale * np.exp((shape.outside - rate) * edges)
    ratios = np.stack([ratio * math.exp(-2.0 * rate), ratio])
    return (
        masses,
        near_masses,
        near_masses * math.exp(-2.0 * rate),
        ratios[:, :-1],
        ratios[:, 1:],
    )
