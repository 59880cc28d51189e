"""e-values: winnings of a bet against a promise, of mean at most 1 if it is kept.

A calibrator turns a p-value p into an e-value. It is a decreasing function f with integral
1 over [0, 1]: then f(p) has mean 1 at most for every p that is at most a with probability a
at most (Vovk, Wang 2021). Here it is the mean of kappa p^(kappa - 1) over kappa in [0, 1],

    f(p) = (1 - p + p log p) / (p log(p)^2),

as the size of p-values is not known beforehand.
"""

import math
from collections.abc import Sequence

from shuffledp.errors import InvalidInputError

# Closer to p = 1 than this, the difference cancels; a series is used instead.
_NEAR = 1e-3


def calibrated(p_value: float) -> float:
    """Returns the e-value of a p-value: infinite at 0, 1/2 at 1.

    >>> [round(calibrated(p), 2) for p in (1.0, 0.1, 0.01, 1e-5)]
    [0.5, 1.26, 4.45, 754.35]

    Args:
        p_value: In [0, 1].

    Raises:
        InvalidInputError: If it is not.
    """
    if not 0.0 <= p_value <= 1.0:
        raise InvalidInputError(f"Expected a p-value in [0, 1], got {p_value!r}.")
    if p_value == 0.0:
        return math.inf
    log = math.log(p_value)
    if log > -_NEAR:
        # With x = -log p: (e^x - 1 - x) / x^2.
        x = -log
        return 0.5 + x / 6.0 + x * x / 24.0
    # Numerator and denominator divided by p, so that a tiny p does not underflow.
    return (math.exp(min(-log, 709.0)) - 1.0 + log) / log**2


def average(e_values: Sequence[float]) -> float:
    """Returns the mean of e-values, an e-value again however they depend on each other.

    Raises:
        InvalidInputError: If there are none.
    """
    if not e_values:
        raise InvalidInputError("Expected at least one e-value.")
    return math.fsum(e_values) / len(e_values) if math.inf not in e_values else math.inf
