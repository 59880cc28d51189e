"""The mean of bits and of numbers under local privacy: exact errors, and printed rates.

n people, everybody at the local budget eps, values in [0, m]; errors are about the mean of
those who took part.

| what everybody sends         | standard error                        | printed         |
|------------------------------|---------------------------------------|-----------------|
| her bit, to a curator        | sqrt(2) / (n eps), Laplace noise      | 1 / (n eps)     |
| a randomized response, m = 1 | 1 / (2 sinh(eps / 2) sqrt(n))         | 1 / sqrt(n eps) |
| x + Lap(m / eps)             | sqrt(2) m / (sqrt(n) eps)             | m / sqrt(n eps) |
| one bit, linear in x         | at most m / (2 tanh(eps / 2) sqrt(n)) |                 |

Errata. The printed local rates have the budget under the root, with the number of people:
it belongs outside, 1 / (sqrt(n) eps), as the variances 1 / (n eps^2) beside them say and as
the printed sample sizes 1 / (alpha eps)^2 need. At n = 10,000 and eps = 0.1 randomized
response has the error 0.1000; the printed rate is 0.0316. The bound (9.1) holds in the mean
only: a Laplace number exceeds its scale with chance 1 / e.

Source: Wang, lecture notes, section 9.1, eq. (9.1), (9.2) and Theorem 9.3.
"""

import math

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number

_MOST_PEOPLE = 10**10


def central_error(num_users: int, epsilon: float) -> float:
    """Returns the standard error of a trusted curator's Laplace noise on a mean of bits."""
    people, budget = checked(num_users, epsilon)
    return math.sqrt(2.0) / (people * budget)


def response_error(num_users: int, epsilon: float) -> float:
    """Returns the standard error of the debiased mean of randomized responses.

    >>> round(response_error(10_000, 0.1), 4)
    0.1
    """
    people, budget = checked(num_users, epsilon)
    return 0.5 / math.sinh(budget / 2.0) / math.sqrt(people)


def laplace_error(num_users: int, epsilon: float, *, width: float = 1.0) -> float:
    """Returns the standard error of the mean of numbers with Laplace noise of their own.

    Args:
        num_users: n.
        epsilon: Everybody's budget.
        width: m, the length of the range of values.
    """
    people, budget = checked(num_users, epsilon)
    return math.sqrt(2.0 / people) * _positive(width, "width") / budget


def one_bit_error(num_users: int, epsilon: float, *, width: float = 1.0) -> float:
    """Returns the largest standard error of (9.2), where all values lie in the middle.

    Args:
        num_users: n.
        epsilon: Everybody's budget.
        width: m, the length of the range of values.
    """
    people, budget = checked(num_users, epsilon)
    return _positive(width, "width") / (
        2.0 * math.tanh(budget / 2.0) * math.sqrt(people)
    )


def printed_rate(num_users: int, epsilon: float, *, width: float = 1.0) -> float:
    """Returns m / sqrt(n eps), the local rate as printed, its constant taken for 1."""
    people, budget = checked(num_users, epsilon)
    return _positive(width, "width") / math.sqrt(people * budget)


def local_rate(num_users: int, epsilon: float, *, width: float = 1.0) -> float:
    """Returns m / (sqrt(n) eps), the rate that the printed variances imply."""
    people, budget = checked(num_users, epsilon)
    return _positive(width, "width") / (math.sqrt(people) * budget)


def response_estimate(ones: float, num_users: int, epsilon: float) -> float:
    """Returns the mean of bits from the number of responses that are 1, as printed.

    Args:
        ones: How many responses are 1.
        num_users: n.
        epsilon: Everybody's budget.
    """
    people, budget = checked(num_users, epsilon)
    growth = math.exp(budget)
    return (ones / people * (growth + 1.0) - 1.0) / (growth - 1.0)


def checked(num_users: int, epsilon: float) -> tuple[int, float]:
    """Returns both; raises InvalidInputError unless somebody spends something."""
    people = whole_number(num_users, "people", least=1, most=_MOST_PEOPLE)
    return people, _positive(epsilon, "epsilon")


def _positive(value: float, what: str) -> float:
    number = as_number(value, what)
    if not 0.0 < number <= 700.0:
        raise InvalidInputError(f"Expected 0 < {what} <= 700, got {number:g}.")
    return number
