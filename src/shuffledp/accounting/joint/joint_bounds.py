"""Certified profile of a person who takes part in several protocols.

Messages of different protocols are drawn and shuffled independently. Each protocol's are
dominated by a product of pairs (`PartLosses`); so are all together, by the product of all
pairs, and the composition of their losses bounds the divergence. Any pair that dominates
may be chosen: the least of a few choices is a bound, too. Budgets of devices add up.

*Draws.* In protocol i, messages as devices draw them differ from those that the pairs
stand for with probability at most cut_i, in either world, and have the right probability
up to a factor of e^{+-drift_i}. By independence, all together differ with at most the
sum of the cuts, and factors multiply: `ReportBounds` pays for both sums.

*From below.* Any choice of data of each protocol is one of all together. What an adversary
sees of each is a pair, and the score of all pairs is a function of the whole view.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from shuffledp.accounting.counts.report_bounds import LARGEST_EPSILON, ReportBounds
from shuffledp.accounting.epsilon_solver import (
    largest_attacked_epsilon,
    round_down,
    round_up,
    smallest_certified_epsilon,
)
from shuffledp.accounting.lower.attacked_pair import AttackedPair
from shuffledp.accounting.lower.composed_attack import (
    ComposedAttack,
    after_errors,
    composed_attack,
)
from shuffledp.accounting.rounds.composed_profile import composed_ceiling
from shuffledp.accounting.rounds.composition import composed
from shuffledp.accounting.rounds.loss_distribution import MOST_SHUFFLES
from shuffledp.accounting.rounds.part_losses import Kinds, PartLosses, choices_of
from shuffledp.accounting.rounds.total_budget import (
    divergence_of_budget,
    epsilon_of_budget,
)
from shuffledp.accounting.sums.rounding import rounded_up
from shuffledp.errors import CertificationError


@dataclass(frozen=True, eq=False)
class ComposedParts:
    """The profile of all parts for messages that are drawn exactly.

    Attributes:
        choices: Kinds of shuffles that dominate all parts, each choice by itself; none if
            no message depends on the person.
        budget: Pure local budget of all messages together; infinite if there is none.
        attacked: Independent pairs that an adversary sees.
    """

    choices: tuple[Kinds, ...]
    budget: float
    attacked: tuple[AttackedPair, ...] = ()

    @property
    def is_constant(self) -> bool:
        """Whether no message depends on the person."""
        return not self.choices

    def upper(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        device_bound = divergence_of_budget(self.budget, epsilon)
        # Beyond the budget no composition is needed: devices alone keep the bound.
        if device_bound == 0.0 or self.is_constant:
            return 0.0
        values = [] if math.isinf(self.budget) else [device_bound]
        for kinds in self.choices:
            # Every choice dominates by itself: one that cannot be composed takes
            # nothing from others.
            with suppress(CertificationError):
                values.append(composed(kinds).delta(epsilon))
        if not values:
            raise CertificationError(f"No proven bound at epsilon {epsilon:g}.")
        return min(values)

    def lower(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        if not self.attacked:
            return 0.0
        # Errors of all pairs add up: each pair may lack its mass in the same data set.
        return after_errors(
            self._attack.lower,
            epsilon,
            missing=math.fsum(pair.missing for pair in self.attacked),
            drift=math.fsum(pair.drift for pair in self.attacked),
        )

    @cached_property
    def _attack(self) -> ComposedAttack:
        return composed_attack(self.attacked)


@dataclass(frozen=True, eq=False)
class JointBounds:
    """Certified epsilons and deltas of all messages of a person in several protocols.

    Attributes:
        parts: Losses of each protocol.
        attacked: Pairs that an adversary sees, of all protocols; none if only certified
            numbers are asked for.
    """

    parts: Sequence[PartLosses]
    attacked: tuple[AttackedPair, ...] = ()

    @cached_property
    def profile(self) -> ComposedParts:
        """The profile for messages that are drawn exactly."""
        choices = choices_of(self.parts, most_shuffles=MOST_SHUFFLES)
        return ComposedParts(tuple(choices), self.budget, self.attacked)

    @cached_property
    def budget(self) -> float:
        """Pure local budget of all messages together, rounded upward."""
        return sum_upward([part.budget for part in self.parts])

    @cached_property
    def with_draws(self) -> ReportBounds:
        """The profile for messages as devices draw them."""
        # A union bound: no protocol's report is cut, and the drifts of all draws
        # multiply.
        cut = sum_upward([part.cut for part in self.parts])
        drift = sum_upward([part.drift for part in self.parts])
        return ReportBounds(self.profile, min(cut, 1.0), drift)

    @property
    def is_exact(self) -> bool:
        """Whether messages are drawn as the pairs stand for."""
        return self.with_draws.cut == self.with_draws.drift == 0.0

    @property
    def ceiling(self) -> float:
        """An epsilon that is known to hold with delta = 0; infinite if there is none."""
        # Budgets hold for messages as devices draw them.
        return self.budget

    def upper(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        if self.is_exact:
            return self.profile.upper(epsilon)
        device_bound = divergence_of_budget(self.budget, epsilon)
        if self.profile.is_constant:
            # Messages that depend on no one still differ where a report is cut.
            return min(self.with_draws.cut, device_bound)
        return min(self.with_draws.upper(epsilon), device_bound)

    def delta(self, epsilon: float) -> float:
        """Returns a certified delta of six digits at `epsilon` >= 0."""
        return min(round_up(self.upper(epsilon)), 1.0)

    def epsilon(self, delta: float) -> float:
        """Returns a certified epsilon of six digits at `delta`.

        Raises:
            CertificationError: If no finite epsilon holds, or none can be proven.
        """
        if self.profile.is_constant and self.with_draws.cut <= delta:
            return 0.0
        guess = self._usual_epsilon(delta)
        if not self.is_exact:
            return self._with_draws_epsilon(delta, guess)
        upper = self.profile.upper
        ceiling = self.ceiling
        if math.isinf(ceiling):
            ceiling = composed_ceiling(upper, max(guess, 1e-6), delta)
        return smallest_certified_epsilon(upper, delta, ceiling=ceiling, guess=guess)

    def attacked_epsilon(self, delta: float, *, certified: float) -> float:
        """Returns the largest epsilon at which an attack on all protocols shows more."""
        if not self.attacked:
            return 0.0
        return largest_attacked_epsilon(
            self.with_draws.lower,
            delta,
            ceiling=min(self.ceiling, LARGEST_EPSILON),
            guess=0.99 * certified,
        )

    def attacked_delta(self, epsilon: float) -> float:
        """Returns a delta of six digits that an attack on all protocols exceeds."""
        return round_down(self.with_draws.lower(epsilon)) if self.attacked else 0.0

    def _with_draws_epsilon(self, delta: float, guess: float) -> float:
        """Returns the smaller epsilon of both bounds: of messages, and of devices."""
        device_epsilon = epsilon_of_budget(self.budget, delta)
        try:
            return min(
                self.with_draws.certified_epsilon(delta, guess=guess), device_epsilon
            )
        except CertificationError:
            if math.isinf(device_epsilon):
                raise
            return device_epsilon

    def _usual_epsilon(self, delta: float) -> float:
        """Returns a guess of epsilon, as if the loss were normal."""
        # Any choice will do: a guess only shortens the search.
        first = self.profile.choices[0]
        variance = math.fsum(
            times * float(losses.masses @ losses.losses**2) for losses, times in first
        )
        spread = math.sqrt(variance)
        return spread * math.sqrt(2.0 * math.log(max(spread / delta, 2.0)))


def sum_upward(numbers: Sequence[float]) -> float:
    """Returns a sum of numbers >= 0, rounded upward.

    >>> sum_upward([0.5]), sum_upward([0.1, 0.2]) >= 0.3
    (0.5, True)
    >>> sum_upward([1.0, 2.0])
    3.0
    """
    if math.inf in numbers:
        return math.inf
    # Exact until the last step: adding doubles one by one would round each time.
    return rounded_up(sum(map(Fraction, numbers), Fraction(0)))
