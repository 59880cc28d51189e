"""Clone probabilities as type-I errors, for any densities, by quadrature.

User i sends z with density f_i, the target user with f_0 or f_1, depending on their value.
A message is mistaken for the target user's first value, or for their second, where

    f_i <= f_0 and f_1 < f_0     (U_0),        f_i <= f_1 and f_0 < f_1     (U_1),

unless it lies in user i's tails of probability delta_i / 2. p_i^0 and p_i^1 are the
probabilities of both. w is the probability that the target user's own message is mistaken
for the other value: where f_0 < f_1, outside the tails.

The range of messages is cut where any density jumps or bends, then into small cells, and
again wherever two densities cross; each cell is integrated by Gauss-Legendre quadrature.

Source: Liu, Liu, Xiong, Gu, Chen (2024), "Enhanced Privacy Bound for Shuffle Model with
Personalized Privacy", Section 3.2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

Density = Callable[[Floats], Floats]

# Cells between two kinks, halvings of a crossing, and nodes per cell. A pair of densities
# that crosses twice within one cell would be missed.
_CELLS, _HALVINGS, _NODES = 256, 60, 12
# Tolerance of a density's integral, which lacks the tails beyond its range.
_OFF = 1e-6


@dataclass(frozen=True, eq=False)
class MessageDensity:
    """The distribution of one message.

    Attributes:
        density: Densities of messages, at messages of any shape.
        low: Smallest message, or one below which less than about 1e-15 is sent.
        high: Largest message, or one above which less than that is sent.
        kinks: Messages at which the density may jump or bend.
        failure: delta: half of it is the probability of either tail that fails.
    """

    density: Density
    low: float
    high: float
    kinks: Sequence[float] = ()
    failure: float = 0.0

    def __post_init__(self) -> None:
        ends = (as_number(self.low, "low"), as_number(self.high, "high"))
        if not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
            raise InvalidInputError(
                f"Expected finite messages with low < high, got {ends[0]:g} to "
                f"{ends[1]:g}."
            )
        if not 0.0 <= as_number(self.failure, "failure") < 1.0:
            raise InvalidInputError(f"Expected 0 <= failure < 1, got {self.failure:g}.")

    def __call__(self, messages: Floats) -> Floats:
        """Returns densities, 0 outside the range."""
        inside = (messages >= self.low) & (messages <= self.high)
        safe = np.clip(messages, self.low, self.high)
        return np.where(inside, np.asarray(self.density(safe), dtype=np.float64), 0.0)


def density_clone_probabilities(
    other: MessageDensity, first: MessageDensity, second: MessageDensity
) -> tuple[float, float]:
    """Returns p_i^0 and p_i^1.

    >>> def noise(value):
    ...     density = lambda z: 0.5 * np.exp(-np.abs(z - value))
    ...     return MessageDensity(density, -40.0, 41.0, kinks=[value])
    >>> p_0, p_1 = density_clone_probabilities(noise(0.5), noise(0.0), noise(1.0))
    >>> print(f"{p_0:.4f} {p_1:.4f}")
    0.3894 0.3894

    Args:
        other: Density of another user's message.
        first: Of the target user's message, at one value.
        second: Of the target user's message, at the other value.

    Raises:
        InvalidInputError: If a density is negative, NaN, or does not integrate to 1.
    """
    edges = _edges(other, first, second)
    middles = 0.5 * (edges[:-1] + edges[1:])
    f_i, f_0, f_1 = other(middles), first(middles), second(middles)
    masses = _masses(other, edges) * _outside_tails(other, edges)
    # The paper prints strict inequalities: p_i would vanish where f_i is f_0 or f_1.
    return (
        float(masses[(f_i <= f_0) & (f_1 < f_0)].sum()),
        float(masses[(f_i <= f_1) & (f_0 < f_1)].sum()),
    )


def density_target_error(first: MessageDensity, second: MessageDensity) -> float:
    """Returns w, the smaller probability of a message mistaken for the other value.

    Raises:
        InvalidInputError: If a density is negative, NaN, or does not integrate to 1.
    """
    edges = _edges(first, second, first)
    middles = 0.5 * (edges[:-1] + edges[1:])
    f_0, f_1 = first(middles), second(middles)
    mass_0, mass_1 = (
        _masses(distribution, edges) * _outside_tails(distribution, edges)
        for distribution in (first, second)
    )
    # Printed as equal, which holds for symmetric noise only; the smaller is taken.
    return min(float(mass_0[f_0 < f_1].sum()), float(mass_1[f_1 < f_0].sum()))


def _edges(
    other: MessageDensity, first: MessageDensity, second: MessageDensity
) -> Floats:
    """Returns the edges of cells: kinks, small cells, tails, and crossings."""
    distributions = (other, first, second)
    low, high = (
        min(distribution.low for distribution in distributions),
        max(distribution.high for distribution in distributions),
    )
    marks = [
        mark
        for distribution in distributions
        for mark in (distribution.low, distribution.high, *distribution.kinks)
    ]
    coarse = np.unique(np.clip(np.array(marks, dtype=np.float64), low, high))
    steps = np.arange(_CELLS) / _CELLS
    fine = (coarse[:-1, None] + np.diff(coarse)[:, None] * steps).ravel()
    fine = np.unique(np.append(fine, high))
    cuts = [
        fine,
        *(
            _tail_edges(distribution, fine)
            for distribution in distributions
            if distribution.failure > 0.0
        ),
    ]
    # Just inside each cell, as densities may jump at its ends.
    gap = 1e-12 * np.diff(fine)
    left, right = fine[:-1] + gap, fine[1:] - gap
    for pair in ((other, first), (other, second), (first, second)):
        cuts.append(_crossings(*pair, left, right))
    return np.unique(np.concatenate(cuts))


def _crossings(
    first: MessageDensity, second: MessageDensity, left: Floats, right: Floats
) -> Floats:
    """Returns a message in every cell at whose ends two densities differ in order."""

    def above(messages: Floats) -> Floats:
        return np.sign(first(messages) - second(messages))

    start = above(left)
    cross = start * above(right) < 0.0
    low, high, sign = left[cross], right[cross], start[cross]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        same = above(middle) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return high


def _tail_edges(distribution: MessageDensity, edges: Floats) -> Floats:
    """Returns the two messages beyond which half of the failure probability lies."""
    # Printed with densities in place of distribution functions, and T^0 on both sides.
    half = 0.5 * distribution.failure
    # The upper tail is that of the reflected density: 1 - F would lose small tails.
    return np.array(
        [
            _quantile(distribution, edges, half),
            -_quantile(_turned(distribution), -edges[::-1], half),
        ]
    )


def _turned(distribution: MessageDensity) -> MessageDensity:
    return MessageDensity(
        lambda z: distribution.density(-z), -distribution.high, -distribution.low
    )


def _quantile(distribution: MessageDensity, edges: Floats, probability: float) -> float:
    """Returns the quantile of a small probability, with full relative precision."""
    below = np.cumsum(_masses(distribution, edges, checked=False))
    cell = min(int(np.searchsorted(below, probability)), edges.size - 2)
    # The remainder is the mass from the cell's left edge to the quantile.
    remainder = probability - (float(below[cell - 1]) if cell else 0.0)
    start = low = float(edges[cell])
    high = float(edges[cell + 1])
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        part = _masses(distribution, np.array([start, middle]), checked=False)[0]
        low, high = (middle, high) if part < remainder else (low, middle)
    return high


def _outside_tails(distribution: MessageDensity, edges: Floats) -> Floats:
    """Returns 1 for cells outside the tails that fail, else 0."""
    if distribution.failure == 0.0:
        return np.ones(edges.size - 1)
    low, high = _tail_edges(distribution, edges)
    middles = 0.5 * (edges[:-1] + edges[1:])
    inside: Floats = ((middles > low) & (middles < high)).astype(np.float64)
    return inside


def _masses(
    distribution: MessageDensity, edges: Floats, *, checked: bool = True
) -> Floats:
    """Returns the probabilities of cells within which the density is smooth."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)
    points = (edges[:-1] + half)[:, None] + half[:, None] * nodes
    values = distribution(points)
    masses: Floats = half * (values @ weights)
    # Written this way round, it refuses NaN, too.
    if checked and not (np.all(values >= 0.0) and abs(masses.sum() - 1.0) <= _OFF):
        raise InvalidInputError(
            f"Expected a density >= 0 that integrates to 1, got {masses.sum():.9g}."
        )
    return masses
