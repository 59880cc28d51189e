"""The blanket and the chances to send that estimate shares of items best.

Everybody who asks for the target epsilon_k gets it, certified: lambda_k is the largest
chance that m, blanket messages per person, allow her. Small m cost signal, large m add
noise.
With D = n_1 lambda_1 + ... + n_K lambda_K, an item held by a share f of people, and targets
that have nothing to do with sets, the estimate (C - n m / d) / D has the variance

    ( n f mean lambda (1 - lambda) + f (1 - f) var(lambda) n^2 / (n - 1) + n m / d ) / D^2

(means over people): who sends, who happened to choose which target, and blanket messages.
Its mean over items is largest, whatever the data, where sets are full and all items equally
common, f = s / d; this is what is minimized. All messages count alike: as targets come
apart from messages, those of one target cannot be given more weight than those of another,
and lambda_k is the only weight a target has. If m lets everybody send everything, all
lambda = 1 and targets make no difference.

The minimum is searched for with `estimate`; the result is certified at the end.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.accounting.account import account
from shuffledp.accounting.asked import check_whole
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.items.calibration import (
    check_delta,
    largest_send_chance,
    smallest_blanket,
)
from shuffledp.accounting.items.cut import CUT_SHARE, smallest_report
from shuffledp.accounting.items.estimate import estimated_mean, estimated_send_chance
from shuffledp.accounting.items.exposure import blanket_mean
from shuffledp.accounting.items.parameters import (
    ItemsParameters,
    check_chance,
    check_sizes,
)
from shuffledp.accounting.items.profile import LARGEST_MEAN, SMALLEST_MEAN
from shuffledp.accounting.items.sizing import kept, sized
from shuffledp.accounting.solve import round_down
from shuffledp.errors import CertificationError, InvalidInputError, PopulationError
from shuffledp.population import Population

MAX_TARGETS = 64

_GRID = 17
_LOWEST = 1e-4
# Blankets closer than this, in logarithms, to one that lets a target send all become it.
_SNAP = 2e-3


@dataclass(frozen=True)
class OptimizedItems:
    """Parameters, what they predict, and the guarantee that shows what they keep.

    Attributes:
        parameters: What devices run.
        mean_squared_error: Of the estimated share of an item about the participants', the
            mean over items, for the data that make it largest.
        limited: Would more messages have reduced the error?
        guarantee: Certified, of these parameters.
    """

    parameters: ItemsParameters
    mean_squared_error: float
    limited: bool
    guarantee: Guarantee

    @property
    def bits_per_person(self) -> int:
        """Bits of a report, ceil(log2(d + 1)) for every message."""
        return self.parameters.report_size * self.parameters.num_items.bit_length()

    @property
    def everything_sent(self) -> bool:
        """Does everybody send all her items? Then targets make no difference."""
        return all(rate == 1.0 for rate in self.parameters.rates)


def items_mean_squared_error(
    people: Population,
    send_chances: Sequence[float],
    *,
    num_items: int,
    set_size: int,
    blanket: float,
) -> float:
    """Returns the predicted squared error of a share, the mean over items.

    Args:
        people: How many people ask for each target.
        send_chances: lambda of each target, in [0, 1].
        num_items: d.
        set_size: s.
        blanket: m.

    Raises:
        InvalidInputError: If nobody sends anything.
    """
    chances = np.array([check_chance(chance) for chance in send_chances])
    counts = people.counts.astype(np.float64)
    n, f = float(counts.sum()), set_size / num_items
    signal = float(counts @ chances)
    if signal <= 0.0:
        raise InvalidInputError(
            "Expected somebody who sends items: with targets of 0 there is only noise."
        )
    coins = float(counts @ (chances * (1.0 - chances))) / n
    spread = float(counts @ (chances - signal / n) ** 2) / n
    variance = n * f * coins + f * (1.0 - f) * spread * n * n / max(n - 1.0, 1.0)
    return (variance + n * blanket / num_items) / signal**2


def optimize_items(
    people: Population | Mapping[float, int],
    *,
    num_items: int,
    set_size: int,
    delta: float,
    max_messages: int | None = None,
    absent: int = 0,
) -> OptimizedItems:
    """Chooses m and every lambda for the smallest error at certified guarantees.

    Args:
        people: Central epsilons that people ask for, and how many ask for each. Those who
            ask for 0 send blanket messages only.
        num_items: d, at least 2.
        set_size: s, from 1 to d.
        delta: In [1e-30, 1).
        max_messages: Messages per person, dummies included; None for no limit.
        absent: How many people may be absent or collude.

    Raises:
        InvalidInputError: If a parameter is out of range, or reports are too small.
        CertificationError: If nothing is found that can be proven.
    """
    if not isinstance(people, Population):
        people = Population.from_counts(people)
    if people.num_levels > MAX_TARGETS:
        raise InvalidInputError(
            f"Expected at most {MAX_TARGETS} targets, got {people.num_levels}."
        )
    check_sizes(num_items, set_size)
    check_delta(delta)
    honest = _honest_people(people, absent)
    search = _Search(people, int(num_items), int(set_size), float(delta), honest)
    most = math.inf
    if max_messages is not None:
        check_whole(max_messages, "messages per person", least=set_size + 1)
        most = search.blanket_for(max_messages)
    blanket, limited = search.best(most)
    chances = search.send_chances(blanket)
    parameters = sized(
        people,
        chances,
        num_items=num_items,
        set_size=set_size,
        blanket=blanket,
        delta=delta,
        absent=absent,
    )
    guarantee = account(parameters, people, delta=delta, quantiles=False, absent=absent)
    if not kept(guarantee):
        raise CertificationError(
            f"No parameters found that keep all targets at delta {delta:g}."
        )
    return OptimizedItems(
        parameters=parameters,
        mean_squared_error=items_mean_squared_error(
            people, chances, num_items=num_items, set_size=set_size, blanket=blanket
        ),
        limited=limited,
        guarantee=guarantee,
    )


def _honest_people(people: Population, absent: int) -> int:
    """Returns how many people surely send blanket messages, the victim included."""
    check_whole(absent, "absent people", least=0)
    if absent > people.num_users - 1:
        raise PopulationError(
            f"Expected at most {people.num_users - 1} absent people, got {absent}."
        )
    return people.num_users - int(absent)


@dataclass(frozen=True)
class _Search:
    """A search for the best blanket, with estimated chances to send."""

    people: Population
    num_items: int
    set_size: int
    delta: float
    honest: int

    @property
    def goal(self) -> float:
        return (1.0 - CUT_SHARE) * self.delta

    def error(self, log_blanket: float) -> float:
        """Returns about the error that a blanket allows."""
        m = math.exp(log_blanket)
        mean = blanket_mean(m, self.num_items, self.honest)
        chances, guess = [], 1e-3
        for target in self.people.epsilons.tolist():
            if target > 0.0:
                # Targets ascend, and so do chances.
                guess = estimated_send_chance(
                    mean, self.set_size, target, self.goal, guess
                )
            chances.append(guess if target > 0.0 else 0.0)
        return items_mean_squared_error(
            self.people,
            chances,
            num_items=self.num_items,
            set_size=self.set_size,
            blanket=m,
        )

    def best(self, most: float) -> tuple[float, bool]:
        """Returns the best blanket up to `most`, and whether that was in the way."""
        targets = [t for t in self.people.epsilons.tolist() if t > 0.0]
        if not targets:
            raise InvalidInputError("Expected somebody who asks for more than 0.")
        unit = math.log(self.num_items / self.honest)
        # More blanket than lets a target send everything brings that target nothing more.
        kinks = [
            math.log(estimated_mean(1.0, self.set_size, target, self.goal)) + unit
            for target in targets
        ]
        low, high = (math.log(bound) + unit for bound in (SMALLEST_MEAN, LARGEST_MEAN))
        low += 1e-3
        high = min(high - 1e-3, math.log(most))
        if high < low:
            raise InvalidInputError("Expected larger reports: no blanket fits in.")
        points = {*np.linspace(max(kinks) + math.log(_LOWEST), max(kinks), _GRID)}
        points = {float(x) for x in points | {*kinks, high} if low <= x <= high}
        grid = sorted(points | ({low} if len(points) == 1 else set()))
        errors = [self.error(x) for x in grid]
        at = int(np.argmin(errors))
        ends = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        found = minimize_scalar(
            self.error, bounds=ends, method="bounded", options={"xatol": 1e-3}
        )
        log = float(found.x) if found.fun < errors[at] else grid[at]
        limited = math.isfinite(most) and log > high - _SNAP
        for kink, target in zip(kinks, targets, strict=True):
            if abs(log - kink) < _SNAP:
                exact = smallest_blanket(
                    target,
                    self.delta,
                    num_items=self.num_items,
                    set_size=self.set_size,
                    honest=self.honest,
                )
                if exact <= most:
                    return exact, False
        return round_down(math.exp(min(log, high))), limited

    def send_chances(self, blanket: float) -> list[float]:
        """Returns the largest chance that keeps each target, certified."""
        size = smallest_report(
            blanket,
            self.set_size,
            honest=self.honest,
            epsilon=float(self.people.epsilons[-1]),
            delta=self.delta,
        )
        return [
            0.0
            if target == 0.0
            else largest_send_chance(
                target,
                self.delta,
                num_items=self.num_items,
                set_size=self.set_size,
                honest=self.honest,
                blanket=blanket,
                report_size=size,
            )
            for target in self.people.epsilons.tolist()
        ]

    def blanket_for(self, max_messages: int) -> float:
        """Returns about the largest blanket that fits into so many messages."""
        epsilon = float(self.people.epsilons[-1])
        low, high = 1e-12, float(max_messages)
        while high > low * (1.0 + 1e-6):
            middle = math.sqrt(low * high)
            size = smallest_report(
                middle,
                self.set_size,
                honest=self.honest,
                epsilon=epsilon,
                delta=self.delta,
            )
            low, high = (middle, high) if size <= max_messages else (low, middle)
        return low
