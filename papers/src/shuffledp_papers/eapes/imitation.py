"""Mixture weights of two values' messages in that of a third value (Lemma 2).

Let R be epsilon-private with epsilon > 0. Then R(x) and R(x') are mixtures

    R(x)  = (e^epsilon Q + Q') / (1 + e^epsilon),
    R(x') = (Q + e^epsilon Q') / (1 + e^epsilon)

of two unique distributions Q and Q', and Q + Q' = R(x) + R(x'). Lemma 2 states that the
message of every third value contains Q and Q' with weight 1 / (1 + e^epsilon) each. That
is false: privacy gives e^-epsilon / 2 and no more. With R(x) = R(x') = (.6, .4) and
R(x'') = (.2207, .7793), which is 1-private, the weight is .184, not .269.

Source: Chen, Cao, Ge (2023), E-APES, Lemma 2.
"""

import math

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

# Rounding of probabilities that add up to 1.
_ROUNDING = 1e-12


def components(first: Floats, second: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Returns Q and Q' of eq. (7) and (8), for delta = 0.

    Args:
        first: R(x), shape (cells,).
        second: R(x'), shape (cells,).
        epsilon: In nats, > 0; both orders of the two are epsilon-private.

    Raises:
        InvalidInputError: If they are not epsilon-private.
    """
    if not 0.0 < epsilon < math.inf:
        raise InvalidInputError(f"Expected a finite epsilon > 0, got {epsilon:g}.")
    # (7) and (8) are printed with the same right-hand side; the second has the weights of
    # Q and Q' exchanged. With delta > 0 the remaining part, of probability delta, differs
    # between x and x', too (`extreme_pair`).
    ratio = math.exp(epsilon)
    parts = (
        (ratio * first - second) / (ratio - 1.0),
        (ratio * second - first) / (ratio - 1.0),
    )
    if min(float(part.min()) for part in parts) < -_ROUNDING:
        raise InvalidInputError(
            "Expected probabilities that differ by at most e^epsilon, "
            f"epsilon = {epsilon:g}."
        )
    return np.maximum(parts[0], 0.0), np.maximum(parts[1], 0.0)


def printed_weight(epsilon: float, delta: float = 0.0) -> float:
    """Returns the weight of Q, and of Q', that eq. (9) states in every R(x'').

    >>> round(printed_weight(1.0), 3)
    0.269
    """
    return (1.0 - delta) / (1.0 + math.exp(epsilon))


def weight(first: Floats, second: Floats, other: Floats) -> float:
    """Returns the largest w with R(x'') >= w (R(x) + R(x')).

    >>> same = np.array([0.6, 0.4])
    >>> round(weight(same, same, np.array([0.2207, 0.7793])), 3)
    0.184

    Args:
        first: R(x), shape (cells,).
        second: R(x'), shape (cells,).
        other: R(x''), shape (cells,).
    """
    # Messages that neither value sends put no limit on w.
    both = first + second
    return float(np.min(other[both > 0.0] / both[both > 0.0]))
