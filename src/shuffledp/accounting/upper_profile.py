"""Certified privacy profile of a target user: proven upper bound on delta(epsilon).

It is the minimum of the amplification bounds and of the divergence of the target's message
alone.
"""

import functools
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from shuffledp.accounting.epsilon_solver import rough_epsilon
from shuffledp.accounting.failed_trials import FailedTrials
from shuffledp.accounting.message_alone import local_epsilon
from shuffledp.accounting.monotone_delta import MonotoneDelta
from shuffledp.accounting.rounds.node_choice import EVALUATIONS
from shuffledp.accounting.statement import RestsOn
from shuffledp.accounting.two_messages.two_message_bound import TwoMessageBound
from shuffledp.accounting.upper.blanket import UpperBound
from shuffledp.cover import LocalRandomizer
from shuffledp.errors import CertificationError

Profile = Callable[[float], float]

# A bound above this multiple of a normal loss's divergence may be mostly margin.
_FAR_MORE = 1e3
_NOTHING = 1e-300
# Of fewer bands of two messages a search is about as quick as another bound.
_MANY_BANDS = 64
# A theorem whose estimate is so many times another's bound is not evaluated.
_SKIPPED_RATIO = 1.2
# A search whose bound is so many times another's has found too little.
_FAR_ABOVE = 1.5
# Part of epsilon over which the fall of an estimate is measured.
_FALL_STEP = 2e-3
# Share of a bound that may be margin before smaller epsilons are tried.
_CAUTION = 0.01


