"""Division of noise among groups of buckets, so that the weighted error is smallest.

Group g changes 2 s_g buckets when a person's answers change, each by one message, and adds
w_g V_g to the weighted squared error, V_g being its noise variance. The two families:

*Poisson noise* is like a Gaussian: privacy allows a sum of 2 s_g / V_g over groups. The
error is smallest at V_g in proportion to sqrt(2 s_g / w_g).

*Geometric noise* is like discrete Laplace noise of parameter e'_g: privacy allows a sum of
2 s_g e'_g, and V_g is 2 / e'_g^2. The error is smallest at e'_g in proportion to
(w_g / s_g)^(1/3).

One size for all groups together remains, which a search finds and the accountant certifies.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.accounting.counts.flood_window import LARGEST_FLOOD
from shuffledp.accounting.counts.geometric_noise import GeometricNoise
from shuffledp.statistics.questionnaire.question import AnswerGroup

# Pairs per bucket beyond which more hardly reduce the variance, times e'^-1.2.
_ENOUGH_PAIRS = 2000.0
# Of a negative binomial number of pairs, the best at most sizes.
_SHAPE = 10.0
# Geometric noise takes many more messages: squared errors must fall below this part.
_BETTER = 0.75
# With fewer pairs than this part of enough, geometric noise is worse than Poisson noise.
_TOO_FEW = 0.02


@dataclass(frozen=True)
class NoiseDivision:
    """Relative noise of groups, in one family.

    Attributes:
        name: Of the family, as plans display it.
        groups: Whose noise is divided.
        weights: w_g: error weights with the analyst's interest in each question, above 0.
        shares: Of every group: its variance for Poisson noise, its e'_g for geometric
            noise, up to the size of all groups together.
        is_geometric: Whether noise is geometric.
    """

    name: str
    groups: tuple[AnswerGroup, ...]
    weights: tuple[float, ...]
    shares: tuple[float, ...]
    is_geometric: bool

    def noise(self, size: float, room: float) -> tuple[Noise, ...] | None:
        """Returns the noise of every group; None if it needs too many messages.

        Args:
            size: Above 0: variances are about in proportion to its square.
            room: Noise messages of all honest people together.
        """
        buckets = [group.buckets for group in self.groups]
        if not self.is_geometric:
            means = [size**2 * share for share in self.shares]
            fits = _sum_of_products(buckets, means) <= room
            return tuple(PoissonNoise(mean) for mean in means) if fits else None
        decays = [share / size for share in self.shares]
        single = _sum_of_products(buckets, [2.0 / decay for decay in decays])
        enough_pairs = [_ENOUGH_PAIRS * min(decay, 4.0) ** -1.2 for decay in decays]
        part = min(
            (room - single) / (2.0 * _sum_of_products(buckets, enough_pairs)), 1.0
        )
        if part < _TOO_FEW:
            return None
        return tuple(
            GeometricNoise(math.exp(-decay), min(part * pairs, LARGEST_FLOOD), _SHAPE)
            for decay, pairs in zip(decays, enough_pairs, strict=True)
        )

    def first_size(self, epsilon: float, deviation: float) -> float:
        """Returns about the size that keeps a target.

        Args:
            epsilon: The target.
            deviation: Of Gaussian noise that keeps it at a sensitivity of 1.
        """
        changes = [_num_changes(group) for group in self.groups]
        if self.is_geometric:
            return _sum_of_products(changes, self.shares) / epsilon
        inverse = [1.0 / share for share in self.shares]
        return deviation * math.sqrt(_sum_of_products(changes, inverse))

    def error(self, noise: Sequence[Noise]) -> float:
        """Returns the weighted squared error of this noise."""
        return _sum_of_products(self.weights, [each.variance for each in noise])


def noise_divisions(
    groups: tuple[AnswerGroup, ...],
    weights: tuple[float, ...],
    *,
    epsilon: float,
    deviation: float,
) -> Iterator[NoiseDivision]:
    """Yields the divisions that are worth a search: see `NoiseDivision`.

    Args:
        groups: Whose noise is divided.
        weights: w_g of each.
        epsilon: The smallest target.
        deviation: Of Gaussian noise that keeps it at a sensitivity of 1.
    """
    ratios = [
        weight / _num_changes(group)
        for group, weight in zip(groups, weights, strict=True)
    ]
    poisson = tuple(ratio**-0.5 for ratio in ratios)
    yield NoiseDivision("Poisson noise", groups, weights, poisson, False)
    geometric = tuple(ratio ** (1.0 / 3.0) for ratio in ratios)
    division = NoiseDivision("geometric noise", groups, weights, geometric, True)
    # Before any search: what Gaussian and Laplace noise would add at this target.
    gaussian = (
        deviation**2
        * math.fsum(
            math.sqrt(weight * _num_changes(group))
            for group, weight in zip(groups, weights, strict=True)
        )
        ** 2
    )
    laplace = (
        # The square of the smallest targets is 0: their error is infinite, instead.
        2.0
        / epsilon
        / epsilon
        * math.fsum(
            _num_changes(group) ** (2.0 / 3.0) * weight ** (1.0 / 3.0)
            for group, weight in zip(groups, weights, strict=True)
        )
        ** 3
    )
    if laplace < _BETTER * gaussian:
        yield division


def _num_changes(group: AnswerGroup) -> float:
    """Returns how many buckets change at most, each by one message."""
    return float(group.most if group.buckets == 1 else 2 * group.most)


def _sum_of_products(some: Sequence[float], others: Sequence[float]) -> float:
    return math.fsum(first * second for first, second in zip(some, others, strict=True))
