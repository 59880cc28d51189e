"""Confidence intervals of estimates that are nearly normal.

They are not where noise changes hardly any message: of 500 people at level 8 who all hold
one value, a message is changed in 15% of collections, and 95% intervals then miss it.
"""

from scipy.special import ndtri

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError


def reach(confidence: float) -> float:
    """Returns half the width of a two-sided normal interval, in standard errors.

    >>> round(reach(0.95), 3)
    1.96

    Args:
        confidence: Probability that the interval contains the truth, in (0, 1).
    """
    return float(ndtri(0.5 + checked_confidence(confidence) / 2.0))


def checked_confidence(confidence: float) -> float:
    """Returns a confidence.

    Raises:
        InvalidInputError: If it is no number in (0, 1).
    """
    confidence = as_number(confidence, "confidence")
    if not 0.0 < confidence < 1.0:
        raise InvalidInputError(f"Expected 0 < confidence < 1, got {confidence:g}.")
    return confidence
