"""A limit that is claimed of binary data, tried where the exact law is at hand.

Of n people k hold 1, or k + 1 do; all send one of two messages. With p0 and p1 the chances
of the second message, pi = k / n and

    I = (p1 - p0)^2 / ((1 - pi) p0 (1 - p0) + pi p1 (1 - p1)),      mu = sqrt(I / n),

the divergence at epsilon = t mu is mu (phi(t) - t Phi(-t)) + O(1 / n), in both orders.

Source: arXiv:2602.09029, "Fixed-Composition Shuffle Asymptotics in the Full-Support
Gaussian Regime". It states a limit, and no bound at any n: so it is no case of the court.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from shuffledp_papers.court.count_attack import number_inside

SIZES = (200, 800, 3200)


def exact(budget: float, share: float, people: int, t: float) -> tuple[float, ...]:
    """What is claimed at t, and the exact divergences in both orders."""
    lie = 1.0 / (1.0 + math.exp(budget))
    chances, ones = np.array([lie, 1.0 - lie]), int(share * people)
    mean_variance = lie * (1.0 - lie)
    mu = (1.0 - 2.0 * lie) / math.sqrt(mean_variance * people)
    claimed = mu * float(norm.pdf(t) - t * norm.cdf(-t))
    laws = np.zeros((2, people + 1))
    for row, more in zip(laws, (0, 1), strict=True):
        counts = np.array([people - ones - more, ones + more])
        start, law = number_inside(chances, counts)
        row[start : start + law.size] = law
    ratio = math.exp(t * mu)
    return claimed, *(
        float(np.maximum(a - ratio * b, 0.0).sum()) for a, b in (laws, laws[::-1])
    )


@pytest.mark.parametrize("t", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("share", [0.2, 0.5])
@pytest.mark.parametrize("budget", [0.5, 2.0])
def test_what_is_left_of_the_limit_falls_like_one_over_n(
    budget: float, share: float, t: float
) -> None:
    left = []
    for people in SIZES:
        claimed, *found = exact(budget, share, people, t)
        left.append(people * max(abs(claimed - each) for each in found))

    # Times n it has a limit; what falls like 1 / sqrt(n) would double from size to size.
    for one, next_one in itertools.pairwise(left):
        assert next_one <= 1.5 * one + 1e-3
    assert left[-1] <= 0.6
