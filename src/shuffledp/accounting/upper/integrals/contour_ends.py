"""Both ends of an integral, in the unit of the bound."""

import math

from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand

# Nothing smaller is ever returned: it might have been rounded down to 0.
SMALLEST = 1e-306
# Room for the rounding of a bound of all absolute values.
_ROOM = 2.0


def ends_of(
    integrand: ContourIntegrand,
    unit: float,
    *,
    negligible: float = 0.0,
    most_rounding: float = math.inf,
) -> tuple[float, float]:
    """Returns upper and lower end of the integral.

    Args:
        integrand: With losses in some unit.
        unit: This unit.
        negligible: An upper end of this size need not be any lower, nor known better.
        most_rounding: More than this makes it useless, in the unit of the losses.

    Raises:
        OverflowError: If it takes too much work, more is rounded than may be, or numbers
            are too extreme.
    """
    level = integrand.level + math.log(unit)
    log_most = level + math.log(_ROOM * integrand.absolute)
    if log_most <= math.log(max(negligible, SMALLEST)):
        # So far out the points may be millions.
        return max(math.exp(log_most), SMALLEST), 0.0
    if integrand.level + math.log(integrand.rounding) > math.log(most_rounding):
        raise OverflowError
    value, error = integrand.integral()
    upper = math.exp(level + math.log(max(value, 0.0) + error))
    return upper, math.exp(level) * max(value - error, 0.0)
