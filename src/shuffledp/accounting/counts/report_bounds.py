"""Upper and lower bounds for truncated reports drawn with floating-point Bernoulli draws.

`IdealProfile` bounds the effect of replaced items among exactly drawn messages.

*The limit.* A draw above cap = report_size - s is cut. Let t bound the probability that any
of the H honest people is cut: t <= H P(Poisson(m) > cap). In either world, collections with
and without the limit can be drawn together so that they differ with probability at most t.
So for every event, if P(event) <= e^eps Q(event) + delta without the limit, then with it

    P'(event) <= P(event) + t <= e^eps (Q'(event) + t) + delta + t:

(1 + e^eps) t is added to delta, and subtracted from the attack's lower bound.

*The draws.* Devices' Bernoulli draws are off by rounding: an epsilon moves by 2 tau,
and a delta by a factor of e^tau, as argued in `draw_rounding`.

The reports of users who send blanket messages only do not depend on their items: for
them, nothing is added.
"""

import math
from dataclasses import dataclass
from typing import Protocol

from shuffledp.accounting.accounting_query import AccountingQuery
from shuffledp.accounting.epsilon_solver import (
    largest_attacked_epsilon,
    round_down,
    round_up,
    smallest_certified_epsilon,
)
from shuffledp.accounting.rounds.part_losses import Kinds, PartLosses
from shuffledp.errors import CertificationError, InvalidInputError

# Its exponential stays finite after a few factors: doubles end at e^709.
LARGEST_EPSILON = 600.0

# Its exponential is a finite number.
_LARGEST_EXPONENT = 700.0
# Of an exponential and a few products: four units in the last place.
_ROUNDING = 1e-15
# Where truncation costs no more than this part of a bound, smaller epsilons gain nothing.
_NOTHING_PAID = 1e-9


