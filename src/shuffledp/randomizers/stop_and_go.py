"""Numbers drawn by Bernoulli draws: each decides whether the number is larger."""

import numpy as np

from shuffledp.types import Floats


def stop_and_go(ratios: Floats) -> tuple[Floats, Floats]:
    """Returns P(N = j) / P(N >= j) and P(N > j) / P(N >= j), each to some 14 digits.

    Args:
        ratios: P(N = j + 1) / P(N = j) for j = 0, 1, ..., until the remaining terms are 0.
    """
    # tails[j] = P(N >= j) / P(N = j), a sum of positive terms: nothing cancels.
    tails = np.ones(ratios.size + 1)
    with np.errstate(over="ignore"):
        for j in range(ratios.size - 1, -1, -1):
            tails[j] = 1.0 + ratios[j] * tails[j + 1]
    finite = np.isfinite(tails[:-1])
    go = np.ones(ratios.size)
    go[finite] = ratios[finite] * (tails[1:][finite] / tails[:-1][finite])
    return 1.0 / tails[:-1], go
