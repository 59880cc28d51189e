"""Local guarantees of APES and S-APES for a report before the shuffle.

Theorem 1 states that Clip-Laplace noise of scale D / eps on [-D/2, D/2], D being the
sensitivity in the sum of absolute values, keeps eps in any number d of coordinates. It
does for d = 1; for more, `clip_laplace_loss` is the loss of one pair of values. Theorem 3,
with a scale of its own for each coordinate, states d eps.

S-APES sends the b largest of d noisy coordinates and fresh noise in place of the others;
it states b eps. At d = 7850, b = 1570 and eps = 1 the loss reaches 2205.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Theorems 1 and 3, Table 3.
"""

import math

from shuffledp_papers.bounds.bound import check_epsilon, require


def clip_laplace_loss(epsilon: float, *, coordinates: int) -> float:
    """Returns the loss of one pair of values under Theorem 1's noise.

    >>> clip_laplace_loss(1.0, coordinates=1), clip_laplace_loss(1.0, coordinates=2)
    (1.0, 1.4381...)

    Args:
        epsilon: > 0.
        coordinates: d >= 1.
    """
    epsilon = check_epsilon(epsilon)
    require(epsilon > 0.0, "epsilon > 0", f"{epsilon:g}")
    require(coordinates >= 1, "at least 1 coordinate", f"{coordinates}")
    # The pair differs by D / d in every coordinate, away from a corner of the range.
    step = epsilon / coordinates
    # Twice the normalizers after the step and in the corner. They differ beyond d = 1,
    # which Theorem 1 omits.
    inside = -math.expm1(-step) - math.expm1(step - epsilon)
    return epsilon + coordinates * math.log(inside / -math.expm1(-epsilon))


def selection_loss(epsilon: float, *, coordinates: int) -> float:
    """Returns the loss of one pair of updates under S-APES, for any b < d.

    >>> round(selection_loss(1.0, coordinates=7850))
    2205

    Args:
        epsilon: Of each coordinate.
        coordinates: d >= 1.
    """
    require(coordinates >= 1, "at least 1 coordinate", f"{coordinates}")
    # All values are in the middle, or all at an end, and all messages are in the middle:
    # the selected ones only if all noisy values are; the others are fresh noise.
    half = check_epsilon(epsilon) / 2.0
    # ln((1 + e^(eps / 2)) / 2): half the distance, less what the end's normalizer lacks.
    return coordinates * (half + math.log1p(math.expm1(-half) / 2.0))


def report_budget(epsilon: float, *, coordinates: int) -> float:
    """Returns d eps (Theorem 3), or b eps for the b coordinates that S-APES selects."""
    require(coordinates >= 1, "at least 1 coordinate", f"{coordinates}")
    # The selection depends on the data, so that all d coordinates leak, and not b.
    return coordinates * check_epsilon(epsilon)
