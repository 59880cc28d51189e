"""Mean square of Clip-Laplace noise: Lemmas 9 and 10, eq. (26) to (29).

Of a coordinate in [-C, C] at budget e, b = 2 C / e and q = 1 / (exp(e) - 1), the message's
mean squared distance from the value is at most, and at C and -C exactly,

    8 C^2 / e^2 - (4 C^2 + 8 C^2 / e) q                                          (26)

and after subtraction of the bias of another user's message it is at most

    24 C^2 / e^2 - 8 C^2 q - 32 C^2 q / e + 8 C^2 q^2,                           (28)

where the two values are at opposite ends. If the bias is known exactly, the variance is
left, at budgets up to 2 the largest at C and -C:

    4 C^2 / e^2 - 4 C^2 q - 4 C^2 q^2.

All fall with e. The mean of n users' noise has no larger mean square.

Erratum. (26) to (29) have "=" between expectations where "<=" holds, and are about one
coordinate.

Source: Liu, Zhao, Xiong, Liu, Chen (2023), "Echo of Neighbors", Lemmas 9 and 10.
"""

import math

from shuffledp_papers.bounds.bound import check_epsilon, require


def squared_noise(clip: float, epsilon: float, *, as_printed: bool = False) -> float:
    """Returns (26), the largest mean square of one coordinate's noise.

    >>> round(squared_noise(0.1, 1.0), 5)
    0.01016
    >>> round(squared_noise(0.1, 1.0, as_printed=True), 3)
    -0.409

    Args:
        clip: C > 0.
        epsilon: The smallest budget, > 0.
        as_printed: With the erratum.
    """
    # (26) falls with epsilon: the smallest budget bounds the noise of all others.
    square, q = _checked(clip, epsilon)
    # Printed with 8 C / e, which makes the bound negative for small C; the final bound also
    # has 2 C^2 / e^2 for 8 C^2 / e^2.
    cross = 8.0 * clip if as_printed else 8.0 * square
    return 8.0 * square / epsilon**2 - (4.0 * square + cross / epsilon) * q


def corrected_noise(clip: float, epsilon: float, *, as_printed: bool = False) -> float:
    """Returns (28), the largest mean square after another's bias was subtracted.

    Arguments are those of `squared_noise`.
    """
    square, q = _checked(clip, epsilon)
    bound = 24.0 * square / epsilon**2 - 8.0 * square * q + 8.0 * square * q**2
    # (28) as printed lacks the last term, which makes it large but safe; the line before
    # it has the last sign wrong.
    return bound if as_printed else bound - 32.0 * square * q / epsilon


def ideal_noise(clip: float, epsilon: float, *, as_printed: bool = False) -> float:
    """Returns the largest variance, which is left if the bias is known exactly.

    Arguments are those of `squared_noise`; budgets up to 2, beyond which values inside of
    the range have more.
    """
    square, q = _checked(clip, epsilon)
    require(epsilon <= 2.0, "epsilon <= 2", f"{epsilon:g}")
    # As printed the bound is negative.
    if as_printed:
        drawn = -8.0 * q - 32.0 * q / epsilon - 8.0 * q**2 + 4.0 / epsilon**2
        return square * drawn
    return square * (4.0 / epsilon**2 - 4.0 * q - 4.0 * q**2)


def noise_length(square: float, *, coordinates: int = 1) -> float:
    """Returns an upper bound on E|eta| from a coordinate's mean square: (27), (29).

    Raises:
        OutsidePreconditions: If the square is negative, as some printed ones are.
    """
    require(coordinates >= 1, "at least 1 coordinate", f"{coordinates}")
    require(square >= 0.0, "a mean square >= 0", f"{square:g}")
    # Jensen: E|eta| is at most the root of E|eta|^2, which d coordinates have d times.
    return math.sqrt(coordinates * square)


def _checked(clip: float, epsilon: float) -> tuple[float, float]:
    """Returns C^2 and 1 / (exp(epsilon) - 1)."""
    epsilon = check_epsilon(epsilon)
    # Below, differences of terms of 1 / epsilon^2 would have lost their digits.
    require(epsilon >= 1e-4, "epsilon >= 1e-4", f"{epsilon:g}")
    require(0.0 < clip < math.inf, "a finite C > 0", f"{clip:g}")
    return clip**2, math.exp(-epsilon) / -math.expm1(-epsilon)
