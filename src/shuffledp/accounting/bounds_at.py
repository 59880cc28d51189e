"""Upper and lower bounds for target users of a population, at a delta or epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shuffledp.accounting.certified_delta import certified_delta
from shuffledp.accounting.epsilon_solver import (
    largest_attacked_epsilon,
    round_down,
    round_up,
    smallest_certified_epsilon,
)
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.lower_profiles import attacked_pairs, lower_profiles
from shuffledp.accounting.profile_bounds import ProfileBounds
from shuffledp.accounting.rounds.composed_profile import (
    composed_ceiling,
    composed_profile,
    part_losses,
)
from shuffledp.accounting.rounds.kept_profiles import kept_profile
from shuffledp.accounting.rounds.part_losses import PartLosses
from shuffledp.accounting.rounds.total_budget import divergence_of_budget, total_budget
from shuffledp.accounting.statement import RestsOn
from shuffledp.accounting.upper_profile import Profile, UpperProfile
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.cover import LocalRandomizer
from shuffledp.population import Population

# Near the smallest normal number, 2e-308: digits are lost below.
_SMALLEST = 1e-290
# Part of a budget where a search for an attack begins.
_USUAL_SHARE = 0.1
# Budgets up to this are their own bound: the messages are noise only.
_SILENT = 1e-250


@dataclass(frozen=True, eq=False)
class TargetUsers:
    """Users of some levels of one population, whose privacy is bounded.

    A target user is one whose value the two compared worlds differ in; all other users
    of the population hide them.

    Attributes:
        randomizer: Randomizer that the devices run.
        population: Users among whom the targets hide, themselves included.
        positions: Positions of the targets' levels in the population, distinct.
        absent: Number of other users who may be absent or collude.
        times: Number of collections, rounds times coordinates, with the same users.
    """

    randomizer: LocalRandomizer
    population: Population
    positions: Sequence[int]
    absent: int = 0
    times: int = 1

    @property
    def shuffles(self) -> int:
        """Largest number of shuffles that one changed value affects."""
        return self.times * self.randomizer.changes

    def bounds(
        self, delta: float | None, epsilon: float | None, *, certify: bool = True
    ) -> list[ProfileBounds]:
        """Returns the bounds for each target user; pure noise needs no computation.

        Unless they are to `certify` the shuffle, upper bounds are those of pure budgets.
        """
        pure = self.randomizer.delta_local == 0.0
        bounds: dict[int, ProfileBounds] = {}
        for position in self.positions:
            if not pure:
                continue
            level = float(self.population.epsilons[position])
            budget = total_budget(self.times, level)
            # The total variation is at most half the budget: one this small is certified
            # at epsilon = 0.
            if budget <= _SILENT and delta is not None and budget <= delta:
                bounds[position] = ProfileBounds((0.0, delta), (0.0, delta))
            elif epsilon is not None and budget <= epsilon:
                # From the local budget on, delta is 0 even without others.
                bounds[position] = ProfileBounds((epsilon, 0.0), (epsilon, 0.0))
            elif epsilon is not None and budget <= _SILENT:
                # Delta is at most the total variation, which is less than the budget.
                bounds[position] = ProfileBounds((epsilon, 0.0), (epsilon, budget))
        remaining = [position for position in self.positions if position not in bounds]
        if remaining:
            others = replace(self, positions=remaining)
            if pure and not certify:
                computed = others._attacked(delta, epsilon or 0.0)
            elif delta is not None:
                computed = others.epsilons_at(delta)
            else:
                computed = others.deltas_at(epsilon or 0.0)
            bounds |= dict(zip(remaining, computed, strict=True))
        return [bounds[position] for position in self.positions]

    def epsilons_at(self, delta: float) -> list[ProfileBounds]:
        """Returns bounds on epsilon at `delta` for each target user."""
        uppers = self._uppers(delta)
        return [
            self._epsilon(position, upper, lower, delta)
            for position, upper, lower in zip(
                self.positions, uppers, self._lowers(), strict=True
            )
        ]

    def closed_form_epsilons_at(self, delta: float) -> list[float]:
        """Returns a certified epsilon for each target user, not the smallest one."""
        uppers = self._uppers(delta, quick=True)
        return [
            self._certified_epsilon(
                upper, composed_profile(upper, self.times, delta), delta
            )[1]
            for upper in uppers
        ]

    def deltas_at(self, epsilon: float) -> list[ProfileBounds]:
        """Returns bounds on delta at `epsilon` for each target user."""
        bounds = []
        for position, lower in zip(self.positions, self._lowers(), strict=True):
            attacked = lower(epsilon)
            # Apart from the others: each has its own delta down to which tails matter.
            target = replace(self, positions=[position])
            certified, upper = certified_delta(
                target._upper,
                epsilon,
                attacked,
                times=self.times,
                shuffles=self.shuffles,
            )
            below = round_down(attacked)
            bounds.append(
                ProfileBounds(
                    (epsilon, below), (epsilon, certified), *self._about(upper, epsilon)
                )
            )
        return bounds

    def profiles(self, delta: float) -> list[tuple[Profile, Profile]]:
        """Returns certified and attacked profiles, valid down to delta."""
        uppers = [
            composed_profile(upper, self.times, delta, is_anywhere=True)
            for upper in self._uppers(delta)
        ]
        return list(zip(uppers, self._lowers(), strict=True))

    def losses(self, delta: float) -> list[PartLosses]:
        """Returns the losses of each target user, to compose with those of others.

        Args:
            delta: About the size of the divergence that is asked for.
        """
        losses: dict[int, PartLosses] = {}
        for position in self.positions:
            epsilon_local = float(self.population.epsilons[position])
            budget = total_budget(self.times, epsilon_local)
            pure = self.randomizer.delta_local == 0.0
            if pure and budget <= min(_SILENT, 1e-3 * delta):
                # Noise only: the total variation is less than the budget, and charged.
                losses[position] = PartLosses((), budget, cut=budget)
        remaining = [position for position in self.positions if position not in losses]
        if remaining:
            uppers = replace(self, positions=remaining)._uppers(delta, is_composed=True)
            computed = [part_losses(upper, self.times, delta) for upper in uppers]
            losses |= dict(zip(remaining, computed, strict=True))
        return [losses[position] for position in self.positions]

    def attacked_pairs(self) -> list[tuple[AttackedPair, ...]]:
        """Returns the attacked pairs of each target user, to compose with others."""
        return attacked_pairs(
            self.randomizer,
            self.population,
            self.positions,
            absent=self.absent,
            times=self.times,
        )

    def _attacked(self, delta: float | None, epsilon: float) -> list[ProfileBounds]:
        """Returns attacks on each target user, below what local budgets certify."""
        bounds = []
        for position, lower in zip(self.positions, self._lowers(), strict=True):
            budget = total_budget(self.times, float(self.population.epsilons[position]))
            if delta is None:
                attacked = epsilon, round_down(lower(epsilon))
                upper = epsilon, round_up(divergence_of_budget(budget, epsilon))
            else:
                start = _USUAL_SHARE * budget
                below = largest_attacked_epsilon(
                    lower, delta, ceiling=budget, guess=start
                )
                attacked, upper = (below, delta), (budget, delta)
            bounds.append(ProfileBounds(attacked, upper))
        return bounds

    def _upper(self, delta: float) -> UpperProfile:
        """Returns the profile of the only target."""
        (upper,) = self._uppers(delta)
        return upper

    def _uppers(
        self, delta: float, *, quick: bool = False, is_composed: bool = False
    ) -> list[UpperProfile]:
        return upper_profiles(
            self.randomizer,
            self.population,
            self.positions,
            # Of one shuffle: it only says down to which delta tails matter.
            delta=max(delta / self.shuffles, _SMALLEST),
            absent=self.absent,
            quick=quick,
            is_composed=is_composed or self.times > 1,
        )

    def _lowers(self) -> list[Profile]:
        return lower_profiles(
            self.randomizer,
            self.population,
            self.positions,
            absent=self.absent,
            rounds=self.times,
        )

    def _epsilon(
        self, position: int, upper: UpperProfile, lower: Profile, delta: float
    ) -> ProfileBounds:
        profile = kept_profile(
            upper, self.population, position, self.absent, self.times, delta
        )
        ceiling, certified = self._certified_epsilon(upper, profile, delta)
        # With two messages, attacks are nearly as strong as bounds.
        is_close = self.shuffles == 1 and upper.rests_on(certified) == "two messages"
        below = largest_attacked_epsilon(
            lower,
            delta,
            ceiling=ceiling,
            guess=certified * (0.9999 if is_close else 0.9),
        )
        rests_on, slack = self._about(upper, certified)
        if self.shuffles > 1 and certified >= ceiling:
            # The search ended at the ceiling: composition proves nothing better.
            rests_on = "device"
        return ProfileBounds((below, delta), (certified, delta), rests_on, slack)

    def _certified_epsilon(
        self, upper: UpperProfile, profile: Profile, delta: float
    ) -> tuple[float, float]:
        """Returns a ceiling that needs no search, and the certified epsilon at delta."""
        if self.shuffles == 1:
            ceiling = upper.ceiling(delta)
        elif self.randomizer.delta_local == 0.0:
            ceiling = total_budget(self.times, upper.level)
        else:
            # Budgets with a delta_local > 0 never add up to an epsilon with delta = 0.
            ceiling = composed_ceiling(
                profile,
                upper.level,
                delta,
                budget=total_budget(self.shuffles, upper.level),
            )
        guess = upper.about(delta, self.shuffles)
        return ceiling, smallest_certified_epsilon(
            profile,
            delta,
            ceiling=ceiling,
            guess=guess,
            # Of one shuffle: composed bounds are not estimated.
            fall=upper.fall(guess) if self.shuffles == 1 else None,
        )

    def _about(self, upper: UpperProfile, epsilon: float) -> tuple[RestsOn, float]:
        """Returns the theorem behind a bound, and the share of it that is margin."""
        if self.shuffles == 1:
            return upper.rests_on(epsilon), upper.slack(epsilon)
        # Of a single collection, at an epsilon where most of its privacy loss lies.
        return upper.rests_on(min(epsilon, upper.spread)), 0.0
