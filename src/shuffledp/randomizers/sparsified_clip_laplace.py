"""Clip-Laplace that hides small messages: they are replaced by noise around 0.

A device draws a Clip-Laplace message. If it lies outside of the middle of the range, it is
sent; if not, a *dummy* is sent in its place, an independent Clip-Laplace message around 0.
Of a vector of many numbers, most of them near 0, few messages depend on their values, and
all others are cover.

The threshold is public and the same for every value and every privacy level. So whether a
message is kept depends on the message alone, the local budget is that of Clip-Laplace, and
messages about different numbers stay independent. Keeping the b largest of d messages
instead has none of this: which are kept depends on all values.

With f_v the Clip-Laplace density at v and M the middle, the density of a message is

    R_v(z) = f_v(z) 1[z not in M] + P_v(M) f_0(z).

Source: after S-APES of Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Algorithm
2, which keeps the b largest. The fixed threshold is ours.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import as_number
from shuffledp.cover import Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.cell_powers import cell_powers
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.clipped_noise import ClippedNoise
from shuffledp.randomizers.clipped_probabilities import noise_probabilities
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.noise_attack import inner_edges
from shuffledp.randomizers.sampled_cells import MessageCounts
from shuffledp.randomizers.sparsified_cover import sparsified_cover
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats, Ints

_HALF = STEPS // 2
# Of a cell, where the range is [-1, 1].
_WIDTH = 1.0 / _HALF
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class SparsifiedClipLaplace(ClippedNoise):
    """Public parameters only.

    Attributes:
        clip: C > 0; values and messages lie in [-C, C].
        share: Part of the range, in (0, 1), whose messages are kept: the outer one. At a
            value of 0 this part of all messages is kept, or less at a larger budget.
    """

    clip: float = 1.0
    _: KW_ONLY
    share: float = 0.2

    def __post_init__(self) -> None:
        ClipLaplace(self.clip)
        share = as_number(self.share, "share")
        # Written this way round, it refuses NaN, too.
        if not (0.0 < share < 1.0 and 0 < self._threshold < _HALF):
            raise InvalidInputError(
                f"Expected a share in (0, 1), by at least 1 / {STEPS} off its ends, got "
                f"{share:g}."
            )

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "sparsified-clip-laplace"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"clip": float(self.clip), "share": float(self.share)}

    @property
    def unit(self) -> "SparsifiedClipLaplace":
        """The same mechanism for values from -1 to 1; the messages are the same."""
        return SparsifiedClipLaplace(1.0, share=self.share)

    @property
    def unbiased(self) -> bool:
        """False: messages about values near 0 are replaced by noise around it."""
        return False

    @property
    def cells(self) -> int:
        """4096: the threshold and the cover are made for them."""
        return STEPS

    @property
    def _threshold(self) -> int:
        return round((1.0 - float(self.share)) * _HALF)

    def thresholds(self, epsilons: Floats) -> Ints:
        """Returns the distance from the middle of sent messages, in cells, per level.

        Args:
            epsilons: Local budgets, shape (levels,).
        """
        # If it grew with the budget, users of larger budgets would stand out where the
        # others send dummies only.
        return np.full(epsilons.shape, self._threshold, dtype=np.int64)

    def keeps(self, cells: Ints) -> NDArray[np.bool_]:
        """Returns which cells are far enough from the middle to be sent, same shape."""
        right, left = _HALF + self._threshold, _HALF - self._threshold
        is_kept: NDArray[np.bool_] = (cells >= right) | (cells < left)
        return is_kept

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns that of the Clip-Laplace message from which this one is made."""
        # Post-processing: whether a message is kept depends on the message alone.
        return ClipLaplace().local_delta(level, epsilon)

    def cover_of(
        self, target_user: float, population: Population, *, delta: float
    ) -> Cover:
        """The cover of one target user, for a pair that is at least as bad as any other."""
        del delta
        return sparsified_cover(target_user, population, self._threshold)

    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Probabilities that the message falls into each bin, shape (levels, bins)."""
        # With the threshold as an edge, each bin is kept or replaced as a whole.
        edges = np.union1d(inner_edges(STEPS), [-self._edge, self._edge])
        rates = np.maximum(epsilons[:, None] / 2.0, _SMALLEST)

        noise, dummies = (
            noise_probabilities(rates, np.array([center]), edges[:-1], edges[1:])
            for center in (value, 0.0)
        )
        inside = np.abs(edges[:-1] + edges[1:]) < 2.0 * self._edge
        dummy = noise[:, inside].sum(axis=1, keepdims=True)
        probabilities: Floats = np.where(inside, 0.0, noise) + dummy * dummies
        return probabilities

    def draw_cells(self, points: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws Clip-Laplace cells, and once more around 0 for those not kept."""
        device = ClipLaplace()
        cells = device.draw_cells(points, epsilons, rng=rng)
        replaced = np.flatnonzero(~self.keeps(cells))
        middle, stream = (
            np.full(replaced.size, _HALF, dtype=np.int64),
            stream_of(rng, replaced),
        )
        cells[replaced] = device.draw_cells(middle, epsilons[replaced], rng=stream)
        return cells

    def draw_population(
        self, points: Ints, level: float, *, rng: np.random.Generator
    ) -> Iterator[MessageCounts]:
        """Draws which cells a population's messages fall into, part by part."""
        device, dummies = ClipLaplace(), np.zeros_like(points)
        for cells, often in device.draw_population(points, level, rng=rng):
            is_kept = self.keeps(cells)
            # A dummy is noise around 0, whatever it replaces.
            dummies[_HALF] += int(often[~is_kept].sum())
            yield cells[is_kept], often[is_kept]
        yield from device.draw_population(dummies, level, rng=rng)

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded message.

        They are exactly those of the cells' middles.

        Args:
            epsilons: Local budgets, shape (levels,).
            values: Numbers in [-C, C], shape (values,).

        Returns:
            Both of shape (levels, values).
        """
        clip, rates = float(self.clip), np.maximum(epsilons[:, None] / 2.0, _SMALLEST)
        # A value is moved to one of the two grid points beside it.
        position = (np.clip(values / clip, -1.0, 1.0) + 1.0) * _HALF
        below = np.minimum(np.floor(position), STEPS - 1.0)
        share = position - below
        probability_kept, first, second = (
            (1.0 - share) * left + share * right
            for left, right in zip(
                self._kept(rates, below / _HALF - 1.0),
                self._kept(rates, (below + 1.0) / _HALF - 1.0),
                strict=True,
            )
        )
        dummy = cell_powers(rates, np.zeros(1), np.ones(1), _WIDTH)
        second = second + (1.0 - probability_kept) * dummy[2] / dummy[0]
        return clip * first, clip**2 * (second - first**2)

    def _kept(self, rates: Floats, points: Floats) -> tuple[Floats, Floats, Floats]:
        """Returns probability, mean and mean square of kept messages, 0 for the others."""
        edge, point = self._edge, points[None, :]
        norm = cell_powers(rates, np.zeros(1), 1.0 - point, _WIDTH)[0]
        norm = norm + cell_powers(rates, np.zeros(1), 1.0 + point, _WIDTH)[0]
        probability, mean, square = (np.zeros(norm.shape) for _ in range(3))
        # Outer right and outer left part; in each what is right and left of the point.
        for side in (1.0, -1.0):
            at = side * point
            for way, near, far in (
                (1.0, np.maximum(edge - at, 0.0), 1.0 - at),
                (-1.0, np.maximum(at - 1.0, 0.0), np.maximum(at - edge, 0.0)),
            ):
                mass, first, second = cell_powers(rates, near, far, _WIDTH)
                probability += mass
                mean += side * (at * mass + way * first)
                square += at**2 * mass + 2.0 * way * at * first + second
        return probability / norm, mean / norm, square / norm

    def bits_per_person(self, epsilons: Floats) -> float:
        """12, at every level."""
        return ClipLaplace(self.clip).bits_per_person(epsilons)

    @property
    def _edge(self) -> float:
        return self._threshold / _HALF
