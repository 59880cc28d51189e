"""The search for the blanket with which the error is smallest.

Blankets are compared by estimated probabilities to send (`estimate`), which are quick;
the probabilities that `send_probabilities` and `improved` return are certified.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from shuffledp.accounting.counts.estimated_delta import (
    estimated_mean,
    estimated_send_probability,
)
from shuffledp.accounting.counts.poisson_pair import LARGEST_MEAN, SMALLEST_MEAN
from shuffledp.accounting.counts.report_truncation import CUT_SHARE, smallest_report
from shuffledp.accounting.epsilon_solver import round_down
from shuffledp.accounting.items.expected_error import items_mean_squared_error
from shuffledp.accounting.items.items_calibration import (
    largest_send_probability,
    smallest_blanket,
)
from shuffledp.accounting.items.items_exposure import blanket_mean
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import Population

# Blankets of the first grid, and the smallest of them as a part of the largest kink, unless
# another kink is smaller.
_GRID = 17
_LOWEST = 1e-4
# Blankets closer than this, in logarithms, to one that lets a target send all become it.
_SNAP = 2e-3
# By how much a neighboring blanket must reduce the error.
_WORTH = 0.01


@dataclass(frozen=True)
class BlanketSearch:
    """A search for the blanket with the smallest error.

    Attributes:
        people: How many people ask for each target.
        num_items: d.
        set_size: s.
        delta: In [1e-30, 1).
        honest: People who surely send their blanket messages, the target user included.
    """

    people: Population
    num_items: int
    set_size: int
    delta: float
    honest: int

    @property
    def _goal(self) -> float:
        """The share of delta that is not reserved for truncated reports."""
        return (1.0 - CUT_SHARE) * self.delta

    def _estimated_error(self, log_blanket: float) -> float:
        """Returns about the error that a blanket allows, with estimated probabilities."""
        m = math.exp(log_blanket)
        mean = blanket_mean(m, self.num_items, self.honest)
        probabilities, guess = [], 1e-3
        for target in self.people.epsilons.tolist():
            if target > 0.0:
                # Targets ascend, and so do probabilities.
                guess = estimated_send_probability(
                    mean, self.set_size, target, self._goal, guess
                )
            probabilities.append(guess if target > 0.0 else 0.0)
        return self._squared_error(m, probabilities)

    def best(self, max_blanket: float) -> tuple[float, bool]:
        """Returns the best blanket up to `max_blanket`, and whether the limit bound it.

        Args:
            max_blanket: Blanket messages per person; infinity for no limit.

        Raises:
            InvalidInputError: If no target exceeds 0, or `max_blanket` is too small.
        """
        targets = [t for t in self.people.epsilons.tolist() if t > 0.0]
        if not targets:
            raise InvalidInputError("Expected a person who asks for more than 0.")
        unit = math.log(self.num_items / self.honest)
        # More blanket than lets a target send everything brings that target nothing more.
        kinks = [
            math.log(estimated_mean(1.0, self.set_size, target, self._goal)) + unit
            for target in targets
        ]
        low, high = (math.log(bound) + unit for bound in (SMALLEST_MEAN, LARGEST_MEAN))
        low += 1e-3
        high = min(high - 1e-3, math.log(max_blanket))
        if high < low:
            raise InvalidInputError("Expected larger reports: no blanket fits in.")
        lowest_log_blanket = min(max(kinks) + math.log(_LOWEST), min(kinks))
        size = math.ceil(
            _GRID * (max(kinks) - lowest_log_blanket) / -math.log(_LOWEST) - 1e-9
        )
        points = {*np.linspace(lowest_log_blanket, max(kinks), size)}
        points = {float(x) for x in points | {*kinks, high} if low <= x <= high}
        grid = sorted(points | ({low} if len(points) == 1 else set()))
        errors = [self._estimated_error(x) for x in grid]
        best_index = int(np.argmin(errors))
        ends = grid[max(best_index - 1, 0)], grid[min(best_index + 1, len(grid) - 1)]
        minimum = minimize_scalar(
            self._estimated_error,
            bounds=ends,
            method="bounded",
            options={"xatol": 1e-3},
        )
        log = float(minimum.x) if minimum.fun < errors[best_index] else grid[best_index]
        limited = math.isfinite(max_blanket) and log > high - _SNAP
        for kink, target in zip(kinks, targets, strict=True):
            if abs(log - kink) < _SNAP:
                exact = self._blanket_to_send_all(target)
                if exact is not None and exact <= max_blanket:
                    return exact, False
        return round_down(math.exp(min(log, high))), limited

    def blanket_for(self, max_messages: int) -> float:
        """Returns about the largest blanket that fits into `max_messages`."""
        epsilon = float(self.people.epsilons[-1])
        low, high = 1e-12, float(max_messages)
        while high > low * (1.0 + 1e-6):
            middle = math.sqrt(low * high)
            size = smallest_report(
                middle,
                self.set_size,
                num_honest=self.honest,
                epsilon=epsilon,
                delta=self.delta,
            )
            low, high = (middle, high) if size <= max_messages else (low, middle)
        return low

    def send_probabilities(self, blanket: float) -> list[float]:
        """Returns the largest probability to send that keeps each target, certified."""
        size = smallest_report(
            blanket,
            self.set_size,
            num_honest=self.honest,
            epsilon=float(self.people.epsilons[-1]),
            delta=self.delta,
        )
        return [
            0.0
            if target == 0.0
            else largest_send_probability(
                target,
                self.delta,
                num_items=self.num_items,
                set_size=self.set_size,
                num_honest=self.honest,
                blanket=blanket,
                report_size=size,
            )
            for target in self.people.epsilons.tolist()
        ]

    def improved(
        self, blanket: float, probabilities: list[float], max_blanket: float
    ) -> tuple[float, list[float]]:
        """Returns a larger blanket that lets one more target send all, if it is better.

        Args:
            blanket: That was found.
            probabilities: To send, of each target, with that blanket; at least one
                below 1.
            max_blanket: The largest blanket that is allowed.

        Returns:
            The better blanket, and its probabilities to send.
        """
        smallest_error, current = (
            self._squared_error(blanket, probabilities),
            (blanket, probabilities),
        )
        limited = zip(self.people.epsilons.tolist(), probabilities, strict=True)
        # Of those that cannot send everything, the most liberal needs the least more.
        target = max(target for target, probability in limited if probability < 1.0)
        if target == 0.0:
            return current
        # Estimated probabilities near 1 have several solutions: the search may have
        # stopped beside this blanket, where draws cost more than its noise does.
        larger_blanket = self._blanket_to_send_all(target)
        if larger_blanket is not None and larger_blanket <= max_blanket:
            tried_probabilities = self.send_probabilities(larger_blanket)
            if (
                self._squared_error(larger_blanket, tried_probabilities)
                < (1.0 - _WORTH) * smallest_error
            ):
                return larger_blanket, tried_probabilities
        return current

    def _blanket_to_send_all(self, target: float) -> float | None:
        """Returns the least blanket that does; None if none can be proven to."""
        try:
            return smallest_blanket(
                target,
                self.delta,
                num_items=self.num_items,
                set_size=self.set_size,
                num_honest=self.honest,
            )
        except CertificationError:
            return None

    def _squared_error(self, blanket: float, probabilities: list[float]) -> float:
        return items_mean_squared_error(
            self.people,
            probabilities,
            num_items=self.num_items,
            set_size=self.set_size,
            blanket=blanket,
        )
