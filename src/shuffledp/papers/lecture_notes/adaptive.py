"""Shuffled people who are asked one after the other, each question after the last answer.

A permutation pi is drawn; then, for i = 1, ..., n, a randomizer of budget eps_0 that may
depend on the answers before is run on x_pi(i). Theorem 9.4 states, for
eps_0 <= ln(n / (16 ln(2 / delta))), that all answers together are (eps, delta)-private with

    eps = O(sqrt(e^eps_0 ln(1 / delta) / n))  for eps_0 > 1,
    eps = O(eps_0 sqrt(ln(1 / delta) / n))    otherwise.

The theorem with its constants is `papers.bounds.feldman2021`; here all answers of a few
people are listed, and the exact divergence stands beside it.

Errata. The printed randomizers lack a codomain: S^(1) x ... x S^(i-1) x D -> S^(i). The
example after the theorem, noise Lap(sqrt(ln(1 / delta)) / (eps sqrt(n))) on every bit, has
the error sqrt(ln(1 / delta)) / (n eps); printed is 1 / (n eps).

Source: Wang, lecture notes, Theorem 9.4, after Feldman, McMillan, Talwar (2021),
arXiv:2012.12803, Theorem 3.1.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.papers.bounds.bound import check_delta, check_epsilon
from shuffledp.papers.lecture_notes.average import checked
from shuffledp.types import Floats

_MOST_PEOPLE = 6


def answer_law(tables: Sequence[Floats], values: Sequence[int]) -> Floats:
    """Returns the chance of every list of answers, shape (lists,).

    Args:
        tables: Of each question: the chance of every answer, for every list of answers
            before it and every value, shape (lists before, values, answers).
        values: What people hold, shape (n,).

    Raises:
        InvalidInputError: If there are not as many people as questions, or too many.
    """
    n = len(values)
    if not 1 <= n == len(tables) <= _MOST_PEOPLE:
        raise InvalidInputError(
            f"Expected one question for each of at most {_MOST_PEOPLE} people, got "
            f"{len(tables)} and {n}."
        )
    total: Floats = np.zeros(1)
    orders = list(itertools.permutations(range(n)))
    for order in orders:
        law: Floats = np.ones(1)
        for table, person in zip(tables, order, strict=True):
            if table.ndim != 3 or table.shape[0] != law.size:
                raise InvalidInputError("Expected tables that follow each other.")
            law = (law[:, None] * table[:, values[person], :]).ravel()
        total = total + law
    found: Floats = total / len(orders)
    return found


def exact_delta(
    tables: Sequence[Floats],
    values: Sequence[int],
    changed: Sequence[int],
    *,
    epsilon: float,
) -> float:
    """Returns the divergence of two data sets, in the worse direction.

    Args:
        tables: See `answer_law`.
        values: One data set.
        changed: The other one, which differs in one person.
        epsilon: In nats, >= 0.
    """
    growth = math.exp(check_epsilon(epsilon))
    if (
        len(values) != len(changed)
        or sum(a != b for a, b in zip(values, changed, strict=True)) != 1
    ):
        raise InvalidInputError("Expected data sets that differ in one person.")
    here, there = answer_law(tables, values), answer_law(tables, changed)
    return max(
        float(np.maximum(here - growth * there, 0.0).sum()),
        float(np.maximum(there - growth * here, 0.0).sum()),
    )


def printed_epsilon(num_users: int, epsilon_local: float, delta: float) -> float:
    """Returns (9.3) with its constant taken for 1, whatever n is."""
    people, budget = checked(num_users, epsilon_local)
    scale = math.exp(budget / 2.0) if budget > 1.0 else budget
    return scale * math.sqrt(math.log(1.0 / check_delta(delta)) / people)


def condition_holds(num_users: int, epsilon_local: float, delta: float) -> bool:
    """Whether eps_0 <= ln(n / (16 ln(2 / delta)))."""
    people, budget = checked(num_users, epsilon_local)
    return budget <= math.log(people / (16.0 * math.log(2.0 / check_delta(delta))))
