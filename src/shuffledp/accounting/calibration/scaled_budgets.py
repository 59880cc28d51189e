"""Budgets times one factor, where no search for each of them ends."""

from collections.abc import Sequence

from shuffledp.accounting.calibration.calibrated_population import rounded_population
from shuffledp.accounting.calibration.largest_excess import (
    LargestExcess,
    largest_for_all,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.population import MAX_BUDGET
from shuffledp.types import Floats, Ints


def scaled_budgets(
    promise: Promise,
    counts: Ints,
    targets: Sequence[float],
    budgets: Floats,
    *,
    width: float,
    most_factor: float | None = None,
) -> Floats:
    """Returns the budgets times about the largest factor with which all keep their targets.

    Args:
        promise: Protocol and delta.
        counts: How many people have each budget, shape (levels,).
        targets: Central epsilons of the first levels, or of all.
        budgets: Ascending, shape (levels,).
        width: Relative width at which the search ends.
        most_factor: The largest factor of use; by default any that budgets permit.

    Raises:
        CertificationError: If none down to 1e-12 is found.
    """
    factor = largest_for_all(
        LargestExcess(promise, targets),
        lambda factor: (rounded_population(budgets * factor, counts), None),
        1.0,
        most_factor or MAX_BUDGET / float(budgets[-1]),
        width,
    )
    return budgets * factor
