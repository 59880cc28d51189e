"""The two distributions of counts to which Theorem 1 reduces an adaptive process.

With e = e^{eps_max}, d = delta_max and p_i = 2 (1 - delta_i) / (1 + e^{eps_i}), the
adversary counts three kinds of messages,

    P0 = (D0, D1, D2) + sum over the others of one of three units, with probabilities
         p_i / 2, p_i / 2, 1 - p_i,

where (D0, D1, D2) is one of three units with probabilities (1 - d) e / (1 + e),
(1 - d) / (1 + e) and d. P1 has the first two exchanged. Theorem 1 states that no test of
the messages does better than the best test of P0 against P1.

Errata. T(A, A') = T is printed for T(A, A') >= T, and the sum runs over n - 1 users, for
any target user. With delta = 0 and one common budget the theorem is right, adaptive
messages included; for budgets that differ it is false (`slots`;
docs/theory/any-randomizer.md).

Source: Chen, Cao, Ge (2023), E-APES, Theorem 1, eq. (10) to (13).
"""

import math

import numpy as np

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats
from shuffledp_papers.court.enumeration import count_distribution, with_one_more
from shuffledp_papers.court.worlds import Worlds
from shuffledp_papers.eapes.trade_off import TradeOff, trade_off
from shuffledp_papers.outside_preconditions import OutsidePreconditions


def probabilities(epsilon: float, delta: float = 0.0) -> Floats:
    """Returns the probabilities of each kind of message of one other user, shape (3,).

    >>> probabilities(0.0, 0.5)
    array([0.25, 0.25, 0.5 ])
    """
    # p_i / 2 by e^-eps, which does not overflow.
    half = (1.0 - delta) * math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    return np.array([half, half, 1.0 - 2.0 * half])


def printed_probabilities(epsilon: float, delta: float = 0.0) -> Floats:
    """Returns the three numbers of eq. (10) and (11), which add up to less than 1.

    >>> round(float(printed_probabilities(1.0).sum()), 3)
    0.538
    """
    half = (1.0 - delta) * math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    # The proof of Theorem 1 prints half of the first two.
    return np.array([half, half, delta])


def counted_worlds(budgets: Floats, delta: float = 0.0) -> Worlds:
    """Returns the summands of P0 and P1; the target user has the largest budget.

    Args:
        budgets: Of all users, the target user included, shape (n,).
        delta: Of every user, in [0, 1).

    Raises:
        InvalidInputError: If a budget or delta is out of range.
        OutsidePreconditions: If there are fewer than 2 users.
    """
    levels = np.sort(level_array(budgets))
    if not 0.0 <= delta < 1.0:
        raise InvalidInputError(f"Expected 0 <= delta < 1, got {delta:g}.")
    if levels.size < 2:
        raise OutsidePreconditions(f"Expected at least 2 people, got {levels.size}.")
    lie = probabilities(float(levels[-1]), delta)[0]
    # The third kind, of probability delta, counts as hidden in both worlds; a failure of
    # the randomizer may reveal the value instead.
    first = np.array([1.0 - delta - lie, lie, delta])
    # The largest budget is the target user's; the others are grouped by level.
    groups, counts = np.unique(levels[:-1], return_counts=True)
    others = np.array([probabilities(float(level), delta) for level in groups])
    return Worlds(first, first[[1, 0, 2]], others, counts)


def counted_trade_off(budgets: Floats, delta: float = 0.0) -> TradeOff:
    """Returns T(P0, P1), exactly: all counts are enumerated.

    Args:
        budgets: Of at least 2 and at most about 1,700 users, the target included.
        delta: Of every user, in [0, 1).

    Raises:
        InvalidInputError: If a budget or delta is out of range.
        OutsidePreconditions: If there are fewer than 2 users.
        ValueError: If there are too many.
    """
    worlds = counted_worlds(budgets, delta)
    distribution = count_distribution(worlds)
    return trade_off(
        with_one_more(distribution, worlds.first),
        with_one_more(distribution, worlds.second),
    )
