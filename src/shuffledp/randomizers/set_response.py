"""Base of the randomizers that favor a set of messages, e^eps to 1.

Every value x has a set S_x of messages, of the same share of omega for all x, where omega
is uniform over all messages. A user at level eps who holds x sends each message of S_x
e^eps times as often as each other message:

    density against omega:   high = e^eps low on S_x, low elsewhere,
    low = 1 / (1 + |S| (e^eps - 1)),

so that the local budget is exactly eps, and the blanket weight, the smallest density, is
low. To draw it: with probability low, any message; otherwise, one of S_x; all equally
likely. For two values x and x' the messages fall into four kinds: in S_x only, in S_x'
only, in both, in neither. Members of the family are k-ary response (S_x = {x}), subset
selection (Ye and Barg 2018; Wang et al. 2019), Hadamard response (Acharya, Sun, Zhang 2019)
and local hashing (Wang, Blocki, Li, Jha 2017).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.cover import Attack, Cover, TwoMessages
from shuffledp.population import Population
from shuffledp.randomizers.drawn_counts import check_population
from shuffledp.randomizers.set_attacks import SetAttacks
from shuffledp.randomness import Rng, bernoulli_draws
from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class Overlaps:
    """Shares of all messages, the same for every pair (or triple) of values.

    Attributes:
        inside: In S_x, in (0, 1).
        both: In S_x and in S_x'.
        third: In S_x and in S_z but not in S_x', for the third value z that makes it
            smallest; the same with x and x' exchanged. None if there are two values.
    """

    inside: float
    both: float
    third: float | None


def lowest_density(epsilons: Floats, inside: float) -> Floats:
    """Returns low, which is the blanket weight, shape as `epsilons`.

    >>> lowest_density(np.log([1.0, 3.0]), 0.5)
    array([1. , 0.5])
    """
    # exp(eps) overflows past eps = 709; the same ratio in exp(-eps) goes to 0 instead.
    decay = np.exp(-epsilons)
    low: Floats = decay / (inside + (1.0 - inside) * decay)
    return low


def drawn_blanket_probability(epsilons: Floats, inside: float) -> Floats:
    """Returns the probability, as devices use it, that a message ignores its value."""
    # The 8e-16 on top cover the rounding of low: a device is slightly more private than
    # promised, never less, as Bernoulli draws have exactly the probability returned.
    low = lowest_density(epsilons, inside)
    return np.minimum(low * (1.0 + 8e-16), 1.0)


def promised(epsilons: Floats, inside: float) -> tuple[Floats, Floats]:
    """Returns low, and high - low, without the cancellation of tiny budgets."""
    decay = np.exp(-epsilons)
    gap: Floats = -np.expm1(-epsilons) / (inside + (1.0 - inside) * decay)
    return lowest_density(epsilons, inside), gap


class SetResponse(ABC):
    """A randomizer that favors the messages of one set per value."""

    @property
    @abstractmethod
    def mechanism(self) -> str:
        """The name of the randomizer."""

    @property
    def plan_name(self) -> str:
        """See `PlannedOracle`."""
        return self.mechanism

    @classmethod
    def left_out(cls, num_categories: int, *, for_targets: bool) -> str:
        """See `PlannedOracle`."""
        del num_categories, for_targets
        return ""

    @property
    @abstractmethod
    def overlaps(self) -> Overlaps:
        """The overlaps of the sets of two or three values."""

    def drawn(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns low, and high - low, of the distribution that a device uses.

        Args:
            epsilons: Local budgets, shape (levels,).
        """
        inside = self.overlaps.inside
        gamma = drawn_blanket_probability(epsilons, inside)
        return gamma, (1.0 - gamma) / inside

    def ignores_value(self, epsilons: Floats, *, rng: Rng) -> NDArray[np.bool_]:
        """Draws which users send a uniform message, and not one of their own set.

        Args:
            epsilons: Each person's local budget, shape (n,).
            rng: The only source of randomness.
        """
        gamma = drawn_blanket_probability(epsilons, self.overlaps.inside)
        return bernoulli_draws(gamma, rng=rng)

    def draw_ignoring(
        self,
        holders: Ints,
        epsilons: Floats,
        *,
        num_categories: int,
        rng: np.random.Generator,
    ) -> tuple[Ints, Ints]:
        """Draws how many users send a uniform message, or one of their own set.

        Args:
            holders: How many people of each level hold each value, shape (levels, k).
            epsilons: Local budgets in nats, shape (levels,).
            num_categories: k.
            rng: A simulation's.

        Returns:
            Users of each level who ignore their value, shape (levels,), and the others
            by value, shape (levels, k).

        Raises:
            InvalidInputError: If shapes differ, or a count or a budget is out of range.
        """
        people, epsilons = check_population(
            holders, epsilons, num_values=num_categories, rng=rng
        )
        gamma = drawn_blanket_probability(epsilons, self.overlaps.inside)
        ignoring = rng.binomial(people, gamma[:, None])
        return ignoring.sum(axis=1), people - ignoring

    def densities(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns the exact probabilities that a message speaks for a value.

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).

        Returns:
            The probability that a message lies in the set of the value held, and in
            that of one given other value, both of shape (levels,).
        """
        sets = self.overlaps
        gamma = drawn_blanket_probability(epsilons, sets.inside)
        # With probability gamma any message, and otherwise one of the set of the value
        # held.
        keep = gamma * sets.inside + (1.0 - gamma)
        flip = gamma * sets.inside + (1.0 - gamma) * (sets.both / sets.inside)
        return keep, flip

    @property
    def message_family(self) -> tuple[object, ...]:
        """See `message_family` of the accountant.

        All below depends on the overlaps alone, unless a class brings its own.
        """
        kind = type(self)
        own = kind.drawn, kind.changes, kind.delta_local, kind.local_delta
        return self.overlaps, *own, kind.covers, kind.attacks

    @property
    def changes(self) -> int:
        """1: a report is one message."""
        return 1

    @property
    def delta_local(self) -> float:
        """0: pure local privacy."""
        return 0.0

    @property
    def assumptions(self) -> tuple[str, ...]:
        """None beyond those of every collection."""
        return ()

    def local_delta(self, level: float, epsilon: float) -> float:
        """Returns the divergence of one message alone, measured from the densities."""
        sets = self.overlaps
        if epsilon >= level:
            return 0.0
        # high - e^epsilon low, on the messages of one value only.
        high = 1.0 / (sets.inside + (1.0 - sets.inside) * math.exp(-level))
        excess = high * -math.expm1(epsilon - level)
        return (sets.inside - sets.both) * excess * (1.0 + 1e-12)

    def covers(
        self, target_users: Sequence[float], population: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """Returns one cover per target user: by symmetry all pairs of values are as bad."""
        del delta
        sets = self.overlaps
        only = sets.inside - sets.both
        neither = 1.0 - 2.0 * only - sets.both
        gamma = lowest_density(population.epsilons, sets.inside)
        covers: list[tuple[Cover, ...]] = []
        for target_user in target_users:
            low, gap = (
                float(d[0]) for d in promised(np.array([target_user]), sets.inside)
            )
            masses = [only, only, max(neither, 0.0)]
            differences, bases = [gap, -gap, 0.0], [low, low + gap, low]
            # The bound of three kinds of messages can be summed exactly (`mirrored`).
            if sets.both > 0.0:
                masses.append(sets.both)
                differences.append(0.0)
                bases.append(low + gap)
            bits = None
            if _tells_only_sides(sets):
                # Each side has half of omega: probabilities are densities over 2.
                bits = TwoMessages(np.stack([gamma, gamma]) / 2.0, gap / 2.0, low / 2.0)
            mass, change, base = np.array([masses, differences, bases])
            covers.append((Cover(gamma, mass, change, base, bits=bits),))
        return covers

    def attacks(
        self, target_users: Sequence[float], population: Population
    ) -> list[tuple[Attack, ...]]:
        """Returns attacks on each target user, with the other users' weakest cover."""
        sets = self.overlaps
        shares = sets.inside, sets.both, sets.third
        low, gaps = self.drawn(population.epsilons)
        population_attacks = SetAttacks(shares, low, gaps, population.counts)
        attacks_by_target_user: list[tuple[Attack, ...]] = []
        for target_user in target_users:
            (minimum,), (gap,) = self.drawn(np.array([target_user]))
            attacks = population_attacks.on(float(minimum), float(gap))
            if _tells_only_sides(sets):
                sides = TwoMessages(
                    np.stack([low, low]) / 2.0, gap / 2.0, minimum / 2.0
                )
                attacks = (sides, *attacks)
            attacks_by_target_user.append(attacks)
        return attacks_by_target_user


def _tells_only_sides(sets: Overlaps) -> bool:
    """Returns whether messages only reveal which of two values they speak for."""
    return sets.third is None and sets.both == 0.0 and sets.inside == 0.5
