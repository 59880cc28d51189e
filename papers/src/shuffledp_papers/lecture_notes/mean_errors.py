"""The mean of bits and of numbers under local privacy: exact errors, and printed rates.

n users (`num_users` >= 1), all at the local budget eps (`epsilon`, above 0 and at most
700), values in [0, m] (`width`, likewise); errors are about the mean of the participants.

| message of a user            | standard error                        | printed         |
|------------------------------|---------------------------------------|-----------------|
| the bit, to a curator        | sqrt(2) / (n eps), Laplace noise      | 1 / (n eps)     |
| a randomized response, m = 1 | 1 / (2 sinh(eps / 2) sqrt(n))         | 1 / sqrt(n eps) |
| x + Lap(m / eps)             | sqrt(2) m / (sqrt(n) eps)             | m / sqrt(n eps) |
| one bit, linear in x         | at most m / (2 tanh(eps / 2) sqrt(n)) |                 |

Source: Wang, lecture notes, section 9.1, eq. (9.1), (9.2) and Theorem 9.3.
"""

import math

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number

_MOST_PEOPLE = 10**10


def central_error(num_users: int, epsilon: float) -> float:
    """Returns the standard error of a curator's Laplace noise on a mean of bits."""
    people, budget = checked(num_users, epsilon)
    # The bound (9.1), 1 / (n eps), holds in the mean only: Laplace noise exceeds its scale
    # with probability 1 / e.
    return math.sqrt(2.0) / (people * budget)


def response_error(num_users: int, epsilon: float) -> float:
    """Returns the standard error of the debiased mean of randomized responses.

    >>> round(response_error(10_000, 0.1), 4)
    0.1
    """
    people, budget = checked(num_users, epsilon)
    # The variance of one debiased response is e^eps / (e^eps - 1)^2, for either bit.
    return 0.5 / math.sinh(budget / 2.0) / math.sqrt(people)


def laplace_error(num_users: int, epsilon: float, *, width: float = 1.0) -> float:
    """Returns the standard error of a mean of numbers, each with its own Laplace noise."""
    people, budget = checked(num_users, epsilon)
    # Laplace noise of scale m / eps has the variance 2 (m / eps)^2.
    return math.sqrt(2.0 / people) * _positive(width, "width") / budget


def one_bit_error(num_users: int, epsilon: float, *, width: float = 1.0) -> float:
    """Returns the largest standard error of (9.2), where all values lie in the middle."""
    people, budget = checked(num_users, epsilon)
    # At the middle of the range every bit is uniform, its variance 1/4.
    return _positive(width, "width") / (
        2.0 * math.tanh(budget / 2.0) * math.sqrt(people)
    )


def printed_rate(num_users: int, epsilon: float, *, width: float = 1.0) -> float:
    """Returns m / sqrt(n eps), the local rate as printed, with its constant set to 1."""
    people, budget = checked(num_users, epsilon)
    # The budget belongs outside of the root, as the printed variances 1 / (n eps^2) and the
    # printed sample sizes 1 / (alpha eps)^2 need: at n = 10,000 and eps = 0.1 randomized
    # response has the error 0.1000, where this rate is 0.0316.
    return _positive(width, "width") / math.sqrt(people * budget)


def local_rate(num_users: int, epsilon: float, *, width: float = 1.0) -> float:
    """Returns m / (sqrt(n) eps), the rate that the printed variances imply."""
    people, budget = checked(num_users, epsilon)
    return _positive(width, "width") / (math.sqrt(people) * budget)


def response_estimate(ones: float, num_users: int, epsilon: float) -> float:
    """Returns the mean of bits from the number of responses that are 1, as printed.

    Args:
        ones: Number of responses that are 1.
        num_users: n.
        epsilon: The local budget of every user.
    """
    people, budget = checked(num_users, epsilon)
    growth = math.exp(budget)
    # Inverts E[bit] = (x (e^eps - 1) + 1) / (e^eps + 1).
    return (ones / people * (growth + 1.0) - 1.0) / (growth - 1.0)


def checked(num_users: int, epsilon: float) -> tuple[int, float]:
    """Returns both arguments; raises InvalidInputError unless both are above 0."""
    people = whole_number(num_users, "people", least=1, most=_MOST_PEOPLE)
    return people, _positive(epsilon, "epsilon")


def _positive(value: float, name: str) -> float:
    number = as_number(value, name)
    # e^eps overflows past 709.
    if not 0.0 < number <= 700.0:
        raise InvalidInputError(f"Expected 0 < {name} <= 700, got {number:g}.")
    return number
