"""Discrete Laplace noise as messages + and -, among pairs of both that cancel.

For one bucket, all people together send, beside answers, A messages + and B messages -, and
Z pairs (+, -); every person sends 1 / n of each, as negative binomial numbers of shape
1 / n. With NB(r, p) for the number whose generating function is ((1 - p) / (1 - p x))^r,

    A, B ~ NB(1, e^-epsilon*),       Z ~ NB(3 (1 + ln(1 / delta)), e^{-0.2 epsilon_1}),

epsilon_1 in (0, 1), and one answer more or less is (epsilon* + epsilon_1, delta)-private.
The analyst takes the difference of + and -, whose noise A - B is discrete Laplace.

*Why* (for one bucket; the paper's theorem is about sums of numbers, whose other zero-sum
messages are not there if numbers are 0 and 1). Given the difference, min(A, B) does not
depend on it; so the difference costs epsilon*, and the number of - given the difference
moves by at most one, which Z hides with (epsilon_1, delta).

The paper leaves open how epsilon is divided; here epsilon_1 is a tenth, so that the error
is close to a trusted curator's. A replaced answer changes two buckets: each is made for
half of epsilon and delta.

Exact: see `GeometricNoise` of shuffledp. At an equal guarantee the noise on the count is
the paper's, and Z has its shape; the mean number of pairs is the smallest that is enough.

Source: Ghazi, Kumar, Manurangsi, Pagh and Sinha (2021), "Differentially Private Aggregation
in the Shuffle Model: Almost Central Accuracy in Almost a Single Message", ICML 2021,
arXiv:2109.13158.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.types import Floats
from shuffledp_papers.multi_message.count_design import CountDesign, CountProtocol
from shuffledp_papers.multi_message.count_setting import CountSetting
from shuffledp_papers.multi_message.exact_pairs import moved_delta
from shuffledp_papers.multi_message.smallest_noise import smallest_size
from shuffledp_papers.outside_preconditions import OutsidePreconditions

# Part of epsilon that pairs may cost.
_PART_OF_PAIRS = 0.1


@dataclass(frozen=True)
class PairedMessages(CountDesign):
    """Geometric noise among pairs in each bucket.

    Attributes:
        num_users: n.
        buckets: k.
        noise: Of one bucket, of all people together.
    """

    num_users: int
    buckets: int
    noise: GeometricNoise

    @property
    def messages(self) -> float:
        """The answer, and a part of the noise of all buckets."""
        return 1.0 + self.buckets * self.noise.messages / self.num_users

    def standard_error(self, holders: int) -> float:
        """That of discrete Laplace noise, for any bucket."""
        return math.sqrt(self.noise.variance)

    def certified_delta(self, epsilon: float) -> float:
        """See `CountDesign`."""
        change = self.noise.certified(1.0, buckets=self.buckets, moved=True, times=1)
        return moved_delta(change.pair, epsilon)

    def draw_estimates(
        self, holders: int, repetitions: int, *, rng: np.random.Generator
    ) -> Floats:
        """See `CountDesign`."""
        p, shape = self.noise.decay, self.noise.shape
        plus, minus = rng.negative_binomial(1.0, 1.0 - p, size=(2, repetitions))
        stop = shape / (shape + self.noise.pairs)
        pairs = rng.negative_binomial(shape, stop, size=repetitions)
        estimates: Floats = (holders + plus + pairs) - (minus + pairs).astype(
            np.float64
        )
        return estimates


class Ghazi2021(CountProtocol):
    """The protocol for sums of 0 and 1 in every bucket, at half of the guarantee."""

    name = "Ghazi et al. 2021"
    title = (
        "Differentially Private Aggregation in the Shuffle Model: Almost Central "
        "Accuracy in Almost a Single Message"
    )
    source = "Ghazi et al. 2021, arXiv:2109.13158"

    def published(self, setting: CountSetting) -> PairedMessages:
        """See `CountProtocol`."""
        epsilon, delta = setting.half
        of_pairs = _PART_OF_PAIRS * epsilon
        if not of_pairs < 1.0:
            raise OutsidePreconditions(
                f"Expected epsilon below {2.0 / _PART_OF_PAIRS:g}, got "
                f"{setting.epsilon:g}."
            )
        shape = 3.0 * (1.0 + math.log(1.0 / delta))
        # NB(r, p) has the mean r p / (1 - p).
        pairs = shape / math.expm1(0.2 * of_pairs)
        decay = math.exp(-(epsilon - of_pairs))
        noise = GeometricNoise(decay, pairs, shape)
        return PairedMessages(setting.num_users, setting.buckets, noise)

    def smallest(self, setting: CountSetting) -> PairedMessages:
        """See `CountProtocol`."""
        noise = self.published(setting).noise

        def of(pairs: float) -> PairedMessages:
            fewer = GeometricNoise(noise.decay, pairs, noise.shape)
            return PairedMessages(setting.num_users, setting.buckets, fewer)

        return smallest_size(of, setting, enough=noise.pairs)
