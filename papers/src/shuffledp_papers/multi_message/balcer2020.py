"""One Bernoulli message per bucket of every person: binomial noise on every count.

A person sends a message into the own bucket, and into each of the k buckets another one
with probability p. For one bucket (the zero-sum protocol of the paper), if

    1 - p = 50 ln(2 / delta) / (epsilon^2 n)   and   n >= 100 ln(2 / delta) / epsilon^2,

what the analyst sees is (epsilon, delta)-private, and for all buckets (2 epsilon, 2 delta):
a replaced answer changes two. The analyst subtracts n p. A count of at most n messages is
reported as 0 by the paper; the standard error here is of the estimate without that.

Exact: buckets are independent, and their noise is Binomial(n, p).

Source: Balcer and Cheu (2020), "Separating Local & Shuffled Differential Privacy via
Histograms", ITC 2020, arXiv:1911.06879, section 3.
"""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.sums.binomial import relative_error
from shuffledp.types import Floats
from shuffledp_papers.multi_message.count_design import CountDesign, CountProtocol
from shuffledp_papers.multi_message.count_setting import CountSetting
from shuffledp_papers.multi_message.exact_pairs import (
    binomial_masses,
    moved_delta,
    shifted_pair,
)
from shuffledp_papers.multi_message.smallest_noise import smallest_size
from shuffledp_papers.outside_preconditions import OutsidePreconditions


@dataclass(frozen=True)
class BernoulliMessages(CountDesign):
    """A message in every bucket, left out with a small probability.

    Attributes:
        num_users: n.
        buckets: k.
        left_out: 1 - p, in (0, 1/2].
    """

    num_users: int
    buckets: int
    left_out: float

    @property
    def messages(self) -> float:
        """The answer, and p of each bucket."""
        return 1.0 + self.buckets * (1.0 - self.left_out)

    def standard_error(self, holders: int) -> float:
        """The deviation of a binomial number, for any bucket."""
        return math.sqrt(self.num_users * self.left_out * (1.0 - self.left_out))

    def certified_delta(self, epsilon: float) -> float:
        """See `CountDesign`."""
        # Binomial(n, p) is n minus Binomial(n, 1 - p), and the pair its mirror image.
        _, masses, missing = binomial_masses(self.num_users, self.left_out)
        drift = 2.0 * float(relative_error(np.array(float(self.num_users))))
        return moved_delta(shifted_pair(masses, missing=missing, drift=drift), epsilon)

    def draw_estimates(
        self, holders: int, repetitions: int, *, rng: np.random.Generator
    ) -> Floats:
        """See `CountDesign`."""
        probability = 1.0 - self.left_out
        noise = rng.binomial(self.num_users, probability, size=repetitions)
        counts = (holders + noise).astype(np.float64)
        return counts - self.num_users * probability


class Balcer2020(CountProtocol):
    """The protocol for histograms, each bucket at half of the guarantee."""

    name = "Balcer and Cheu 2020"
    title = "Separating Local & Shuffled Differential Privacy via Histograms"
    source = "Balcer and Cheu 2020, arXiv:1911.06879, section 3"

    def published(self, setting: CountSetting) -> BernoulliMessages:
        """See `CountProtocol`."""
        epsilon, delta = setting.half
        if not epsilon < 1.0:
            raise OutsidePreconditions(
                f"Expected epsilon < 1 of a bucket, got {epsilon:g}."
            )
        left_out = 50.0 * math.log(2.0 / delta) / (epsilon**2 * setting.num_users)
        # n >= 100 ln(2 / delta) / epsilon^2.
        if not left_out <= 0.5:
            raise OutsidePreconditions(
                f"Expected at least {math.ceil(2.0 * left_out * setting.num_users):,} "
                f"people, got {setting.num_users:,}."
            )
        return BernoulliMessages(setting.num_users, setting.buckets, left_out)

    def smallest(self, setting: CountSetting) -> BernoulliMessages:
        """See `CountProtocol`; where the paper states nothing, from p = 1/2 on."""
        return smallest_size(
            lambda size: BernoulliMessages(setting.num_users, setting.buckets, size),
            setting,
            enough=0.5,
        )
