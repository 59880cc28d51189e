"""Proven lower bound on delta(epsilon): the strongest attack on a target user."""

import functools
import math
from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.lower.score_attack import score_bound
from shuffledp.accounting.lower.score_pair import score_pair
from shuffledp.accounting.lower.score_sum import ScoreSum, score_sum
from shuffledp.accounting.lower.three_count_attack import is_small, three_count_bound
from shuffledp.accounting.lower.two_count_attack import two_count_bound
from shuffledp.accounting.sums.bernoulli_sum import BernoulliSum, bernoulli_sum
from shuffledp.accounting.two_messages.binary_population import MAX_BANDS
from shuffledp.accounting.two_messages.two_message_bound import two_message_attack
from shuffledp.accounting.upper.blanket_population import others_of
from shuffledp.accounting.upper_profile import Profile
from shuffledp.cover import (
    Attack,
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
# So few people are taken away from a sum over all.
_FEW_LEFT_OUT = 8


def lower_profiles(
    randomizer: LocalRandomizer,
    population: Population,
    target_users: Sequence[int],
    *,
    absent: int = 0,
    rounds: int = 1,
) -> list[Profile]:
    """Returns the strongest attack's delta(epsilon) for each target user.

    Args:
        randomizer: Randomizer that the devices run.
        population: Users among whom the targets hide, themselves included.
        target_users: Positions of the targets' levels in the population, distinct.
        absent: Number of other users who may be absent or collude.
        rounds: Number of collections with the same values.
    """
    levels = population.epsilons[list(target_users)].tolist()
    described = randomizer.attacks(levels, population)
    attackers = _Attackers(population.counts, target_users, absent)
    if absent:
        # Any choice of absent people is a valid attack: covers only say whose absence
        # hurts most.
        covers = randomizer.covers(levels, population, delta=1e-6)
        attackers.leave_out([pairs[0].blanket_probabilities for pairs in covers])
    return [
        attackers.strongest(target_user, attacks, rounds)
        for target_user, attacks in zip(target_users, described, strict=True)
    ]


def attacked_pairs(
    randomizer: LocalRandomizer,
    population: Population,
    target_users: Sequence[int],
    *,
    absent: int,
    times: int,
) -> list[tuple[AttackedPair, ...]]:
    """Returns, for each target user, a pair that is seen in each of several collections.

    There is none where no attack is proven.

    Args:
        randomizer: Randomizer that the devices run.
        population: Users among whom the targets hide, themselves included.
        target_users: Positions of the targets' levels in the population, distinct.
        absent: Number of other users who may be absent or collude.
        times: Number of collections.
    """
    levels = population.epsilons[list(target_users)].tolist()
    described = randomizer.attacks(levels, population)
    attackers = _Attackers(population.counts, target_users, absent)
    if absent:
        # The same people in every protocol: those with the least budgets.
        attackers.leave_out([-population.epsilons] * len(levels))
    return [
        attackers.most_informative(target_user, attacks, times)
        for target_user, attacks in zip(target_users, described, strict=True)
    ]


class _Attackers:
    """Builder of attacks that shares sums between target users."""

    def __init__(self, counts: Ints, target_users: Sequence[int], absent: int) -> None:
        self._counts, self._absent = counts, absent
        self._left = dict.fromkeys(target_users, counts)
        self._sums: dict[int, BernoulliSum | ScoreSum] = {}
        self._target_users = target_users

    def leave_out(self, gammas: Sequence[Floats]) -> None:
        """Removes, for each target, the absent users who would have given most cover.

        Args:
            gammas: How much cover people of each level give, shape (levels,).
        """
        for target_user, cover in zip(self._target_users, gammas, strict=True):
            self._left[target_user] = others_of(
                cover, self._counts, target_user, self._absent
            )

    def most_informative(
        self, target_user: int, attacks: tuple[Attack, ...], times: int
    ) -> tuple[AttackedPair, ...]:
        pairs = [
            score_pair(attack, self._scores_of(attack, target_user), times)
            for attack in attacks
            if isinstance(attack, ScoreAttack) and np.abs(attack.difference).max() > 0.0
        ]
        return tuple(
            sorted(
                (pair for pair in pairs if pair is not None),
                key=lambda pair: pair.information,
            )[-1:]
        )

    def strongest(
        self, target_user: int, attacks: tuple[Attack, ...], rounds: int
    ) -> Profile:
        counts: list[Profile] = []
        sums: list[ScoreAttack] = []
        for attack in attacks:
            # A gap below the rounding of the device's random bits yields no attack.
            if isinstance(attack, TwoMessages):
                bits = two_message_attack(attack, self._others(target_user))
                # Counts are statistics of one collection; over several, scores add up.
                if bits is not None and rounds == 1:
                    counts.append(bits.delta)
            elif isinstance(attack, TwoCountAttack):
                if attack.gap > 0.0 and rounds == 1:
                    others_sum = self._bernoulli_sum(
                        attack.hit_probabilities, target_user
                    )
                    counts.append(two_count_bound(attack, others_sum).delta)
                    others = self._others(target_user)
                    strays = attack.stray_probabilities
                    if strays is not None and is_small(others):
                        counts.append(three_count_bound(attack, strays, others).delta)
            elif np.abs(attack.difference).max() > 0.0:
                sums.append(attack)

        banded = any(
            isinstance(attack, TwoMessages) and attack.least.shape[1] > MAX_BANDS
            for attack in attacks
        )

        evaluated: dict[Profile, list[tuple[float, float]]] = {}

        @functools.cache
        def bounds(finer: bool) -> list[Profile]:
            return [
                score_bound(attack, self._scores_of(attack, target_user), rounds).delta
                for attack in sums
                if (attack.second.size > _COARSE) == finer
            ]

        def strongest(epsilon: float) -> float:
            best_delta = max((bound(epsilon) for bound in counts), default=0.0)
            # A sum is weaker than what is known of counts, but reaches farther out, and
            # needs no bands.
            finer = [True, False] if best_delta <= _FAR_OUT or banded else [True]
            others = [bound for each in finer for bound in bounds(each)]
            return largest_delta(others, epsilon, evaluated, at_least=best_delta)

        return strongest

    def _others(self, target_user: int) -> Ints:
        if self._absent:
            return self._left[target_user]
        others = self._counts.copy()
        others[target_user] -= 1
        return others

    def _bernoulli_sum(self, hits: Floats, target_user: int) -> BernoulliSum:
        probabilities = 2.0 * hits
        if self._absent:
            return bernoulli_sum(probabilities, self._left[target_user])
        # Target users share these arrays: the sum over all people is made once.
        total = self._sums.get(id(hits))
        if not isinstance(total, BernoulliSum):
            total = self._sums[id(hits)] = bernoulli_sum(probabilities, self._counts)
        return total.without(float(probabilities[target_user]))

    def _scores_of(self, attack: ScoreAttack, target_user: int) -> ScoreSum:
        others, error = attack.others, attack.error
        left = self._others(target_user)
        left_out = self._counts - left
        if left_out.sum() > _FEW_LEFT_OUT:
            return score_sum(others, left, error)
        # Target users share these arrays: the sum over all people is made once.
        total = self._sums.get(id(others))
        if not isinstance(total, ScoreSum):
            total = self._sums[id(others)] = score_sum(others, self._counts, error)
        for position in np.repeat(np.arange(left_out.size), left_out).tolist():
            total = total.without(others[position])
        return total


def largest_delta(
    profiles: Sequence[Profile],
    epsilon: float,
    evaluated: dict[Profile, list[tuple[float, float]]],
    *,
    at_least: float,
) -> float:
    """Returns the largest of several deltas, or `at_least`.

    Args:
        profiles: What to evaluate: each falls with epsilon.
        epsilon: Where.
        evaluated: (epsilon, delta) wherever a profile was evaluated; it is added to.
        at_least: A delta that is known.
    """
    most = {
        profile: min(
            (delta for at, delta in evaluated.get(profile, []) if at <= epsilon),
            default=math.inf,
        )
        for profile in profiles
    }
    largest = at_least
    # Those that were the strongest go first: the others may need no evaluation.
    for profile in sorted(profiles, key=lambda profile: -most[profile]):
        if most[profile] > largest:
            delta = profile(epsilon)
            evaluated.setdefault(profile, []).append((epsilon, delta))
            largest = max(largest, delta)
    return largest
