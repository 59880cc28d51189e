"""Clip-Laplace around the value with a public probability, and otherwise around 0.

With a public probability s a device draws a Clip-Laplace message around its value,
otherwise one around 0. With f_v the Clip-Laplace density at v, a message has the density

    R_v = s f_v + (1 - s) f_0.

The choice stays hidden. So a target user's two densities differ by s times as much, and
other users' messages give better cover than those of Clip-Laplace, as most are drawn
around the middle: with b = eps / 2 and P = b / (1 - e^{-2b}), for every v,

    R_v(y) >= s P e^{-b (1 + |y|)} + (1 - s) b / (2 (1 - e^{-b})) e^{-b |y|}.

*Cover.* omega is the target user's own f_0. Then (1 - s) f_0 adds the same to the loss
of every pair of values everywhere, and the ends of the range are the worst pair, as
they are for Clip-Laplace (docs/theory/covers.md). Where s is nearly 1 the cover of
Clip-Laplace may be better, and for a target user among more careful users a flatter
omega (sampled_cover.py).

The local budget of Clip-Laplace stands; here it is not reached.
"""

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np

from shuffledp.arrays import as_number
from shuffledp.cover import CellBounds, Cover
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.clipped_noise import ClippedNoise
from shuffledp.randomizers.exponential_blanket import ExponentialBlanket, end_density
from shuffledp.randomizers.exponential_cover import cover_in_shape
from shuffledp.randomizers.grid import STEPS
from shuffledp.randomizers.noise import pure_local_delta
from shuffledp.randomizers.sampled_cells import MessageCounts
from shuffledp.randomizers.sampled_cover import best_kappa, cover_with_kappa
from shuffledp.randomness import Rng, bernoulli_draws
from shuffledp.types import Floats, Ints

_HALF = STEPS // 2
_SMALLEST = 1e-12
# More than the rounding of a few operations.
_ROUNDING = 2e-15


@dataclass(frozen=True, slots=True)
class SampledClipLaplace(ClippedNoise):
    """Public parameters only.

    Attributes:
        clip: C > 0; values and messages lie in [-C, C].
        share: s, the probability that a message is about its value, in (0, 1].
    """

    clip: float = 1.0
    _: KW_ONLY
    share: float = 0.2

    def __post_init__(self) -> None:
        ClipLaplace(self.clip)
        share = as_number(self.share, "share")
        # Written this way round, it refuses NaN, too.
        if not 0.0 < share <= 1.0:
            raise InvalidInputError(f"Expected a share in (0, 1], got {share:g}.")

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "sampled-clip-laplace"

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"clip": float(self.clip), "share": float(self.share)}

    @property
    def cells(self) -> int:
        """4096: an even number, so that 0 is a point of the grid."""
        return STEPS

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the divergence of -C against C, which is largest by the same lemma."""
        if level <= 0.0:
            return 0.0
        share, rate = float(self.share), level / 2.0
        # Of f_0 against what an end of the range adds in its far half, times (1 - s) / s.
        log_rest = -math.inf
        if share < 1.0:
            log_rest = math.log((1.0 - share) / share)
            log_rest += rate + math.log1p(math.exp(-rate)) - math.log(2.0)
        measured = level + np.logaddexp(0.0, log_rest - level)
        measured -= np.logaddexp(0.0, log_rest)
        # The densities cross at t with e^{-2 b t} = E + (E - 1) e^{log_rest}.
        crossing = epsilon
        if epsilon > 0.0:
            log_loss = math.log(-math.expm1(-epsilon))
            crossing += float(np.logaddexp(0.0, log_rest + log_loss))
        remaining_share = -math.expm1((crossing - level) / 2.0)
        remaining_share = max(remaining_share, 0.0) + _ROUNDING * (crossing + level)
        both = share * remaining_share * (remaining_share / -math.expm1(-level))
        maximum = min(float(measured) * (1.0 + _ROUNDING), level)
        return pure_local_delta(maximum, epsilon, both)

    def cover_of(
        self, target_user: float, population: Population, *, delta: float
    ) -> Cover:
        """Returns the best of three covers of one target user."""
        # Also valid: the message alone reveals less than message and choice together.
        always = ClipLaplace().cover_of(target_user, population, delta=delta)
        rate = max(target_user, _SMALLEST) / 2.0
        covers = self._sampled(rate, population), always
        best_cover = min(
            covers, key=lambda cover: _remaining_variance(cover, population)
        )
        share = float(self.share)
        kappa = best_kappa(
            rate,
            population,
            share,
            blanket_probability=self.blanket_probability,
            smallest_spread=_remaining_variance(best_cover, population),
        )
        if kappa is None:
            return best_cover
        gammas = self.blanket_probability(
            population.epsilons / 2.0, ExponentialBlanket(kappa, rate, 1.0)
        )
        return cover_with_kappa(kappa, rate=rate, share=share, gammas=gammas)

    def _sampled(self, rate: float, population: Population) -> Cover:
        """Returns the cover of a target user of this rate, with omega = f_0."""
        share, shape = float(self.share), ExponentialBlanket(rate, rate, 1.0)
        gammas = self.blanket_probability(population.epsilons / 2.0, shape)
        about = cover_in_shape(shape, gammas, clipped=True)
        cells = about.cells
        if cells is not None:
            cells = CellBounds(
                (share * cells.low + (1.0 - share)) * (1.0 - _ROUNDING),
                (share * cells.high + (1.0 - share)) * (1.0 + _ROUNDING),
            )
        bases = (share * about.bases + (1.0 - share)) * (1.0 - _ROUNDING)
        return Cover(gammas, about.masses, share * about.differences, bases, cells)

    def blanket_probability(self, rates: Floats, shape: ExponentialBlanket) -> Floats:
        """Returns gamma for people whose noise has these rates, shape as `rates`."""
        share = float(self.share)
        # At 0, where noise around 0 is as high as at the ends of a range half as wide.
        minimum = share * end_density(rates, clipped=True) * np.exp(-rates)
        minimum += (1.0 - share) * end_density(rates / 2.0, clipped=True)
        ratios = [
            np.log(minimum) - rates * y - shape.log_density(y) for y in (0.0, 1.0)
        ]
        gamma: Floats = np.exp(np.minimum(*ratios)) * (1.0 - 1e-12)
        return np.minimum(gamma, 1.0)

    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Probabilities that the message falls into each bin, shape (levels, bins)."""
        share, noise = float(self.share), ClipLaplace()
        about, around = noise.bins(epsilons, value), noise.bins(epsilons, 0.0)
        return share * about + (1.0 - share) * around

    def draw_cells(self, points: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws Clip-Laplace cells, about the value or about 0."""
        speaks = bernoulli_draws(np.full(points.shape, float(self.share)), rng=rng)
        return ClipLaplace().draw_cells(
            np.where(speaks, points, _HALF), epsilons, rng=rng
        )

    def draw_population(
        self, points: Ints, level: float, *, rng: np.random.Generator
    ) -> Iterator[MessageCounts]:
        """Draws which cells a population's messages fall into, part by part."""
        about = rng.binomial(points, float(self.share))
        # All others draw around 0, which is a point of the grid.
        about[_HALF] += int((points - about).sum())
        yield from ClipLaplace().draw_population(about, level, rng=rng)


def _remaining_variance(cover: Cover, population: Population) -> float:
    """Returns about the variance of the loss that the population leaves."""
    people = float(population.counts @ cover.blanket_probabilities)
    return float(cover.masses @ cover.differences**2) / max(people, 1e-300)
