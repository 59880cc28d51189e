"""Where Newton's method for budgets begins, and the slopes there.

Budgets are logarithms, in ascending order, shape (levels,). Starts that take no certified
bound come first: normal losses, and estimates of the bounds.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from shuffledp.accounting.calibration.calibration_search import largest
from shuffledp.accounting.calibration.common_budgets import common_budgets
from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.accounting.calibration.noise_corrections import (
    FEW_STEPS,
    MAX_CORRECTIONS,
    ROUGH_ACCURACY,
    ROUGH_EXCESS,
    NoiseCorrections,
)
from shuffledp.accounting.calibration.saturated_budgets import (
    free_levels,
    saturated_budgets,
)
from shuffledp.accounting.calibration.swept_budgets import swept_budgets
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# Accuracy of the start, which assumes normal losses.
_START_ACCURACY = 1e-3
# Of a common factor of all budgets, where that search begins.
_SCALE_WIDTH = 0.05
# Of sweeps by normal losses, from which Newton's method goes on.
_SWEPT_ACCURACY = 1e-2
# Of the place where estimates of the bounds are used up.
_ESTIMATE_ACCURACY = 1e-4


class BudgetStarts:
    """Starts of a search for budgets; every one leaves slopes in the search."""

    def __init__(self, excess: TargetExcess, search: NewtonSearch) -> None:
        """Prepares starts; none is computed yet.

        Args:
            excess: By about which factor budgets are too large.
            search: Solves for several levels, and keeps slopes.
        """
        self._excess, self._search = excess, search
        # What certified bounds were seen to exceed estimates by.
        self._error: Floats | float = excess.margin
        # Where normal losses leave no excess, and the slopes there, by where the search
        # began; they are asked for again. None where there is no such place.
        self._normal: dict[bytes, tuple[Floats, Floats] | None] = {}
        self._noise = NoiseCorrections(excess, search, self._normal_slopes)

    def normal(self, start: Floats) -> Floats:
        """Returns where no excess would be left if losses were normal.

        Raises:
            CertificationError: If there is no such place.
        """
        key = start.tobytes()
        if key not in self._normal:
            self._normal[key] = None
            self._normal[key] = self._searched_normal(start)
        known = self._normal[key]
        if known is None:
            raise CertificationError("No budgets would do for normal losses.")
        log_budgets, slopes = known
        self._search.slopes = slopes.copy()
        # Bounds are not those of normal losses.
        self._search.forget_sensitive_levels()
        return log_budgets

    def _searched_normal(self, start: Floats) -> tuple[Floats, Floats] | None:
        """Returns where normal losses leave no excess, and slopes there."""
        excess_at = self._excess.normal
        log_budgets = None
        with suppress(CertificationError):
            first = self._scaled(start) if self._excess.is_noise else start
            log_budgets = self._search.solve(first, excess_at, _START_ACCURACY)
        if log_budgets is None:
            # Far from the start, or where one budget hides many levels: level by level.
            with suppress(CertificationError):
                budgets = swept_budgets(
                    self._excess,
                    np.exp(start),
                    accuracy=_SWEPT_ACCURACY,
                    of_level=self._excess.normal_of_level,
                )
                self._search.reset()
                log_budgets = self._search.solve(
                    np.log(budgets), excess_at, _START_ACCURACY
                )
        if log_budgets is None:
            return None
        return log_budgets, self._normal_slopes(log_budgets)

    def _scaled(self, start: Floats) -> Floats:
        """Returns budgets moved by one factor, to where a normal loss uses a target up."""
        log_highest = self._excess.range.log_highest

        def moved(factor: float) -> Floats:
            log_budgets: Floats = np.minimum(start + np.log(factor), log_highest)
            return log_budgets

        factor = largest(
            lambda factor: float(self._excess.normal(moved(factor)).max()),
            1.0,
            float(np.exp(log_highest[0] - start[0])),
            _SCALE_WIDTH,
        )
        log_budgets: Floats = np.log(self._excess.range.ordered(np.exp(moved(factor))))
        return log_budgets

    def _normal_slopes(self, log_budgets: Floats) -> Floats:
        """Returns about the slopes of the excess there, as if losses were normal."""
        excess_at = self._excess.normal
        self._search.measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
        slopes: Floats = self._search.slopes * self._excess.steepness[:, None]
        return slopes

    def at(self, start: Floats) -> Floats:
        """Returns the start itself, with the slopes of estimates there.

        Raises:
            CertificationError: If nothing is estimated.
        """
        excess_at = self.estimated_excess
        self._search.measure_slopes(start, excess_at(start), excess_at)
        return start

    def estimated(self, start: Floats) -> Floats:
        """Returns where about no excess is left, as estimated, with the slopes there.

        Args:
            start: Logarithms of budgets that are small enough.

        Raises:
            CertificationError: If there is no such place, or no estimate.
        """
        excess_at = self.estimated_excess
        is_slow = self._excess.is_composed_noise
        log_budgets = self._search.solve(
            self.normal(start),
            excess_at,
            ROUGH_ACCURACY if is_slow else _ESTIMATE_ACCURACY,
            most_steps=FEW_STEPS if is_slow else None,
        )
        if not is_slow:
            self._search.forget_sensitive_levels()
        if log_budgets is None:
            raise CertificationError("No budgets would do for estimated bounds.")
        if is_slow:
            with suppress(CertificationError):
                return self._noise.refined(log_budgets, most_steps=FEW_STEPS)
        self._search.measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
        return log_budgets

    def corrected_in_steps(self, start: Floats) -> Floats:
        """Returns where about no excess of composed noise is left, with the slopes there.

        Args:
            start: Logarithms of budgets that are small enough.

        Raises:
            CertificationError: If there is no such place, or no estimate.
        """
        return self._noise.corrected(self.estimated(start))

    def saturated(self, start: Floats) -> Floats:
        """Returns where the first levels use up their targets, as estimated, if the others
        have the largest budgets, with the slopes there.

        Raises:
            CertificationError: If the others do not keep their targets, or no estimate.
        """
        num_free, log_budgets = saturated_budgets(
            self.estimated_excess, self._search, float(start[0]), self._excess.range
        )
        free = free_levels(self.estimated_excess, num_free)
        self._search.reset()
        self._search.measure_slopes(log_budgets, free(log_budgets), free)
        return log_budgets

    def swept(self, start: Floats) -> Floats:
        """Returns where about no level can be raised, as estimated, with the slopes there.

        Raises:
            CertificationError: If nothing is estimated.
        """
        log_budgets: Floats = np.log(
            swept_budgets(
                self._excess,
                np.exp(start),
                accuracy=ROUGH_ACCURACY,
                of_level=self._excess.estimated_of_level,
            )
        )
        self._search.reset()
        excess_at = self._excess.estimated
        self._search.measure_slopes(log_budgets, excess_at(log_budgets), excess_at)
        return log_budgets

    def common(self, start: Floats) -> Floats:
        """Returns nearly equal budgets, about the largest, with the slopes there.

        With large targets, budgets that are far apart have slopes that lead nowhere.
        """
        return common_budgets(
            start,
            self._search,
            self._excess.range,
            self._excess.normal,
            self._excess.certified,
        )

    def corrected(
        self, first_guess: Callable[[Floats], Floats], start: Floats
    ) -> Floats:
        """Returns where about no excess is left, with the slopes there.

        Estimates that are off by nearly the same factor at all budgets are corrected by
        what certified bounds are at one of these.

        Args:
            first_guess: Returns where estimates leave no excess, for `start`.
            start: Logarithms of budgets that are small enough.

        Raises:
            CertificationError: If there is no such place, or no estimate.
        """
        self._error = self._excess.margin
        log_budgets = first_guess(start)
        for _ in range(MAX_CORRECTIONS):
            certified = self._excess.certified(log_budgets)
            if self._search.largest_excess(log_budgets, certified) < ROUGH_EXCESS:
                break
            self._error = certified - self._excess.estimated(log_budgets)
            self._search.reset()
            before, log_budgets = log_budgets, first_guess(start)
            # A bound that jumps there: every correction is this one.
            if np.array_equal(before, log_budgets):
                break
        return log_budgets

    def estimated_excess(self, log_budgets: Floats) -> Floats:
        """Returns about the certified excess, as corrected so far.

        Raises:
            CertificationError: If nothing is estimated.
        """
        return self._excess.estimated(log_budgets) + self._error
