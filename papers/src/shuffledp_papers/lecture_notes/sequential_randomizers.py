"""Sequential randomizers: users in a random order, each randomizer after all answers.

A permutation pi is drawn; then, for i = 1, ..., n, a randomizer of budget eps_0 that may
depend on the answers before is run on x_pi(i). Theorem 9.4 states, for
eps_0 <= ln(n / (16 ln(2 / delta))), that all answers together are (eps, delta)-private with

    eps = O(sqrt(e^eps_0 ln(1 / delta) / n))  for eps_0 > 1,
    eps = O(eps_0 sqrt(ln(1 / delta) / n))    otherwise.

The theorem with its constants is `papers.bounds.feldman2021`; this module enumerates all
answers of a few users and computes the exact divergence.

Source: Wang, lecture notes, Theorem 9.4, after Feldman, McMillan, Talwar (2021),
arXiv:2012.12803, Theorem 3.1.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import check_delta, check_epsilon
from shuffledp_papers.court.worlds import hockey_stick
from shuffledp_papers.lecture_notes.mean_errors import checked

# n! orders are enumerated, each with all lists of answers.
_MOST_PEOPLE = 6


def answer_distribution(tables: Sequence[Floats], values: Sequence[int]) -> Floats:
    """Returns the probability of every list of answers, shape (lists,).

    Args:
        tables: Per randomizer: the probability of every answer, for every list of earlier
            answers and every value, shape (earlier lists, values, answers).
        values: Of the users, shape (n,).

    Raises:
        InvalidInputError: If there are not as many users as randomizers, or too many.
    """
    n = len(values)
    if not 1 <= n == len(tables) <= _MOST_PEOPLE:
        raise InvalidInputError(
            f"Expected one randomizer for each of at most {_MOST_PEOPLE} users, got "
            f"{len(tables)} and {n}."
        )
    # Randomizer i belongs to position i of the order, not to a user (Theorem 9.4).
    total: Floats = np.zeros(1)
    orders = list(itertools.permutations(range(n)))
    for order in orders:
        probabilities: Floats = np.ones(1)
        for table, person in zip(tables, order, strict=True):
            # The printed randomizers lack a codomain: S^(1) x ... x S^(i-1) x D -> S^(i).
            if table.ndim != 3 or table.shape[0] != probabilities.size:
                raise InvalidInputError(
                    "Expected tables for all lists of earlier answers."
                )
            probabilities = (
                probabilities[:, None] * table[:, values[person], :]
            ).ravel()
        total = total + probabilities
    distribution: Floats = total / len(orders)
    return distribution


def exact_delta(
    tables: Sequence[Floats],
    values: Sequence[int],
    changed: Sequence[int],
    *,
    epsilon: float,
) -> float:
    """Returns the hockey-stick divergence of two data sets, in the worse direction.

    Args:
        tables: See `answer_distribution`.
        values: One data set.
        changed: The neighboring data set, which differs in one user.
        epsilon: In nats, >= 0.
    """
    if (
        len(values) != len(changed)
        or sum(a != b for a, b in zip(values, changed, strict=True)) != 1
    ):
        raise InvalidInputError("Expected data sets that differ in one person.")
    # Either of two neighboring data sets may be the true one.
    return hockey_stick(
        answer_distribution(tables, values),
        answer_distribution(tables, changed),
        check_epsilon(epsilon),
    )


def printed_epsilon(num_users: int, epsilon_local: float, delta: float) -> float:
    """Returns (9.3) with its constant set to 1, whether or not its condition holds."""
    people, budget = checked(num_users, epsilon_local)
    # sqrt(e^eps_0) above 1, eps_0 otherwise.
    scale = math.exp(budget / 2.0) if budget > 1.0 else budget
    return scale * math.sqrt(math.log(1.0 / check_delta(delta)) / people)


def condition_holds(num_users: int, epsilon_local: float, delta: float) -> bool:
    """Returns whether eps_0 <= ln(n / (16 ln(2 / delta)))."""
    people, budget = checked(num_users, epsilon_local)
    return budget <= math.log(people / (16.0 * math.log(2.0 / check_delta(delta))))
