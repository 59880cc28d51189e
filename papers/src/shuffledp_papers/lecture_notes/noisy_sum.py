"""The noisy sum of bits in the shuffle model, as printed and as it must be.

Every user sends the bit with probability 1 - p and a uniform one with probability p,

    p ~ ln(1 / delta) / (n eps^2),

and the analyst, from the shuffled y_1, ..., y_n, estimates the mean of the bits by

    printed (9.5)   (sum y - p / 2) / (n (1 - p)),
    right           (sum y - n p / 2) / (n (1 - p)).

Theorem 9.6 states an expected error of O(sqrt(ln(1 / delta)) / (n eps)) for the right one.

Source: Wang, lecture notes, Theorem 9.6, eq. (9.4) and (9.5), after Cheu, Smith, Ullman,
Zeber, Zhilyaev (2019), arXiv:1808.01394.
"""

import math

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp_papers.bounds.bound import check_delta
from shuffledp_papers.lecture_notes.mean_errors import checked
from shuffledp_papers.outside_preconditions import OutsidePreconditions


def printed_share(num_users: int, epsilon: float, delta: float) -> float:
    """Returns p = ln(1 / delta) / (n eps^2), with the constant set to 1.

    Raises:
        OutsidePreconditions: Unless eps <= 1, delta >= 2^(-eps n), and p < 1.
    """
    people, target = checked(num_users, epsilon)
    checked_delta = check_delta(delta)
    # The preconditions of Theorem 9.6, the second as a logarithm: 2^(-eps n) underflows.
    if target > 1.0 or math.log2(checked_delta) < -target * people:
        raise OutsidePreconditions(
            "Expected 0 < epsilon <= 1 and delta >= 2^(-epsilon n), got epsilon = "
            f"{target:g}, delta = {checked_delta:g} and n = {people}."
        )
    # The theorem leaves the constant open.
    share = math.log(1.0 / checked_delta) / (people * target**2)
    if share >= 1.0:
        raise OutsidePreconditions(
            f"Expected enough people that p < 1, got p = {share:g} for {people}."
        )
    return share


def printed_estimate(total: float, *, num_users: int, share: float) -> float:
    """Returns (9.5) as printed.

    Args:
        total: Sum of the messages.
        num_users: n.
        share: p, in (0, 1).
    """
    people, p = _checked(num_users, share)
    # The bias is (n - 1) p / (2 n (1 - p)): at n = 1,000, p = 0.3 and a mean of 0.4 the
    # expectation is 0.614.
    return (total - p / 2.0) / (people * (1.0 - p))


def unbiased_estimate(total: float, *, num_users: int, share: float) -> float:
    """Returns (9.5) with n p / 2 in place of p / 2.

    >>> round(unbiased_estimate(430.0, num_users=1_000, share=0.3), 12)
    0.4
    >>> round(printed_estimate(430.0, num_users=1_000, share=0.3), 3)
    0.614

    Args:
        total: Sum of the messages.
        num_users: n.
        share: p, in (0, 1).
    """
    people, p = _checked(num_users, share)
    # n users send n p / 2 ones of noise in the mean, and not p / 2.
    return (total - people * p / 2.0) / (people * (1.0 - p))


def local_budget(share: float) -> float:
    """Returns ln(2 / p - 1), the local budget of these messages."""
    # The bit is sent with probability 1 - p / 2, its complement with p / 2.
    _, p = _checked(1, share)
    return math.log(2.0 / p - 1.0)


def _checked(num_users: int, share: float) -> tuple[int, float]:
    people, _ = checked(num_users, 1.0)
    p = as_number(share, "share of coins")
    if not 0.0 < p < 1.0:
        raise InvalidInputError(f"Expected 0 < p < 1, got {p:g}.")
    return people, p
