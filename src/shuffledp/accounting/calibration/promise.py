"""Central targets that calibration must meet, and their certified check."""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_delta, check_rounds, check_whole
from shuffledp.accounting.calibration.calibrated_population import (
    Calibration,
    rounded_population,
)
from shuffledp.accounting.calibration.checked_targets import one_target_each
from shuffledp.accounting.calibration.estimated_profile import composed_estimate
from shuffledp.accounting.exposure import SingleMessages, single_messages
from shuffledp.accounting.rounds.composed_profile import losses_of
from shuffledp.accounting.rounds.kept_profiles import kept_profile
from shuffledp.accounting.rounds.loss_distribution import LossDistribution
from shuffledp.accounting.rounds.node_choice import EVALUATIONS, Aim
from shuffledp.accounting.rounds.total_budget import total_budget
from shuffledp.accounting.upper_profile import UpperProfile
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.errors import CertificationError, PopulationError
from shuffledp.population import Population

_SMALLEST_DELTA = 1e-290
# Budgets that miss a target by no more than this factor are divided by it and a little
# more, and certified again, this often in all.
_JUST_MISSED, _A_LITTLE_MORE, _MOST_SHRINKS = 1.02, 1.0001, 3
# Some population, to see whether a protocol can be certified at all.
_ANYBODY = Population.from_counts({1.0: 2**20})


