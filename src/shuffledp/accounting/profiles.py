"""A victim's two privacy profiles: delta against epsilon, proven above and below.

The upper one is the blanket bound, or the divergence of her message alone where that is
smaller; the lower one is the strongest of the attacks on her.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.lower.score_attack import score_bound
from shuffledp.accounting.lower.score_sum import ScoreSum, score_sum
from shuffledp.accounting.lower.three_count_attack import is_small, three_count_bound
from shuffledp.accounting.lower.two_count_attack import two_count_bound
from shuffledp.accounting.solve import smallest_certified_epsilon
from shuffledp.accounting.sums.coin_sum import CoinSum, coin_sum
from shuffledp.accounting.upper.blanket import UpperBound, blanket_bounds, without_most
from shuffledp.cover import (
    Attack,
    Cover,
    LocalRandomizer,
    ScoreAttack,
    TwoCountAttack,
)
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

Profile = Callable[[float], float]

# What may be dropped from the tails of a distribution, as a part of delta.
_TAIL = 1e-12
_MOST_EPSILON = 1e6
# Below this the two-count attack leaves out what matters.
_FAR_OUT = 1e-40
# With so many scores, a sum is no more than the difference of two counts.
_COARSE = 3


@dataclass(frozen=True, eq=False)
class UpperProfile:
    """A proven upper bound for one victim at every epsilon.

    Attributes:
        blanket: What the others hide.
        randomizer: Whose densities bound a message on its own.
        level: The victim's local budget.
        spread: About the standard deviation of the loss that the others leave.
    """

    blanket: UpperBound
    randomizer: LocalRandomizer
    level: float
    spread: float

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        alone = self.randomizer.local_delta(self.level, epsilon)
        if alone == 0.0:
            return 0.0
        try:
            return min(self.blanket.delta(epsilon), alone)
        except CertificationError:
            # Too few messages, or too steep, for the integral: her own noise is left.
            return alone

    def slack(self, epsilon: float) -> float:
        """Returns which part of the blanket bound at `epsilon` is numerical caution.

        1 where that bound is not known, and the message alone decides.
        """
        try:
            return float(self.blanket.slack(epsilon))
        except CertificationError:
            return 1.0

    def about(self, delta: float, times: int) -> float:
        """Returns where epsilon may lie, as if the loss were normal."""
        spread = self.spread * math.sqrt(times)
        return spread * math.sqrt(2.0 * math.log(max(spread / delta, 2.0)))

    def ceiling(self, delta: float) -> float:
        """Returns an epsilon at which the message alone keeps `delta`."""
        if self.randomizer.delta_local == 0.0:
            return self.level
        return local_epsilon(self.randomizer, self.level, delta)


def local_epsilon(randomizer: LocalRandomizer, level: float, delta: float) -> float:
    """Returns a certified epsilon, at `delta`, of one message alone.

    Raises:
        CertificationError: If there is none.
    """

    def alone(epsilon: float) -> float:
        return randomizer.local_delta(level, epsilon)

    high = max(level, 1e-6)
    while alone(high) > delta:
        high *= 2.0
        if high > _MOST_EPSILON:
            raise CertificationError(
                f"At delta {delta:g} the device of level {level:g} promises nothing."
            )
    return smallest_certified_epsilon(alone, delta, ceiling=high, guess=level)


def check_level(randomizer: LocalRandomizer, level: float) -> None:
    """Raises CertificationError unless a device's densities keep what a level promises."""
    promised = randomizer.delta_local * (1.0 + 1e-6)
    if randomizer.local_delta(level, level * (1.0 + 1e-9)) > promised:
        raise CertificationError(
            f"The densities of {randomizer.mechanism} at level {level:g} show more than "
            "the level promises."
        )


def upper_profiles(
    randomizer: LocalRandomizer,
    crowd: Population,
    victims: Sequence[int],
    *,
    delta: float,
    absent: int = 0,
) -> list[UpperProfile]:
    """Returns the certified profile of a person at each of these levels.

    Args:
        randomizer: What the devices run.
        crowd: The people among whom victims hide, themselves included.
        victims: Positions of their levels in the crowd, distinct.
        delta: About how small a divergence must still be right.
        absent: How many of the others may be absent or collude.

    Raises:
        CertificationError: If a device's densities do not keep what its level promises.
    """
    levels = crowd.epsilons[list(victims)].tolist()
    for level in levels:
        check_level(randomizer, level)
    covers = randomizer.covers(levels, crowd, delta=delta)
    bounds = blanket_bounds(
        covers, crowd.counts, victims, absent=absent, tail=max(_TAIL * delta, 1e-320)
    )
    counts = crowd.counts.astype(np.float64)
    messages: dict[int, float] = {}
    profiles = []
    for bound, level, pairs in zip(bounds, levels, covers, strict=True):
        gammas = pairs[0].blanket_probabilities
        if id(gammas) not in messages:
            messages[id(gammas)] = float(gammas @ counts)
        spread = _spread(pairs[0], max(messages[id(gammas)], 1.0))
        profiles.append(UpperProfile(bound, randomizer, level, spread))
    return profiles


