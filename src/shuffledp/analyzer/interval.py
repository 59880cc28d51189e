"""Confidence intervals of estimates to which messages contribute whole steps.

Where noise changes many messages, an estimate is nearly normal. Where it changes few, its
error is a small whole number of steps, and a normal interval may end just before the first:
of 500 people at level 8 who hold one value, noise changes no message in 85% of collections,
and a normal interval of 95% holds the truth in no more of them.

With sigma for the standard error and z for the normal quantile, half an interval is

    min(z sigma + max(1/2, 0.15 z^2) step, sigma / sqrt(1 - confidence)),

or z sigma if that is more. Half a step is the correction for continuity. The other term is
for the longer tail of few changed messages: (z^2 - 1) / 6 is that of Cornish and Fisher of
a Poisson number. The second limit is Chebyshev's inequality, which holds for every error of
this variance.

Tests enumerate sums and differences of binomial and Poisson numbers of changed messages: at
the true standard error the interval misses the truth with a probability of at most
1 - confidence for confidences of 80, 90, 95, 99 and 99.9%, and of 1.06 times as much at
most for others, such as 92.5%.
"""

import numpy as np
from scipy.special import ndtri

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


def reach(confidence: float) -> float:
    """Returns half the width of a two-sided normal interval, in standard errors.

    >>> round(reach(0.95), 3)
    1.96

    Args:
        confidence: Probability that the interval contains the truth, in (0, 1).
    """
    return float(ndtri(0.5 + checked_confidence(confidence) / 2.0))


def half_width(
    confidence: float,
    standard_error: float | Floats,
    step: float | Floats,
    excess_kurtosis: float | Floats = 0.0,
) -> Floats:
    """Returns half the widths of two-sided intervals, shape as `standard_error`.

    >>> half_width(0.95, np.array([0.4, 100.0]), 1.0).round(2).tolist()
    [1.36, 196.57]

    Args:
        confidence: Probability that an interval contains the truth, in (0, 1).
        standard_error: Of each estimate; may be infinite.
        step: By how much one changed message moves each estimate, at most; 0 for
            continuous noise.
        excess_kurtosis: Of each estimate's error: normal quantiles are corrected for the
            fourth cumulant (Cornish and Fisher 1938).
    """
    z = reach(confidence)
    # z + (z^3 - 3 z) / 24 times the excess kurtosis. Never shorter than normal.
    longer = max(z**3 - 3.0 * z, 0.0) / 24.0
    smooth = np.asarray((z + longer * excess_kurtosis) * standard_error)
    stepped = smooth + max(0.5, 0.15 * z**2) * np.asarray(step)
    chebyshev = np.asarray(standard_error) / (1.0 - confidence) ** 0.5
    widths: Floats = np.maximum(smooth, np.minimum(stepped, chebyshev))
    return widths


def checked_confidence(confidence: float) -> float:
    """Returns a confidence.

    Raises:
        InvalidInputError: If it is no number in (0, 1).
    """
    confidence = as_number(confidence, "confidence")
    if not 0.0 < confidence < 1.0:
        raise InvalidInputError(f"Expected 0 < confidence < 1, got {confidence:g}.")
    return confidence
