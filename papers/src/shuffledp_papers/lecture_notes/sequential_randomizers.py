"""Sequential randomizers: users in a random order, each randomizer after all answers.

A permutation pi is drawn; then, for i = 1, ..., n, a randomizer of budget eps_0 that may
depend on the answers before is run on x_pi(i). Theorem 9.4 states, for
eps_0 <= ln(n / (16 ln(2 / delta))), that all answers together are (eps, delta)-private with

    eps = O(sqrt(e^eps_0 ln(1 / delta) / n))  for eps_0 > 1,
    eps = O(eps_0 sqrt(ln(1 / delta) / n))    otherwise.

The theorem with its constants is `papers.bounds.feldman2021`; this module computes the
exact divergence of all answers of a few users.

Source: Wang, lecture notes, Theorem 9.4, after Feldman, McMillan, Talwar (2021),
arXiv:2012.12803, Theorem 3.1.
"""

import math
from collections.abc import Sequence

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats
from shuffledp_papers.bounds.bound import check_delta, check_epsilon
from shuffledp_papers.court.worlds import hockey_stick
from shuffledp_papers.eapes.adaptive_process import AdaptiveProcess, LocalLaw
from shuffledp_papers.lecture_notes.mean_errors import checked


def exact_delta(
    tables: Sequence[Floats],
    values: Sequence[int],
    changed: Sequence[int],
    *,
    epsilon: float,
) -> float:
    """Returns the hockey-stick divergence of two data sets, in the worse direction.

    Args:
        tables: Per randomizer: the probability of every answer, for every list of earlier
            answers and every value, shape (earlier lists, values, answers).
        values: One data set, shape (n,).
        changed: The neighboring data set, which differs in one user.
        epsilon: In nats, >= 0.

    Raises:
        InvalidInputError: If tables or data sets do not fit each other.
    """
    if (
        len(values) != len(changed)
        or sum(a != b for a, b in zip(values, changed, strict=True)) != 1
    ):
        raise InvalidInputError("Expected data sets that differ in one person.")
    answers = tables[0].shape[-1]
    for number, table in enumerate(tables):
        # The printed randomizers lack a codomain: S^(1) x ... x S^(i-1) x D -> S^(i).
        if table.ndim != 3 or table.shape[::2] != (answers**number, answers):
            raise InvalidInputError("Expected tables for all lists of earlier answers.")
    # Randomizer i belongs to position i of the order, not to a user (Theorem 9.4).
    process = AdaptiveProcess(tuple(map(_randomizer, tables)), answers, "place")
    # Either of two neighboring data sets may be the true one.
    return hockey_stick(
        process.distribution(values).ravel(),
        process.distribution(changed).ravel(),
        check_epsilon(epsilon),
    )


def _randomizer(table: Floats) -> LocalLaw:
    answers = table.shape[-1]

    def randomizer(earlier: tuple[int, ...], value: int) -> Floats:
        number = 0
        for answer in earlier:
            number = number * answers + answer
        probabilities: Floats = table[number, value]
        return probabilities

    return randomizer


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