def _spread(cover: Cover, messages: float) -> float:
    largest = float(np.abs(cover.differences).max())
    if largest == 0.0:
        return 0.0
    # In units of the largest, whose square might overflow.
    part = float(cover.masses @ (cover.differences / largest) ** 2)
    return largest * math.sqrt(part / messages)


def lower_profiles(
    randomizer: LocalRandomizer,
    crowd: Population,
    victims: Sequence[int],
    *,
    absent: int = 0,
    rounds: int = 1,
) -> list[Profile]:
    """Returns, per victim, what the strongest attack on her achieves at any epsilon.

    Args:
        randomizer: What the devices run.
        crowd: The people among whom victims hide, themselves included.
        victims: Positions of their levels in the crowd, distinct.
        absent: How many of the others may be absent or collude.
        rounds: How often the whole collection happens, with the same values.
    """
    levels = crowd.epsilons[list(victims)].tolist()
    described = randomizer.attacks(levels, crowd)
    attackers = _Attackers(crowd.counts, victims, absent)
    if absent:
        covers = randomizer.covers(levels, crowd, delta=1e-6)
        attackers.who_gives_most(covers)
    return [
        attackers.strongest(victim, attacks, rounds)
        for victim, attacks in zip(victims, described, strict=True)
    ]


class _Attackers:
    """Builds attacks; what several victims have in common is computed once."""

    def __init__(self, counts: Ints, victims: Sequence[int], absent: int) -> None:
        self._counts, self._absent = counts, absent
        self._left = dict.fromkeys(victims, counts)
        self._sums: dict[int, CoinSum | ScoreSum] = {}
        self._victims = victims

    def who_gives_most(self, covers: Sequence[tuple[Cover, ...]]) -> None:
        """The absent are, for each victim, those who would have hidden her best."""
        for victim, pairs in zip(self._victims, covers, strict=True):
            rest = self._counts.copy()
            rest[victim] -= 1
            gammas = pairs[0].blanket_probabilities
            self._left[victim] = without_most(gammas, rest, self._absent)

    def strongest(
        self, victim: int, attacks: tuple[Attack, ...], rounds: int
    ) -> Profile:
        counts: list[Profile] = []
        sums: list[ScoreAttack] = []
        for attack in attacks:
            # A device whose budget drowns in the rounding of its coins tells nothing.
            if isinstance(attack, TwoCountAttack):
                if attack.gap > 0.0 and rounds == 1:
                    coins = self._coins(attack.hit_probabilities, victim)
                    counts.append(two_count_bound(attack, coins).delta)
                    others = self._others(victim)
                    strays = attack.stray_probabilities
                    if strays is not None and is_small(others):
                        counts.append(three_count_bound(attack, strays, others).delta)
            elif np.abs(attack.difference).max() > 0.0:
                sums.append(attack)

        @functools.cache
        def bounds(finer: bool) -> list[Profile]:
            return [
                score_bound(attack, self._scores(attack.others, victim), rounds).delta
                for attack in sums
                if (attack.second.size > _COARSE) == finer
            ]

        def strongest(epsilon: float) -> float:
            best = max((bound(epsilon) for bound in counts), default=0.0)
            found = [best, *(bound(epsilon) for bound in bounds(True))]
            # Their difference is weaker than two counts, but reaches farther out.
            if best <= _FAR_OUT:
                found += [bound(epsilon) for bound in bounds(False)]
            return max(found)

        return strongest

    def _others(self, victim: int) -> Ints:
        if self._absent:
            return self._left[victim]
        others = self._counts.copy()
        others[victim] -= 1
        return others

    def _coins(self, hits: Floats, victim: int) -> CoinSum:
        chances = 2.0 * hits
        if self._absent:
            return coin_sum(chances, self._left[victim])
        total = self._sums.get(id(hits))
        if not isinstance(total, CoinSum):
            total = self._sums[id(hits)] = coin_sum(chances, self._counts)
        return total.without(float(chances[victim]))

    def _scores(self, others: Floats, victim: int) -> ScoreSum:
        if self._absent:
            return score_sum(others, self._left[victim])
        total = self._sums.get(id(others))
        if not isinstance(total, ScoreSum):
            total = self._sums[id(others)] = score_sum(others, self._counts)
        return total.without(others[victim])


def composed_ceiling(profile: Profile, start: float, delta: float) -> float:
    """Returns an epsilon at which a composed profile is certified, by doubling.

    Raises:
        CertificationError: If there is none, since delta is too small.
    """
    ceiling = max(start, 1e-6)
    while profile(ceiling) > delta:
        ceiling *= 2.0
        if not math.isfinite(ceiling) or ceiling > _MOST_EPSILON:
            raise CertificationError(
                f"Nothing can be certified at delta {delta:g}: ask for a larger one."
            )
    return ceiling
