"""Both bounds for victims of several levels of one crowd, at a delta or an epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shuffledp.accounting.epsilon_solver import (
    largest_attacked_epsilon,
    round_down,
    round_up,
    smallest_certified_epsilon,
)
from shuffledp.accounting.lower_profiles import lower_profiles
from shuffledp.accounting.rounds.composed_profile import (
    composed_ceiling,
    composed_profile,
    total_budget,
)
from shuffledp.accounting.statement import RestsOn
from shuffledp.accounting.upper_profiles import (
    Profile,
    UpperProfile,
    upper_profiles,
)
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError
from shuffledp.population import Population

# Where no attack tells how small delta is.
_USUAL_DELTA = 1e-12
_SMALLEST = 1e-290
# Where certificate and attack are so far apart, other covers are tried.
_WEAK = 100.0


@dataclass(frozen=True)
class Answer:
    """A point the victim's profile exceeds, and one that it keeps.

    Attributes:
        lower: (epsilon, delta) that an attack violates.
        upper: (epsilon, delta) that is certified.
        rests_on: What the certificate rests on.
        slack: Part of the certified delta that is numerical caution, in one collection.
    """

    lower: tuple[float, float]
    upper: tuple[float, float]
    rests_on: RestsOn = "device"
    slack: float = 0.0


@dataclass(frozen=True, eq=False)
class TargetUsers:
    """Who is asked about: people of some levels of one crowd.

    Attributes:
        randomizer: What the devices run.
        crowd: The people among whom victims hide, themselves included.
        positions: Those of their levels in the crowd, distinct.
        absent: How many of the others may be absent or collude.
        times: In how many collections, rounds or coordinates, the same people take part.
    """

    randomizer: LocalRandomizer
    crowd: Population
    positions: Sequence[int]
    absent: int = 0
    times: int = 1

    @property
    def shuffles(self) -> int:
        """In how many shuffles a changed value of hers shows at most."""
        return self.times * self.randomizer.changes

    def epsilons_at(self, delta: float) -> list[Answer]:
        """Returns the answer at this delta for each victim."""
        uppers = self._uppers(delta)
        return [
            self._epsilon(upper, lower, delta)
            for upper, lower in zip(uppers, self._lowers(), strict=True)
        ]

    def closed_form_epsilons_at(self, delta: float) -> list[float]:
        """Returns an epsilon for each victim that is certified, if not the smallest."""
        uppers = self._uppers(delta, quick=True)
        return [self._certified(upper, delta)[1] for upper in uppers]

    def deltas_at(self, epsilon: float) -> list[Answer]:
        """Returns the answer at this epsilon for each victim."""
        answers = []
        for victim, lower in zip(self.positions, self._lowers(), strict=True):
            attacked = lower(epsilon)
            # The attack tells how small delta is, and so how little may be dropped.
            about = attacked if attacked > 0.0 else _USUAL_DELTA
            one = replace(self, positions=[victim])
            certified, upper = one._delta(epsilon, about)
            if attacked == 0.0 and certified < about:
                # Less than was thought: drop less, and look again.
                certified, upper = min(
                    (certified, upper),
                    one._delta(epsilon, _SMALLEST),
                    key=lambda pair: pair[0],
                )
            # The attack is weak, or covering so much costs more than it brings: cover less,
            # and more again as long as that pays.
            other = 1e-6
            while certified > _WEAK * about:
                found = one._delta(epsilon, other)
                pays = found[0] < 0.5 * certified
                certified, upper = min(
                    (certified, upper), found, key=lambda pair: pair[0]
                )
                if not pays:
                    break
                other = 0.1 * certified
            below = round_down(attacked)
            _check(below, certified)
            answers.append(
                Answer(
                    (epsilon, below), (epsilon, certified), *self._about(upper, epsilon)
                )
            )
        return answers

    def profiles(self, delta: float) -> list[tuple[Profile, Profile]]:
        """Returns certified and attacked profile of each victim, right down to delta."""
        uppers = [
            composed_profile(upper, self.times, delta) for upper in self._uppers(delta)
        ]
        return list(zip(uppers, self._lowers(), strict=True))

    def _delta(self, epsilon: float, about: float) -> tuple[float, UpperProfile]:
        """Returns the only victim's certified delta, if it is about so large."""
        (upper,) = self._uppers(min(max(about, _SMALLEST), 1e-6))
        profile: Profile = upper.falling_delta
        if self.shuffles > 1:
            profile = composed_profile(upper, self.times, about)
        return min(round_up(profile(epsilon)), 1.0), upper

    def _uppers(self, delta: float, *, quick: bool = False) -> list[UpperProfile]:
        return upper_profiles(
            self.randomizer,
            self.crowd,
            self.positions,
            delta=max(delta / self.shuffles, _SMALLEST),
            absent=self.absent,
            quick=quick,
        )

    def _lowers(self) -> list[Profile]:
        return lower_profiles(
            self.randomizer,
            self.crowd,
            self.positions,
            absent=self.absent,
            rounds=self.times,
        )

    def _epsilon(self, upper: UpperProfile, lower: Profile, delta: float) -> Answer:
        ceiling, certified = self._certified(upper, delta)
        below = largest_attacked_epsilon(
            lower, delta, ceiling=ceiling, guess=0.9 * certified
        )
        _check(below, certified)
        rests_on, slack = self._about(upper, certified)
        if self.shuffles > 1 and certified >= ceiling:
            rests_on = "device"
        return Answer((below, delta), (certified, delta), rests_on, slack)

    def _certified(self, upper: UpperProfile, delta: float) -> tuple[float, float]:
        """Returns an epsilon that needs no search, and what is certified at delta."""
        profile = composed_profile(upper, self.times, delta)
        if self.shuffles == 1:
            ceiling = upper.ceiling(delta)
        elif self.randomizer.delta_local == 0.0:
            ceiling = total_budget(self.times, upper.level)
        else:
            ceiling = composed_ceiling(profile, upper.level, delta)
        guess = upper.about(delta, self.shuffles)
        return ceiling, smallest_certified_epsilon(
            profile, delta, ceiling=ceiling, guess=guess
        )

    def _about(self, upper: UpperProfile, epsilon: float) -> tuple[RestsOn, float]:
        """Returns what a bound rests on, and which part of it is caution."""
        if self.shuffles == 1:
            return upper.rests_on(epsilon), upper.slack(epsilon)
        # Of one of the collections, where most of its loss is.
        return upper.rests_on(min(epsilon, upper.spread)), 0.0


def _check(attacked: float, certified: float) -> None:
    """Raises CertificationError where the two bounds contradict each other."""
    if not attacked <= certified:
        raise CertificationError(
            f"The bounds contradict each other ({attacked!r} > {certified!r}): the numbers "
            "are too extreme for double precision."
        )