@dataclass(frozen=True, eq=False)
class UpperProfile:
    """Proven upper bound for one target user at every epsilon.

    Attributes:
        bounds: Amplification bound of each theorem that applies, the best one first.
        randomizer: Its densities bound the divergence of a message alone.
        level: The target's local budget.
        spread: Approximate standard deviation of the privacy loss after the shuffle.
        directions: The profiles of the pair and of its reverse, if
            each shows in half of the shuffles; otherwise none.
        evaluations: At how many epsilons a composition may evaluate it.
    """

    bounds: dict[RestsOn, UpperBound]
    randomizer: LocalRandomizer
    level: float
    spread: float
    directions: tuple["UpperProfile", ...] = ()
    evaluations: int = EVALUATIONS

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        return self._least(epsilon)[1]

    def falling_delta(self, epsilon: float) -> float:
        """Returns the least bound at `epsilon` and at smaller ones, to about 1%."""
        name, bound = self._least(epsilon)
        if epsilon == 0.0 or name == "device" or self.slack(epsilon) <= _CAUTION:
            return bound
        # More than a hundredth of it is numerical caution, which may rise with epsilon.
        return self._ladder.least(epsilon, bound)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound at `epsilon`, quickly, to begin searches with.

        Raises:
            CertificationError: If no theorem has an estimate.
        """
        alone = self.randomizer.local_delta(self.level, epsilon)
        if alone == 0.0:
            return 0.0
        sizes = []
        for bound in self.bounds.values():
            with suppress(CertificationError):
                sizes.append(bound.estimate(epsilon))
        known = [size for size in sizes if not math.isnan(size)]
        if not known:
            raise CertificationError(f"Nothing is estimated at epsilon {epsilon:g}.")
        return min(alone, *known)

    def rests_on(self, epsilon: float) -> RestsOn:
        """Returns the theorem that gives the least bound at `epsilon`."""
        return self._least(epsilon)[0]

    def _least(self, epsilon: float) -> tuple[RestsOn, float]:
        alone = self.randomizer.local_delta(self.level, epsilon)
        if alone == 0.0:
            return "device", alone
        best = min(("device", alone), self._others(epsilon), key=lambda pair: pair[1])
        # Far more than a normal loss would show: a smaller epsilon may show less.
        away = epsilon / self.spread if self.spread > 0.0 else math.inf
        # A product: a power beyond numbers is an error.
        usual = _FAR_MORE * self.spread * math.exp(-away * away / 2.0)
        if epsilon == 0.0 or best[1] <= max(usual, _NOTHING):
            return best
        minimum = self._ladder.least(epsilon, best[1])
        # The ladder does not know its theorem: the best one stands for it.
        return best if minimum == best[1] else (next(iter(self.bounds)), minimum)

    @functools.cached_property
    def _ladder(self) -> MonotoneDelta:
        def known(epsilon: float) -> float:
            _, best = self._others(epsilon)
            alone = self.randomizer.local_delta(self.level, epsilon)
            return best if best < alone else math.inf

        # In compositions, searches for worst data start from those before: each counts.
        all_searched = any(
            isinstance(bound, TwoMessageBound) and bound.is_composed
            for bound in self.bounds.values()
        )

        def estimate(epsilon: float) -> float:
            if all_searched:
                return math.nan
            try:
                return self.estimate(epsilon)
            except CertificationError:
                return math.nan

        return MonotoneDelta(known, estimate)

    @functools.cached_property
    def _others(self) -> Callable[[float], tuple[RestsOn, float]]:
        """Amplification bound and its theorem; cached, as both are asked for in turn."""
        return functools.cache(self._evaluated)

    def _evaluated(self, epsilon: float) -> tuple[RestsOn, float]:
        """Returns the least bound and its name; infinite where there is none."""
        best: tuple[RestsOn, float] = ("device", math.inf)
        searched = 0.0
        for name, bound in self._by_promise(epsilon):
            # Too few messages, or too steep: another bound, or the local one, remains.
            with suppress(CertificationError):
                if best[1] < 1.0 and self._is_beaten(bound, epsilon, best[1]):
                    continue
                delta = bound.delta(epsilon)
                best = min(best, (name, delta), key=lambda pair: pair[1])
                if isinstance(bound, TwoMessageBound):
                    searched = delta
                    # No other proof can bring more than the search was to find.
                    if bound.settles(epsilon):
                        break
        if searched > 0.0:
            self._searches.add(epsilon, failed=searched > _FAR_ABOVE * best[1])
        return best

    def _is_beaten(self, bound: UpperBound, epsilon: float, delta: float) -> bool:
        """Returns whether a bound is not worth evaluating, beside another one's delta."""
        if not isinstance(bound, TwoMessageBound):
            # Estimates are right to a twentieth.
            return bound.estimate(epsilon) > _SKIPPED_RATIO * delta
        # That of two messages is a divergence at some data.
        return self._is_hopeless(bound, epsilon) or bound.estimate(epsilon) > delta

    def _is_hopeless(self, bound: TwoMessageBound, epsilon: float) -> bool:
        """Returns whether a slow search will not find that all data are as good."""
        is_slow = bound.is_slow and bound.is_composed
        return is_slow and self._searches.surround(epsilon)

    @functools.cached_property
    def _searches(self) -> FailedTrials:
        return FailedTrials()

    def _by_promise(self, epsilon: float) -> list[tuple[RestsOn, UpperBound]]:
        """Returns the bounds, a slow one after another that seems to be smaller."""
        first, *others = bounds = list(self.bounds.items())
        two_messages = first[1]
        if not isinstance(two_messages, TwoMessageBound):
            return bounds
        if self._is_hopeless(two_messages, epsilon):
            return [*others, first]
        if two_messages.num_bands > _MANY_BANDS and others:
            with suppress(CertificationError):
                estimate = two_messages.estimate(epsilon)
                if others[0][1].estimate(epsilon) < estimate:
                    return [*others, first]
        return bounds

    def slack(self, epsilon: float) -> float:
        """Returns the share of the bound at `epsilon` that is numerical margin.

        1 if the local bound decides because no other is known.
        """
        name = self.rests_on(epsilon)
        bound = self.bounds.get(name, self.bounds["blanket"])
        try:
            return float(bound.slack(epsilon))
        except CertificationError:
            return 1.0

    def about(self, delta: float, times: int) -> float:
        """Returns a guess of epsilon, as if the loss were normal or by an estimate."""
        spread = self.spread * math.sqrt(times)
        # Apart, as the quotient of both may overflow.
        depth = max(math.log(max(spread, _NOTHING)) - math.log(delta), math.log(2.0))
        guess = spread * math.sqrt(2.0 * depth)
        if times == 1:
            with suppress(CertificationError):
                pure = self.randomizer.delta_local == 0.0
                top = self.level if pure else max(self.level, guess)
                return rough_epsilon(self.estimate, delta, ceiling=top, guess=guess)
        return guess

    def fall(self, epsilon: float) -> float | None:
        """Returns by about how much log delta falls with log epsilon, None if unknown."""
        farther = (1.0 + _FALL_STEP) * epsilon
        if self.randomizer.delta_local == 0.0 and farther >= self.level:
            # Nothing is left there, and of the largest budgets numbers overflow.
            return None
        with suppress(CertificationError):
            before, after = self.estimate(epsilon), self.estimate(farther)
            if before > after > 0.0:
                return math.log(before / after) / math.log1p(_FALL_STEP)
        return None

    def ceiling(self, delta: float) -> float:
        """Returns an epsilon at which the message alone keeps `delta`."""
        if self.randomizer.delta_local == 0.0:
            return self.level
        return local_epsilon(self.randomizer, self.level, delta)
