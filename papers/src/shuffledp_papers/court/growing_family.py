"""A family of populations for which no constant C of E-APES, Theorem 3, is large enough.

One target user has budget a = 0.5, the n - 1 others b = 2; all add Laplace noise to a value
in [0, 1], and the analyst sees all shuffled messages. The others hold 0. Let the event be
that some message is above t = -2 ln u. An other's message is with probability u^4 / 2; the
target user's with u / 2 if they hold 0, and e^(1/2) u / 2 if they hold 1. With
s = (1 - u^4 / 2)^(n - 1), at every epsilon < 1/2

    delta >= s (e^(1/2) - e^epsilon) u / 2 - (e^epsilon - 1) (1 - s).

At u^3 = (e^(1/2) - e^epsilon) / (4 n (e^epsilon - 1)) this is of the order n^(-1/3). What
mu-GDP states falls exponentially in n, and Theorem 3 adds

    (1 + e^epsilon) C / sqrt(n - 1),

of the order n^(-1/2): every C fails from some n on, of the order C^6.

Source of the statement: Chen, Cao, Ge (2023), section 4.2, with Theorem 3. Corollary 1 is
about the output of Algorithm 2, the mean alone, which this does not contradict.
"""

import math

from scipy.special import ndtr

_OWN, _OTHERS = 0.5, 2.0


def stated_delta(epsilon: float, num_users: float, constant: float) -> float:
    """Returns the delta of mu-GDP with the error term of the constant C.

    Args:
        epsilon: > 0.
        num_users: n, which may be above any integer type.
        constant: C >= 0.
    """
    mu = math.sqrt(2.0 * (1.0 + math.exp(_OTHERS)) / (num_users - 1.0))
    shifted = math.exp(epsilon) * ndtr(-epsilon / mu - mu / 2.0)
    gaussian = float(ndtr(-epsilon / mu + mu / 2.0) - shifted)
    slack = (1.0 + math.exp(epsilon)) / math.sqrt(num_users - 1.0)
    return gaussian + slack * constant


def reached_delta(epsilon: float, num_users: float) -> float:
    """Returns a lower bound of delta: how well one event tells the values apart.

    Args:
        epsilon: In (0, 1/2).
        num_users: n.
    """
    gain = math.exp(_OWN) - math.exp(epsilon)
    share = (gain / (4.0 * num_users * math.expm1(epsilon))) ** (1.0 / 3.0)
    # ln(s); 1 - s would cancel.
    none = (num_users - 1.0) * math.log1p(-0.5 * share**4)
    alone = math.exp(none) * 0.5 * share * gain
    reached: float = alone + math.expm1(epsilon) * math.expm1(none)
    return reached


def needed_constant(epsilon: float, num_users: float) -> float:
    """Returns the smallest C that the family does not contradict.

    >>> [round(needed_constant(0.45, n), 3) for n in (1e3, 1e6, 1e9, 1e12)]
    [0.012, 0.039, 0.122, 0.385]
    """
    slack = stated_delta(epsilon, num_users, 1.0) - stated_delta(
        epsilon, num_users, 0.0
    )
    missing = reached_delta(epsilon, num_users) - stated_delta(epsilon, num_users, 0.0)
    return missing / slack