@dataclass(frozen=True)
class Promise:
    """Protocol, delta and attack model for which targets must hold.

    >>> import shuffledp as sdp
    >>> promise = sdp.Promise(sdp.Frequency(17), delta=1e-6, absent=100)
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> promise.kept(people, [0.1, 0.5])
    True

    Attributes:
        protocol: The protocol of the devices and the shuffler.
        delta: In (0, 1).
        absent: How many of the other people may be absent or collude.
        rounds: How often the same people take part.
        coordinates: How many messages each of them sends per round.
    """

    protocol: Any
    delta: float
    absent: int = 0
    rounds: int = 1
    coordinates: int = 1

    def __post_init__(self) -> None:
        check_delta(self.delta)
        # Raises for protocols without single messages, before any search begins.
        self.exposure(_ANYBODY)
        check_whole(self.absent, "absent people", least=0)
        check_rounds(self.rounds, self.coordinates)

    def delta_of(self, people: Population, index: int, epsilon: float) -> float:
        """Returns the certified delta, at `epsilon`, of the people of one level."""
        return self.profile(people, index, self.rounds * self.coordinates)(epsilon)

    def spreads_of(
        self, people: Population, indices: Sequence[int] | None = None
    ) -> list[float]:
        """Returns the approximate standard deviation of privacy losses.

        Args:
            people: The population.
            indices: Positions of levels; by default all.
        """
        shuffles = self.num_reports * self.exposure(people).randomizer.changes
        together = range(people.num_levels) if indices is None else indices
        return [
            once.spread * math.sqrt(shuffles)
            for once in self._once(people, together, shuffles)
        ]

    def estimates_of(
        self,
        people: Population,
        targets: Sequence[float],
        indices: Sequence[int] | None = None,
        *,
        in_steps: bool = False,
    ) -> list[float]:
        """Returns about the delta of every level, quickly.

        Args:
            people: The population.
            targets: Central epsilons of some levels.
            indices: Positions of these levels; by default the first ones.
            in_steps: Whether noise is tried with blankets in steps, too, which are
                searched for: nearer to what is certified, and two or three times slower.

        Raises:
            CertificationError: Where nothing is estimated.
        """
        exposure, times = self.exposure(people), self.num_reports
        shuffles = times * exposure.randomizer.changes
        together = list(range(len(targets)) if indices is None else indices)
        parts = [together] if exposure.mode == "agnostic" else [[i] for i in together]
        profiles = [
            once
            for part in parts
            for once in self._once(people, part, shuffles, in_steps=in_steps)
        ]
        pairs = zip(profiles, targets, strict=True)
        if shuffles == 1:
            return [once.estimate(target) for once, target in pairs]
        return [
            composed_estimate(once, times, self.delta)(target) for once, target in pairs
        ]

    def deltas_of(self, people: Population, targets: Sequence[float]) -> list[float]:
        """Returns the certified delta of every level, at its target.

        Args:
            people: The population.
            targets: Central epsilons of its first levels, or of all.
        """
        return list(self.one_by_one(people, targets, range(len(targets))))

    def one_by_one(
        self,
        people: Population,
        targets: Sequence[float],
        order: Sequence[int],
        *,
        most_evaluations: int = EVALUATIONS,
    ) -> Iterator[float]:
        """Yields the certified delta of one level after the other, at its target.

        Args:
            people: The population.
            targets: Central epsilons of its first levels, or of all.
            order: Positions of these levels, in the order in which they are asked for.
            most_evaluations: Of one shuffle's profile, where it is composed; fewer make
                bounds a little larger.
        """
        exposure, times = self.exposure(people), self.num_reports
        shuffles = times * exposure.randomizer.changes
        # Together, what levels have in common is prepared once.
        parts = [order] if exposure.mode == "agnostic" else [[i] for i in order]
        profiles = (
            once for part in parts for once in self._once(people, part, shuffles)
        )
        for index, once in zip(order, profiles, strict=True):
            evaluations = min(once.evaluations, most_evaluations)
            quicker = replace(once, evaluations=evaluations)
            yield self._composed(people, index, quicker, times)(targets[index])

    def profile(
        self, people: Population, index: int, times: int
    ) -> Callable[[float], float]:
        """Returns the certified profile of one level after that many collections."""
        exposure = self.exposure(people)
        times *= exposure.coordinates
        (once,) = self._once(people, [index], times * exposure.randomizer.changes)
        return self._composed(people, index, once, times)

    def _composed(
        self, people: Population, index: int, once: UpperProfile, times: int
    ) -> Callable[[float], float]:
        """Returns the certified profile of a level, whose profile once is `once`."""
        population, position = self.exposure(people).hiding_population(index)
        absent = min(self.absent, population.num_users - 1)
        return kept_profile(once, population, position, absent, times, self.delta)

    @property
    def num_reports(self) -> int:
        """How many reports one person sends in all rounds."""
        return self.rounds * self.coordinates * self.exposure(_ANYBODY).coordinates

    def exposure(self, people: Population) -> SingleMessages:
        """Returns the exposure of these users, with the population of each level."""
        return single_messages(self.protocol, people)

    def losses(
        self, people: Population, index: int, shuffles: int
    ) -> Callable[[int], LossDistribution]:
        """Returns the loss distribution of one shuffle, for composing up to `shuffles`.

        It is a function of the number of evaluations; none is made twice.
        """
        (once,) = self._once(people, [index], shuffles)
        aim = Aim(shuffles, self.delta)
        return functools.cache(
            lambda number: losses_of(
                once, shuffles, self.delta, most_evaluations=number, aim=aim
            )
        )

    def _once(
        self,
        people: Population,
        indices: Sequence[int],
        shuffles: int,
        *,
        in_steps: bool = True,
    ) -> list[UpperProfile]:
        """Returns the profiles of levels that hide in one population."""
        exposure = self.exposure(people)
        populations = [exposure.hiding_population(index) for index in indices]
        population = populations[0][0]
        return upper_profiles(
            exposure.randomizer,
            population,
            [position for _, position in populations],
            delta=max(self.delta / shuffles, _SMALLEST_DELTA),
            absent=min(self.absent, population.num_users - 1),
            is_composed=shuffles > 1,
            in_steps=in_steps,
        )

    def kept(
        self,
        people: Population,
        targets: Sequence[float],
        *,
        most_evaluations: int = EVALUATIONS,
    ) -> bool:
        """Returns whether every level is certified at its target.

        Args:
            people: The population.
            targets: Central epsilon of each level, in their order.
            most_evaluations: See `one_by_one`.
        """
        wanted, order = one_target_each(people, targets), range(people.num_levels)
        if self.is_kept_locally(people, wanted):
            return True
        deltas = self.one_by_one(
            people, wanted, order, most_evaluations=most_evaluations
        )
        return all(delta <= self.delta for delta in deltas)

    def is_kept_locally(self, people: Population, targets: Sequence[float]) -> bool:
        """Returns whether no local budget, of all collections, exceeds its target."""
        exposure, times = self.exposure(people), self.num_reports
        return exposure.randomizer.delta_local == 0.0 and all(
            total_budget(times, budget) <= target
            for budget, target in zip(people.epsilons.tolist(), targets, strict=False)
        )

    def answer(
        self, people: Population, targets: Sequence[float], *, may_shrink: bool = False
    ) -> Calibration:
        """Returns the population with its guarantee, which is checked once more.

        Args:
            people: The population.
            targets: Central epsilon of each level.
            may_shrink: Whether slightly smaller budgets will do where these just miss a
                target. Bounds of two messages and few people differ, by up to a
                hundredth, with the epsilons that were searched before.

        Raises:
            CertificationError: If a target is missed.
        """
        for _ in range(_MOST_SHRINKS if may_shrink else 1):
            # With the same search as in a verification.
            guarantee = account(
                self.protocol,
                people,
                delta=self.delta,
                quantiles=False,
                absent=self.absent,
                rounds=self.rounds,
                coordinates=self.coordinates,
            )
            central = np.array([level.epsilon_central for level in guarantee.levels])
            missed = float((central / np.array(targets)).max())
            # Certified numbers are rounded upward, in the sixth digit.
            if missed <= 1.0 + 1.1e-5:
                return Calibration(people, tuple(targets), guarantee)
            if missed > _JUST_MISSED:
                break
            smaller = people.epsilons / (missed * _A_LITTLE_MORE)
            try:
                people = rounded_population(smaller, people.counts)
            except PopulationError:
                # Two budgets that differ by a digit may be one, rounded down.
                break
        missed_target = targets[int(np.argmax(central / np.array(targets)))]
        raise CertificationError(
            f"No budgets found that keep {missed_target:g} at delta {self.delta:g}."
        )
