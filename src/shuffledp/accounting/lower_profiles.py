"""Proven lower bound on delta(epsilon): the strongest attack on a target user."""

import functools
from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.lower.score_attack import score_bound
from shuffledp.accounting.lower.score_sum import ScoreSum, score_sum
from shuffledp.accounting.lower.three_count_attack import is_small, three_count_bound
from shuffledp.accounting.lower.two_count_attack import two_count_bound
from shuffledp.accounting.sums.bernoulli_sum import BernoulliSum, coin_sum
from shuffledp.accounting.two_messages.binary_population import MAX_BANDS
from shuffledp.accounting.two_messages.two_message_bound import two_message_attack
from shuffledp.accounting.upper.blanket import others_of
from shuffledp.accounting.upper_profiles import Profile
from shuffledp.cover import (
    Attack,
    Cover,
    LocalRandomizer,
    ScoreAttack,
    TwoCountAttack,
    TwoMessages,
)
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

# Below this delta the two-count attack truncates relevant probability.
_FAR_OUT = 1e-40
# With this many scores, a sum is no more than the difference of two counts.
_COARSE = 3


def lower_profiles(
    randomizer: LocalRandomizer,
    crowd: Population,
    victims: Sequence[int],
    *,
    absent: int = 0,
    rounds: int = 1,
) -> list[Profile]:
    """Returns the strongest attack's delta(epsilon) for each target user.

    Args:
        randomizer: Randomizer that the devices run.
        crowd: Users among whom the targets hide, themselves included.
        victims: Positions of the targets' levels in the crowd, distinct.
        absent: Number of other users who may be absent or collude.
        rounds: Number of collections with the same values.
    """
    levels = crowd.epsilons[list(victims)].tolist()
    described = randomizer.attacks(levels, crowd)
    attackers = _Attackers(crowd.counts, victims, absent)
    if absent:
        # Any choice of absent people is a valid attack: covers only say whose absence
        # hurts most.
        covers = randomizer.covers(levels, crowd, delta=1e-6)
        attackers.who_gives_most(covers)
    return [
        attackers.strongest(victim, attacks, rounds)
        for victim, attacks in zip(victims, described, strict=True)
    ]


class _Attackers:
    """Builder of attacks that shares sums between target users."""

    def __init__(self, counts: Ints, victims: Sequence[int], absent: int) -> None:
        self._counts, self._absent = counts, absent
        self._left = dict.fromkeys(victims, counts)
        self._sums: dict[int, BernoulliSum | ScoreSum] = {}
        self._victims = victims

    def who_gives_most(self, covers: Sequence[tuple[Cover, ...]]) -> None:
        """Removes, for each target, the absent users who would have given most cover."""
        for victim, pairs in zip(self._victims, covers, strict=True):
            gammas = pairs[0].blanket_probabilities
            self._left[victim] = others_of(gammas, self._counts, victim, self._absent)

    def strongest(
        self, victim: int, attacks: tuple[Attack, ...], rounds: int
    ) -> Profile:
        counts: list[Profile] = []
        sums: list[ScoreAttack] = []
        for attack in attacks:
            # A gap below the rounding of the device's random bits yields no attack.
            if isinstance(attack, TwoMessages):
                bits = two_message_attack(attack, self._others(victim))
                # Counts are statistics of one collection; over several, scores add up.
                if bits is not None and rounds == 1:
                    counts.append(bits.delta)
            elif isinstance(attack, TwoCountAttack):
                if attack.gap > 0.0 and rounds == 1:
                    coins = self._coins(attack.hit_probabilities, victim)
                    counts.append(two_count_bound(attack, coins).delta)
                    others = self._others(victim)
                    strays = attack.stray_probabilities
                    if strays is not None and is_small(others):
                        counts.append(three_count_bound(attack, strays, others).delta)
            elif np.abs(attack.difference).max() > 0.0:
                sums.append(attack)

        banded = any(
            isinstance(attack, TwoMessages) and attack.least.shape[1] > MAX_BANDS
            for attack in attacks
        )

        @functools.cache
        def bounds(finer: bool) -> list[Profile]:
            return [
                score_bound(attack, self._scores(attack.others, victim), rounds).delta
                for attack in sums
                if (attack.second.size > _COARSE) == finer
            ]

        def strongest(epsilon: float) -> float:
            best = max((bound(epsilon) for bound in counts), default=0.0)
            values = [best, *(bound(epsilon) for bound in bounds(True))]
            # A sum is weaker than what is known of counts, but reaches farther out, and
            # needs no bands.
            if best <= _FAR_OUT or banded:
                values += [bound(epsilon) for bound in bounds(False)]
            return max(values)

        return strongest

    def _others(self, victim: int) -> Ints:
        if self._absent:
            return self._left[victim]
        others = self._counts.copy()
        others[victim] -= 1
        return others

    def _coins(self, hits: Floats, victim: int) -> BernoulliSum:
        chances = 2.0 * hits
        if self._absent:
            return coin_sum(chances, self._left[victim])
        # Victims share these arrays: the sum over all people is made once.
        total = self._sums.get(id(hits))
        if not isinstance(total, BernoulliSum):
            total = self._sums[id(hits)] = coin_sum(chances, self._counts)
        return total.without(float(chances[victim]))

    def _scores(self, others: Floats, victim: int) -> ScoreSum:
        if self._absent:
            return score_sum(others, self._left[victim])
        total = self._sums.get(id(others))
        if not isinstance(total, ScoreSum):
            total = self._sums[id(others)] = score_sum(others, self._counts)
        return total.without(others[victim])
