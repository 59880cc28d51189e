"""Budgets for noise of several levels in several rounds, whose bounds take longest of all.

What certified bounds exceed estimates by hardly differs from one place to another, while
the response of levels that hide each other is not known well: estimates are corrected, and
solved for again.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# Steps of estimates that are composed, each of which takes a while.
FEW_STEPS = 14
# And of their corrections, and of a factor for all budgets; the least slope in that.
_FEWER_STEPS, _FEWEST_STEPS, _LEAST_SLOPE = 4, 3, 0.1
# Of the place where estimates are used up, and of a factor for all.
ROUGH_ACCURACY, _ACCURACY = 1e-3, 1e-4
# Estimates whose solution leaves a larger excess are corrected, so often. After the first
# correction so much may be left, as bounds jump.
ROUGH_EXCESS, MAX_CORRECTIONS, MOST_LEFT = 1e-3, 3, 5e-3


class NoiseCorrections:
    """Estimates of blankets in steps, corrected by what certified bounds were.

    Args:
        excess: By about which factor budgets are too large.
        search: Solves for several levels, and keeps slopes.
        normal_slopes: Returns about the slopes of the excess, as if losses were normal.
    """

    def __init__(
        self,
        excess: TargetExcess,
        search: NewtonSearch,
        normal_slopes: Callable[[Floats], Floats],
    ) -> None:
        self._excess, self._search = excess, search
        self._normal_slopes = normal_slopes
        # What certified bounds were seen to exceed estimates by.
        self._error: Floats | float = excess.margin

    def refined(
        self, log_budgets: Floats, *, most_steps: int, measures_again: bool = True
    ) -> Floats:
        """Returns budgets that leave about no excess of noise, with their slopes.

        Args:
            log_budgets: Close to these.
            most_steps: Of Newton's method.
            measures_again: Whether it measures slopes where steps lead nowhere.

        Raises:
            CertificationError: If no budgets are found, or nothing is estimated.
        """
        error = self._error
        refined = self._search.solve(
            log_budgets,
            lambda budgets: self._excess.estimated_in_steps(budgets) + error,
            ROUGH_ACCURACY,
            most_steps=most_steps,
            measures_again=measures_again,
        )
        if refined is None:
            raise CertificationError("No budgets would do for blankets in steps.")
        self._search.slopes = self._normal_slopes(refined)
        return refined

    def corrected(self, log_budgets: Floats) -> Floats:
        """Returns where about no excess is left, with the slopes there.

        Args:
            log_budgets: Where estimates leave none, in logarithms, ascending.

        Raises:
            CertificationError: If nothing is certified.
        """
        for number in range(MAX_CORRECTIONS):
            certified = self._excess.certified(log_budgets)
            least = -(ROUGH_EXCESS if number == 0 else MOST_LEFT)
            if least < certified.min() and certified.max() <= self._excess.margin:
                break
            with suppress(CertificationError):
                about = self._excess.estimated_in_steps(log_budgets)
                self._error = certified - about
                if float(np.ptp(certified)) < ROUGH_EXCESS:
                    log_budgets = self._moved(log_budgets, float(certified.max()))
                else:
                    log_budgets = self.refined(
                        log_budgets, most_steps=_FEWER_STEPS, measures_again=False
                    )
        return log_budgets

    def _moved(self, log_budgets: Floats, largest_excess: float) -> Floats:
        """Returns budgets times one factor, with about no excess of noise.

        Raises:
            CertificationError: If nothing is estimated.
        """

        def moved(step: float) -> Floats:
            budgets = np.exp(
                np.minimum(log_budgets + step, self._excess.range.log_highest)
            )
            return np.log(self._excess.range.ordered(budgets))

        before, step = (0.0, largest_excess), -largest_excess
        for _ in range(_FEWEST_STEPS):
            estimated = self._excess.estimated_in_steps(moved(step)) + self._error
            after = step, float(estimated.max())
            slope = (after[1] - before[1]) / (after[0] - before[0])
            if not slope > _LEAST_SLOPE:
                break
            before, step = after, step - after[1] / slope
            if abs(after[1]) < _ACCURACY:
                break
        return moved(step)
