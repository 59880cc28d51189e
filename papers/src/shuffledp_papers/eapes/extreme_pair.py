"""The extreme pair of distributions of (epsilon, delta)-private randomizers (Lemma 1).

If R is (epsilon, delta)-private, R(x) and R(x') are the same random function of two
distributions on four outcomes: A occurs in the first world only and B in the second only,
with probability delta each; otherwise the world is reported truthfully with probability
e^epsilon / (1 + e^epsilon). So T(R(x), R(x')) is at least the trade-off function of this
pair, which is f_{epsilon, delta}.

Source: Kairouz, Oh, Viswanath (2015), "The composition theorem for differential privacy",
Theorem 3.1; quoted by Chen, Cao, Ge (2023), E-APES, Lemma 1.
"""

import math

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


def extreme_pair(epsilon: float, delta: float) -> tuple[Floats, Floats]:
    """Returns the probabilities of (A, 0, 1, B) in both worlds, shape (4,) each.

    >>> extreme_pair(math.log(3.0), 0.2)
    (array([0.2, 0.6, 0.2, 0. ]), array([0. , 0.2, 0.6, 0.2]))

    Args:
        epsilon: In nats, >= 0.
        delta: In [0, 1].
    """
    if not (0.0 <= epsilon < math.inf and 0.0 <= delta <= 1.0):
        raise InvalidInputError(
            f"Expected a finite epsilon >= 0 and 0 <= delta <= 1, got {epsilon:g} and "
            f"{delta:g}."
        )
    # e^-epsilon in place of e^epsilon: no overflow.
    lie = (1.0 - delta) * math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    truth = (1.0 - delta) / (1.0 + math.exp(-epsilon))
    # Lemma 1 is right; the proof of Lemma 2 exchanges the two distributions.
    return np.array([delta, truth, lie, 0.0]), np.array([0.0, lie, truth, delta])
