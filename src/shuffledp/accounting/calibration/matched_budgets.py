"""Budgets that use up targets of slow bounds, which are evaluated a few times only.

The excess of normal losses takes no bound, and a true excess differs from it by nearly the
same number at all budgets near each other: moved by that, it is solved for again.
"""

from collections.abc import Callable

from shuffledp.accounting.calibration.newton_search import NewtonSearch
from shuffledp.accounting.calibration.target_excess import TargetExcess
from shuffledp.errors import CertificationError
from shuffledp.types import Floats

# Evaluations of a bound at most: each leaves about a tenth of the excess before it.
_MOST_EVALUATIONS = 6
_ACCURACY = 2e-6


def matched_budgets(
    excess: TargetExcess,
    search: NewtonSearch,
    log_budgets: Floats,
    excess_at: Callable[[Floats], Floats],
    accuracy: float,
) -> tuple[Floats, float]:
    """Returns logarithms of budgets that leave about no excess, shape (levels,).

    And the largest excess, of either sign: once the counted evaluations are spent, these
    are the best that were evaluated.

    Args:
        excess: That of normal losses.
        search: Solves for all levels.
        log_budgets: Where to begin, shape (levels,).
        excess_at: The excess of all levels at logarithms of budgets, slowly.
        accuracy: The largest excess that may be left, of either sign.

    Raises:
        CertificationError: If there is no such place.
    """
    steepness, best, least = excess.steepness, log_budgets, float("inf")
    for number in range(_MOST_EVALUATIONS):
        evaluated = excess_at(log_budgets)
        largest = search.largest_excess(log_budgets, evaluated)
        if largest < least:
            best, least = log_budgets, largest
        if largest < accuracy or number == _MOST_EVALUATIONS - 1:
            break
        error = evaluated - steepness * excess.normal(log_budgets)

        def moved(logs: Floats, error: Floats = error) -> Floats:
            return steepness * excess.normal(logs) + error

        search.forget_sensitive_levels()
        solved = search.solve(log_budgets, moved, _ACCURACY)
        if solved is None:
            raise CertificationError("No budgets would do for losses nearly normal.")
        log_budgets = solved
    return best, least
