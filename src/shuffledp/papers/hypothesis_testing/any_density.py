"""Clone probabilities as type-I errors, for any densities and any values, by quadrature.

A person sends z with density f_i; the victim with f_0 or f_1, whichever value she holds. A
message is mistaken for the victim's first value, or for her second, where

    f_i <= f_0 and f_1 < f_0     (U_0),        f_i <= f_1 and f_0 < f_1     (U_1),

unless it lies in the person's own tails of probability delta_i / 2. p_i^0 and p_i^1 are her
chances of both. The victim is mistaken for herself with the other value where f_0 < f_1,
outside her tails: w.

The range of messages is cut where any density jumps or bends, then into small cells, and
again wherever two densities cross; what is left is integrated by Gauss and Legendre. Two
densities that cross twice within a small cell are not told apart there.

Errata. The printed inequalities of U_0 and U_1 are strict, and p_i vanishes where people
and victim send alike; printed, the two chances that define w are equal, which holds for
symmetric noise only, and the smaller is taken here; the failure set is printed with
densities in place of distribution functions, and with T^0 on both sides.

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

# Cells between two kinks, halvings of a crossing, and nodes per cell.
_CELLS, _HALVINGS, _NODES = 256, 60, 12
# A density's integral may be off by so much, as what lies beyond its range.
_OFF = 1e-6


@dataclass(frozen=True, eq=False)
class MessageDensity:
    """The law of one message.

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


def confusion_of(
    own: MessageDensity, first: MessageDensity, second: MessageDensity
) -> tuple[float, float]:
    """Returns p_i^0 and p_i^1.

    >>> def noise(value):
    ...     density = lambda z: 0.5 * np.exp(-np.abs(z - value))
    ...     return MessageDensity(density, -40.0, 41.0, kinks=[value])
    >>> confusion = confusion_of(noise(0.5), noise(0.0), noise(1.0))
    >>> print(f"{confusion[0]:.4f} {confusion[1]:.4f}")
    0.3894 0.3894

    Args:
        own: Of somebody else's message.
        first: Of the victim's, holding one value.
        second: Of the victim's, holding the other.

    Raises:
        InvalidInputError: If a density is negative, NaN, or does not integrate to 1.
    """
    edges = _edges(own, first, second)
    middles = 0.5 * (edges[:-1] + edges[1:])
    mine, one, other = own(middles), first(middles), second(middles)
    kept = _masses(own, edges) * _kept(own, edges)
    return (
        float(kept[(mine <= one) & (other < one)].sum()),
        float(kept[(mine <= other) & (one < other)].sum()),
    )


def flip_of(first: MessageDensity, second: MessageDensity) -> float:
    """Returns w, the smaller chance of the victim to be mistaken for her other self.

    Raises:
        InvalidInputError: If a density is negative, NaN, or does not integrate to 1.
    """
    edges = _edges(first, second, first)
    middles = 0.5 * (edges[:-1] + edges[1:])
    one, other = first(middles), second(middles)
    kept = [_masses(law, edges) * _kept(law, edges) for law in (first, second)]
    return min(float(kept[0][one < other].sum()), float(kept[1][other < one].sum()))


def _edges(
    own: MessageDensity, first: MessageDensity, second: MessageDensity
) -> Floats:
    """Returns where the range is cut: kinks, small cells, tails, and crossings."""
    laws = (own, first, second)
    low, high = min(law.low for law in laws), max(law.high for law in laws)
    marks = [mark for law in laws for mark in (law.low, law.high, *law.kinks)]
    coarse = np.unique(np.clip(np.array(marks, dtype=np.float64), low, high))
    steps = np.arange(_CELLS) / _CELLS
    fine = (coarse[:-1, None] + np.diff(coarse)[:, None] * steps).ravel()
    fine = np.unique(np.append(fine, high))
    cuts = [fine, *(_tail_edges(law, fine) for law in laws if law.failure > 0.0)]
    # Just inside each cell, as densities may jump at its ends.
    gap = 1e-12 * np.diff(fine)
    left, right = fine[:-1] + gap, fine[1:] - gap
    for one, other in ((own, first), (own, second), (first, second)):
        cuts.append(_crossings(one, other, left, right))
    return np.unique(np.concatenate(cuts))


def _crossings(
    one: MessageDensity, other: MessageDensity, left: Floats, right: Floats
) -> Floats:
    """Returns a message in every cell at whose ends two densities differ in order."""

    def above(messages: Floats) -> Floats:
        return np.sign(one(messages) - other(messages))

    start = above(left)
    cross = start * above(right) < 0.0
    low, high, sign = left[cross], right[cross], start[cross]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        same = above(middle) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return high


def _tail_edges(law: MessageDensity, edges: Floats) -> Floats:
    """Returns the two messages beyond which half of the failure lies."""
    half = 0.5 * law.failure
    return np.array(
        [_quantile(law, edges, half), -_quantile(_turned(law), -edges[::-1], half)]
    )


def _turned(law: MessageDensity) -> MessageDensity:
    return MessageDensity(lambda z: law.density(-z), -law.high, -law.low)


def _quantile(law: MessageDensity, edges: Floats, chance: float) -> float:
    """Returns the message below which so much is sent; small chances keep digits."""
    below = np.cumsum(_masses(law, edges, checked=False))
    cell = min(int(np.searchsorted(below, chance)), edges.size - 2)
    rest = chance - (float(below[cell - 1]) if cell else 0.0)
    start = low = float(edges[cell])
    high = float(edges[cell + 1])
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        part = _masses(law, np.array([start, middle]), checked=False)[0]
        low, high = (middle, high) if part < rest else (low, middle)
    return high


def _kept(law: MessageDensity, edges: Floats) -> Floats:
    """Returns 1 for cells outside the tails that fail, else 0."""
    if law.failure == 0.0:
        return np.ones(edges.size - 1)
    low, high = _tail_edges(law, edges)
    middles = 0.5 * (edges[:-1] + edges[1:])
    kept: Floats = ((middles > low) & (middles < high)).astype(np.float64)
    return kept


def _masses(law: MessageDensity, edges: Floats, *, checked: bool = True) -> Floats:
    """Returns the chances of cells within which the density is smooth."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)
    places = (edges[:-1] + half)[:, None] + half[:, None] * nodes
    values = law(places)
    masses: Floats = half * (values @ weights)
    # Written this way round, it refuses NaN, too.
    if checked and not (np.all(values >= 0.0) and abs(masses.sum() - 1.0) <= _OFF):
        raise InvalidInputError(
            f"Expected a density >= 0 that integrates to 1, got {masses.sum():.9g}."
        )
    return masses