class IdealProfile(Protocol):
    """Bounds of the profile of messages that are drawn exactly, and all sent."""

    @property
    def is_constant(self) -> bool:
        """Whether reports do not depend on their users' values."""
        ...

    def upper(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        ...

    def lower(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        ...


@dataclass(frozen=True)
class ReportBounds:
    """Upper and lower bounds of one privacy profile, for truncated reports.

    Attributes:
        ideal: The profile of numbers of messages that are drawn exactly.
        cut: Bound of the probability that any draw does not fit into its report.
        drift: tau, by which e^{+-tau} real draws change the probability of a report.
    """

    ideal: IdealProfile
    cut: float
    drift: float

    def upper(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        if self.ideal.is_constant:
            return 0.0
        # Beyond, what is cut costs more than a twentieth.
        largest_epsilon = (
            -math.log(self.cut) - 3.0 if self.cut > 0.0 else LARGEST_EPSILON
        )
        smallest_bound, bound_epsilon = (
            1.0,
            max(min(epsilon, largest_epsilon, LARGEST_EPSILON), 0.0),
        )
        # The cost of truncation grows with epsilon while the divergence falls: a bound
        # at a smaller epsilon holds, too, and may be the better one.
        while (
            bound := self.uncut(bound_epsilon) + self._paid(bound_epsilon)
        ) < smallest_bound:
            if self._paid(bound_epsilon) <= _NOTHING_PAID * bound:
                return bound
            smallest_bound, bound_epsilon = bound, 0.8 * bound_epsilon
        return smallest_bound

    def lower(self, epsilon: float) -> float:
        """Returns a proven lower bound of the divergence at `epsilon` >= 0."""
        if self.ideal.is_constant or epsilon > LARGEST_EPSILON:
            return 0.0
        # A lower bound at eps + 2 tau holds at eps, up to a factor of e^-tau.
        later = math.nextafter(epsilon + 2.0 * self.drift, math.inf)
        if later > _LARGEST_EXPONENT:
            return 0.0
        attacked = self.ideal.lower(later) - (1.0 + math.exp(later)) * self.cut
        return math.exp(-self.drift) * (1.0 - _ROUNDING) * max(attacked, 0.0)

    def part_losses(self, kinds: Kinds) -> PartLosses:
        """Returns the losses of these messages, to compose with others.

        Args:
            kinds: Of the ideal profile; none if it is constant.
        """
        if not kinds:
            return PartLosses(())
        return PartLosses((kinds,), cut=self.cut, drift=self.drift)

    def uncut(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence if all draws fit."""
        if self.ideal.is_constant:
            return 0.0
        if self.drift > LARGEST_EPSILON:
            # The errors of this many draws could tell everything by themselves.
            return 1.0
        before = math.nextafter(epsilon - 2.0 * self.drift, -math.inf)
        # Below 0, at -x: P(S) - e^-x Q(S) <= P(S) - Q(S) + x (`draw_rounding`).
        bound = self.ideal.upper(max(before, 0.0)) + max(-before, 0.0)
        return math.exp(self.drift) * (1.0 + _ROUNDING) * bound

    def certified_epsilon(self, delta: float, *, guess: float) -> float:
        """Returns an epsilon at which `delta` is certified, nearly as small as any.

        Raises:
            InvalidInputError: If truncation costs more than delta.
            CertificationError: If no finite epsilon holds.
        """
        if self.ideal.is_constant:
            return 0.0
        epsilon = 0.0
        while True:
            remaining = delta * (1.0 - _ROUNDING) - self._paid(epsilon)
            if remaining <= 0.0:
                raise InvalidInputError(
                    "Expected larger reports: blanket messages that do not fit cost more "
                    f"than delta {delta:g}."
                )
            if self.uncut(epsilon) <= remaining:
                return epsilon
            # Larger than before: less is left of delta.
            epsilon = guess = self.uncut_epsilon(remaining, guess=guess)

    def uncut_epsilon(self, delta: float, *, guess: float) -> float:
        """Returns the smallest certified epsilon if all draws fit."""
        if self.uncut(LARGEST_EPSILON) > delta:
            raise CertificationError(
                f"No finite epsilon holds at delta {delta:g}: there are too few blanket "
                "messages for these probabilities to send."
            )
        return smallest_certified_epsilon(
            self.uncut, delta, ceiling=LARGEST_EPSILON, guess=max(guess, 1e-6)
        )

    def attacked_epsilon(self, delta: float, *, guess: float) -> float:
        """Returns the largest epsilon at which an attack shows more than `delta`."""
        return largest_attacked_epsilon(
            self.lower, delta, ceiling=LARGEST_EPSILON, guess=guess
        )

    def answer(
        self, query: AccountingQuery, *, guess: float
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Returns certified and attacked epsilon, and certified and attacked delta.

        Args:
            query: At a delta or at an epsilon.
            guess: About the epsilon to expect.

        Raises:
            CertificationError: If the bounds contradict each other.
        """
        if query.delta is not None:
            upper = self.certified_epsilon(query.delta, guess=guess)
            lower = self.attacked_epsilon(query.delta, guess=0.99 * upper)
            ends = (upper, lower), (query.delta, query.delta)
        else:
            epsilon = query.epsilon or 0.0
            upper = min(round_up(self.upper(epsilon)), 1.0)
            lower = round_down(self.lower(epsilon))
            ends = (epsilon, epsilon), (upper, lower)
        if not lower <= upper:
            raise CertificationError(
                f"The bounds contradict each other ({lower!r} > {upper!r}): the numbers "
                "are too extreme for double precision."
            )
        return ends

    def _paid(self, epsilon: float) -> float:
        """Returns the delta that truncated reports cost."""
        if self.drift > LARGEST_EPSILON:
            # The exponential below overflows: nothing is promised, as in `uncut`.
            return math.inf if self.cut > 0.0 else 0.0
        weight = math.exp(self.drift) * (1.0 + math.exp(epsilon))
        return weight * self.cut * (1.0 + _ROUNDING)
