"""Both ends of an integral, in the unit of the bound."""

import math

from shuffledp.accounting.upper.integrals.contour_integrand import ContourIntegrand

# Nothing smaller is ever returned: it might have been rounded down to 0.
SMALLEST = 1e-306
_LOG_SMALLEST = math.log(SMALLEST)


def ends_of(integrand: ContourIntegrand, unit: float) -> tuple[float, float]:
    """Returns upper and lower end of the integral.

    Args:
        integrand: With losses in some unit.
        unit: This unit.

    Raises:
        OverflowError: If it takes too much work, or numbers are too extreme.
    """
    level = integrand.level + math.log(unit)
    if level + math.log(integrand.absolute) <= _LOG_SMALLEST:
        # So far out the points are millions, and nothing smaller is returned.
        return SMALLEST, 0.0
    value, error = integrand.integral()
    upper = math.exp(level + math.log(max(value, 0.0) + error))
    return upper, math.exp(level) * max(value - error, 0.0)
