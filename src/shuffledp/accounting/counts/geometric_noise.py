"""Discrete Laplace noise on the count of a bucket, and its exact pair in one dimension.

All honest people together add to each bucket, independently of the others, A messages +
and B messages -, both geometric, P(A = a) = (1 - p) p^a, and Z pairs (+, -), Z negative
binomial. The analyst takes the difference of + and -, A - B beside the answers: discrete
Laplace. The pairs hide how many + there are.

*Source*: Ghazi, Kumar, Manurangsi, Pagh and Sinha (2021), "Differentially private
aggregation in the shuffle model: almost central accuracy in almost a single message",
arXiv:2109.13158, for the distributions. The pair below is ours.

*The pair.* Let zeta be the distribution of Z, G(m) = sum over z <= m of p^{-2 z} zeta(z).
The numbers U = A + Z of + and V = B + Z of - have

    P(U = u, V = v) = (1 - p)^2 p^{u + v} G(min(u, v)),

as A and B are geometric. One + more turns that of (u, v) into that of (u - 1, v). So the
likelihood ratio is 1 / p where u > v, and p^{-1} G(u - 1) / G(u) where u <= v, whatever
v is. With g(m) = p^{2 m} G(m) = p^2 g(m - 1) + zeta(m), these outcomes have masses

    without the +   (1 - p) g(u)       and p / (1 + p) where u > v,
    with the +      (1 - p) p g(u - 1) and 1 / (1 + p).

Beyond the last z of the window, G stays: those ratios are 1 / p, too.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shuffledp.accounting.counts.bucket_pair import ULP, BucketChange, BucketPair
from shuffledp.accounting.counts.count_noise import number_between
from shuffledp.accounting.counts.flood_window import (
    LARGEST_FLOOD,
    LARGEST_SHAPE,
    flood_window,
)
from shuffledp.accounting.counts.jump_rates import JumpRates, logarithmic_rates
from shuffledp.accounting.counts.poisson_pair import SMALLEST_MEAN
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.types import Floats

# Its square is a normal number.
_SMALLEST_DECAY = 1e-100
# Logarithm of the largest power that a recursion takes at once.
_LARGEST_POWER = 400.0


@dataclass(frozen=True)
class GeometricNoise:
    """Discrete Laplace noise as + and - messages, among pairs of both.

    >>> import shuffledp as sdp
    >>> noise = sdp.GeometricNoise(decay=0.6, pairs=800.0, shape=8.0)
    >>> round(noise.variance, 2), round(noise.messages)
    (7.5, 1603)

    Attributes:
        decay: p = P(A > 0), in (0, 1); A - B is discrete Laplace of parameter -log p.
        pairs: F, the mean number of pairs, from 1e-9 to 1e5.
        shape: r, of the negative binomial number of pairs, above 1; infinite: Poisson.
        surplus: Shape of A and B, at least 1: above that, they are negative binomial, of
            more people than the noise is made for. The certificate is that of 1.
    """

    decay: float
    pairs: float
    shape: float = math.inf
    surplus: float = 1.0

    def __post_init__(self) -> None:
        decay, shape = as_number(self.decay, "decay"), as_number(self.shape, "shape")
        if not _SMALLEST_DECAY <= decay < 1.0:
            raise InvalidInputError(
                f"Expected {_SMALLEST_DECAY:g} <= decay < 1, got {decay:g}."
            )
        if not (1.0 < shape <= LARGEST_SHAPE or shape == math.inf):
            raise InvalidInputError(
                f"Expected a shape above 1, up to {LARGEST_SHAPE:g}, or infinite, got "
                f"{shape:g}."
            )
        for name, value in (
            ("decay", decay),
            (
                "pairs",
                number_between(
                    "pairs per bucket", self.pairs, SMALLEST_MEAN, LARGEST_FLOOD
                ),
            ),
            ("shape", shape),
            ("surplus", number_between("of surplus", self.surplus, 1.0, LARGEST_SHAPE)),
        ):
            object.__setattr__(self, name, value)

    @property
    def variance(self) -> float:
        """That of A - B: pairs cancel."""
        return 2.0 * self.surplus * self.decay / (1.0 - self.decay) ** 2

    @property
    def fourth_cumulant(self) -> float:
        """Twice that of A: cumulants of independent jumps add up."""
        p = self.decay
        return 2.0 * self.surplus * p * (1.0 + 4.0 * p + p * p) / (1.0 - p) ** 4

    @property
    def messages(self) -> float:
        """Twice the means of A and of Z."""
        return 2.0 * (self.surplus * self.decay / (1.0 - self.decay) + self.pairs)

    def scaled(self, factor: float) -> "GeometricNoise":
        """See `CountNoise`."""
        if factor < 1.0 - 1e-12:
            raise CertificationError(
                "Expected at least as many honest people as the noise is made for: with "
                "fewer, + and - are not geometric."
            )
        factor = max(factor, 1.0)
        if factor == 1.0:
            # With what is known of it already.
            return self
        # Pairs of fewer people: those of the others are post-processing.
        part = min(factor, LARGEST_FLOOD / self.pairs)
        if not math.isinf(self.shape):
            part = min(part, LARGEST_SHAPE / self.shape)
        return replace(
            self,
            pairs=min(self.pairs * part, LARGEST_FLOOD),
            shape=(
                self.shape
                if math.isinf(self.shape)
                else min(self.shape * part, LARGEST_SHAPE)
            ),
            surplus=self.surplus * factor,
        )

    def jumps(self) -> JumpRates:
        """Returns logarithmic jumps, and single pairs if their number is Poisson."""
        single, omitted = logarithmic_rates(self.surplus, self.decay)
        if math.isinf(self.shape):
            return JumpRates(single, single, np.array([self.pairs]), 2.0 * omitted)
        ratio = self.pairs / (self.shape + self.pairs)
        pairs, more_jumps = logarithmic_rates(self.shape, ratio)
        return JumpRates(single, single, pairs, 2.0 * omitted + more_jumps)

    def certified(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """See `CountNoise`."""
        return BucketChange(self._pair.thinned(rate), moved, times)

    def attacked(
        self, rate: float, *, buckets: int, moved: bool, times: int
    ) -> BucketChange:
        """Returns the exact changes, or those of + minus - alone if there is a surplus."""
        if self.surplus == 1.0:
            return self.certified(rate, buckets=buckets, moved=moved, times=times)
        return BucketChange(self._difference.thinned(rate), moved, times)

    @cached_property
    def _difference(self) -> BucketPair:
        """A - B and one more: convolutions of positive masses."""
        mean = self.surplus * self.decay / (1.0 - self.decay)
        window = flood_window(mean, self.surplus)
        without = np.convolve(window.masses, window.masses[::-1])
        return BucketPair.of(
            np.append(0.0, without),
            np.append(without, 0.0),
            missing=4.0 * window.outside,
            drift=2.0 * window.doubt + (2.0 * without.size + 20.0) * ULP,
        )

    @cached_property
    def _pair(self) -> BucketPair:
        p, window = self.decay, flood_window(self.pairs, self.shape)
        g = _decayed_sums(window.masses, p * p)
        # With u > v, and beyond the window.
        top = p / (1.0 + p) + p * p / (1.0 + p) * g[-1]
        # Written where they stay: windows have a million numbers.
        with_message, without = np.empty((2, g.size + 1))
        with_message[0], with_message[-1], without[-1] = 0.0, top / p, top
        np.multiply(g[:-1], (1.0 - p) * p, out=with_message[1:-1])
        np.multiply(g, 1.0 - p, out=without[:-1])
        # Three roundings in each of the recursion's steps, and of powers of p.
        drift = window.doubt + (8.0 * g.size + 60.0) * ULP
        missing = 4.0 * window.outside
        return BucketPair.of(with_message, without, missing=missing, drift=drift)


def _decayed_sums(masses: Floats, decay: float) -> Floats:
    """Returns g(m) = decay g(m - 1) + masses(m), a sum of positive terms."""
    # In blocks whose powers of decay are normal numbers, all of them at once.
    length = min(max(int(_LARGEST_POWER / -math.log(decay)), 1), masses.size)
    powers = decay ** np.arange(1.0, length + 1.0)
    blocks = np.zeros((-(-masses.size // length), length))
    blocks.reshape(-1)[: masses.size] = masses
    blocks /= powers
    np.cumsum(blocks, axis=1, out=blocks)
    last_power, before = float(powers[-1]), [0.0]
    for last in blocks[:-1, -1].tolist():
        before.append(last_power * (before[-1] + last))
    blocks += np.array(before)[:, None]
    blocks *= powers
    return blocks.reshape(-1)[: masses.size]
