"""Base of the randomizers that send a vector of independently flipped bits.

Every coordinate of a report is shuffled separately. A 1 is lost with probability `lost`, a
0 becomes a stray 1 with probability `stray`; both depend on the level only. Given all
users' values the coordinates are independent, and one changed value turns at most c bits
from 1 to 0 and c from 0 to 1: all coordinates together are a composition of 2 c shuffles
of one bit.

*One bit.* Let omega send a 1 with probability w. For either value of the bit, a user of
level j sends a 1 with probability >= stray_j and a 0 with probability >= lost_j, and hence
a message from omega with probability

    gamma_j = min(stray_j / w, lost_j / (1 - w)).

For large populations the spread of a target user's loss is least where w (1 - w) sum_j
gamma_j = sum_j min(stray_j (1 - w), lost_j w) is largest. That sum is concave and bends
only at the levels' own w_j = stray_j / (stray_j + lost_j), and one of them is best: 1/2
if a 1 is as likely to be lost as to appear.

*Attack.* A user's score is the number of ones in the c coordinates that speak for x,
less that in the c coordinates that speak for x', plus c. The sum of all scores can be read
off the shuffled coordinates. If there is a third value whose bits are 0 in all of these
coordinates, all others hold it. If ones are sent with less noise than zeros, or if there
are only two values, all others hold x: the less noisy coordinates count for more, in
inverse proportion to their variances. If both are alike all others hold x, which hides the
target user less than x' does: their sum is less skew on the side that matters. Every
attack that applies is tried, and the strongest counts.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1

import numpy as np

from shuffledp.cover import Attack, Cover, TwoMessages
from shuffledp.population import Population
from shuffledp.randomizers.pair_scores import pair_scores, pairs_attack, power
from shuffledp.randomizers.two_value_attacks import (
    attacks_among_holders,
    two_value_attacks,
)
from shuffledp.types import Floats

# Lowers a blanket weight by more than its rounding.
_SAFE = 1.0 - 1e-14
# Sums over few people of many nearly fair draws drown in the rounding of their
# generating function, and so fewer coordinates are attacked, too.
_FEW_PAIRS = 4
# Raises a probability that is drawn by more than its rounding.
UPWARD = 1.0 + 8e-16


@dataclass(frozen=True, eq=False)
class BitProbabilities:
    """Flip probabilities of one bit, per level.

    Attributes:
        lost: Probability that a 1 is sent as 0, shape (levels,).
        stray: Probability that a 0 is sent as 1, shape (levels,).
        gap: 1 - lost - stray without the cancellation of tiny budgets, shape (levels,).
    """

    lost: Floats
    stray: Floats
    gap: Floats


def symmetric_flips(epsilons: Floats) -> BitProbabilities:
    """Returns binary randomized response: either bit is flipped with the same probability.

    Args:
        epsilons: Budgets of one bit, shape (levels,).

    >>> symmetric_flips(np.log([1.0, 3.0])).lost
    array([0.5 , 0.25])
    """
    # exp(eps) overflows past eps = 709; the same ratio in exp(-eps) goes to 0 instead.
    decay = np.exp(-epsilons)
    flip = decay / (1.0 + decay)
    return BitProbabilities(flip, flip, np.tanh(epsilons / 2.0))


class BitChannel(ABC):
    """A randomizer whose report is a vector of bits, each shuffled apart."""

    @property
    @abstractmethod
    def changes(self) -> int:
        """In how many coordinates one changed value shows at most: 2 c."""

    @property
    @abstractmethod
    def has_third_value(self) -> bool:
        """True if a third value has zeros wherever the bits of two others differ."""

    @abstractmethod
    def promised(self, epsilons: Floats) -> BitProbabilities:
        """Returns the flip probabilities that a level allows; `drawn` is noisier.

        Args:
            epsilons: Budgets of whole reports, shape (levels,).
        """

    @abstractmethod
    def drawn(self, epsilons: Floats) -> BitProbabilities:
        """Returns the flip probabilities that a device uses."""

    @property
    def delta_local(self) -> float:
        """0: pure local privacy."""
        return 0.0

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the divergence of one bit alone, at the level of the whole report."""
        if epsilon >= level:
            return 0.0
        probabilities = self.promised(np.array([level]))
        min_probability = min(
            float(probabilities.lost[0]), float(probabilities.stray[0])
        )
        # (1 - lost) - e^epsilon stray, and the same with the bits exchanged.
        excess = (
            float(probabilities.gap[0]) * (1.0 + 1e-12)
            - expm1(epsilon) * min_probability
        )
        return min(max(excess, 0.0), 1.0)

    def covers(
        self, target_users: Sequence[float], population: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """Returns a cover for a 1 that becomes 0 and, where it differs, the reverse."""
        del delta
        others = self.promised(population.epsilons)
        share = _share_of_ones(others, population)
        gammas = np.minimum(others.stray / share, others.lost / (1.0 - share)) * _SAFE
        min_probabilities = np.stack([others.stray, others.lost]) * _SAFE
        # Otherwise a 0 and a 1 are not hidden alike, whatever their share is.
        is_symmetric = np.array_equal(others.lost, others.stray)
        # A changed value turns as many bits off as on, at most.
        half = self.changes // 2
        covers: list[tuple[Cover, ...]] = []
        for target_user in target_users:
            own_probabilities = self.promised(np.array([target_user]))
            lost, stray, gap = (
                float(c[0])
                for c in (
                    own_probabilities.lost,
                    own_probabilities.stray,
                    own_probabilities.gap,
                )
            )
            if is_symmetric and lost == stray:
                # An empty third cell: in this form the bound can be summed exactly.
                high, low = 2.0 * gap, 2.0 * stray
                masses = np.array([0.5, 0.5, 0.0])
                bases = np.array([low, low + high, low])
                change = np.array([high, -high, 0.0])
                bits = TwoMessages(min_probabilities, gap, stray)
                covers.append((Cover(gammas, masses, change, bases, bits=bits),))
                continue
            masses = np.array([share, 1.0 - share])
            change = np.array([gap, -gap]) / masses
            base_zero = np.array([stray, lost + gap]) / masses
            base_one = np.array([stray + gap, lost]) / masses
            bits = TwoMessages(min_probabilities, gap, stray)
            # The other way round, what the target user is more likely to send is a 0.
            turned = TwoMessages(min_probabilities[::-1], gap, lost)
            covers.append(
                (
                    Cover(gammas, masses, change, base_zero, bits=bits, shuffles=half),
                    Cover(
                        gammas, masses, -change, base_one, bits=turned, shuffles=half
                    ),
                )
            )
        return covers

    def attacks(
        self, target_users: Sequence[float], population: Population
    ) -> list[tuple[Attack, ...]]:
        """Returns attacks on all coordinates that may differ, and on fewer of them."""
        others = self.drawn(population.epsilons)
        owns = [self.drawn(np.array([target_user])) for target_user in target_users]
        probabilities = [
            (float(o.lost[0]), float(o.stray[0]), float(o.gap[0])) for o in owns
        ]
        # Every choice is a valid attack.
        is_symmetric = np.allclose(others.lost, others.stray, rtol=1e-9, atol=0.0)
        if not (self.has_third_value or is_symmetric):
            return two_value_attacks(
                (others.lost, others.stray), probabilities, population.counts
            )
        bit_one, bit_zero = (
            (1.0 - others.lost, others.lost),
            (others.stray, 1.0 - others.stray),
        )
        rows = pair_scores(bit_one if is_symmetric else bit_zero, bit_zero, (1, 1))
        maximum = self.changes // 2
        sizes = sorted({maximum, min(maximum, _FEW_PAIRS), 1})
        populations = {pairs: power(rows, pairs) for pairs in sizes}
        attacks: list[tuple[Attack, ...]] = [
            tuple(
                pairs_attack(scores, target_user, weights=(1, 1), pairs=pairs)
                for pairs, scores in populations.items()
            )
            for target_user in probabilities
        ]
        noise_of_ones = population.counts @ (others.lost * (1.0 - others.lost))
        noise_of_zeros = population.counts @ (others.stray * (1.0 - others.stray))
        if is_symmetric or noise_of_ones >= noise_of_zeros:
            return attacks
        stronger = attacks_among_holders(
            (others.lost, others.stray),
            probabilities,
            population.counts,
            # Weights make tables of many pairs too wide.
            [(pairs, pairs <= _FEW_PAIRS) for pairs in sizes],
        )
        return [a + b for a, b in zip(attacks, stronger, strict=True)]


def _share_of_ones(probabilities: BitProbabilities, population: Population) -> float:
    """Returns w, the one of the levels' own that leaves the least spread."""
    if np.array_equal(probabilities.lost, probabilities.stray):
        return 0.5
    shares = probabilities.stray / (probabilities.stray + probabilities.lost)
    order = np.argsort(shares)
    counts = population.counts.astype(np.float64)[order]
    ones, zeros = (
        counts * probabilities.stray[order],
        counts * probabilities.lost[order],
    )
    # At w_j, people of smaller w still lack zeros, and those of larger w lack ones.
    below, above = np.cumsum(ones), zeros.sum() - np.cumsum(zeros)
    ranked = shares[order]
    return float(ranked[np.argmax(below * (1.0 - ranked) + above * ranked)])
