"""Answers that devices randomize before they are counted: a bound against coalitions.

The answer to each of G groups, "no answer" among its d + 1 values, is randomized by
(d + 1)-ary response at local_epsilon / G. A person's report is post-processing of that: so
shuffler and analyst together learn at most local_epsilon.

The central certificate is that without randomization: two people's randomized answers are
mixtures of pairs of answers, it covers each of these pairs, and the hockey-stick
divergence is jointly convex.
"""

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.counts.counts_parameters import CountsParameters
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.set_response import drawn_blanket_probability
from shuffledp.randomness import Rng
from shuffledp.types import Ints

# Sums of the parts of a local epsilon are rounded: each part is a little smaller.
_SMALLER = 1.0 - 1e-13


def randomized_answers(
    parameters: CountsParameters, answers: Ints, *, rng: Rng
) -> Ints:
    """Runs on the devices: returns randomized answers, shape (n, groups).

    Args:
        parameters: Of the collection, with a local epsilon.
        answers: A bucket of each group, or -1 for no answer, shape (n, groups).
        rng: The only source of randomness.
    """
    epsilons = np.full(answers.shape[0], _group_epsilon(parameters))
    columns = []
    for group, column in zip(parameters.groups, answers.T, strict=True):
        # "No answer" is the last value of the response.
        values = np.where(column < 0, group.buckets, column)
        response = KRandomizedResponse(group.buckets + 1)
        # Of a signed type, which holds -1.
        drawn = response.randomize(values, epsilons, rng=rng).astype(np.int64)
        columns.append(np.where(drawn < group.buckets, drawn, -1))
    return np.stack(columns, axis=1)


def randomized_holders(
    parameters: CountsParameters,
    holders: Ints,
    people: Ints,
    *,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draws how many people of each target are in each bucket after randomization.

    Args:
        parameters: Of the collection, with a local epsilon.
        holders: People of each target in each bucket of a group, shape (targets, d).
        people: People of each target, shape (targets,).
        rng: A simulation's generator.

    Raises:
        InvalidInputError: If there are more holders than people.
    """
    if np.any(holders.sum(axis=1) > people):
        raise InvalidInputError("Expected at most one bucket of a person.")
    values = holders.shape[1] + 1
    keep, _ = keep_and_flip(parameters, values - 1)
    unchanged = rng.binomial(holders, keep)
    num_silent = people - holders.sum(axis=1)
    others = people - unchanged.sum(axis=1) - rng.binomial(num_silent, keep)
    return unchanged + rng.multinomial(others, np.full(values, 1.0 / values))[:, :-1]


def keep_and_flip(parameters: CountsParameters, buckets: int) -> tuple[float, float]:
    """Returns the probabilities that an answer is kept, and that it becomes a given one.

    Args:
        parameters: Of the collection.
        buckets: d of a group.
    """
    if parameters.local_epsilon is None:
        return 1.0, 0.0
    inside = 1.0 / (buckets + 1)
    epsilons = np.array([_group_epsilon(parameters)])
    blanket = float(drawn_blanket_probability(epsilons, inside)[0])
    return 1.0 - blanket, blanket * inside


def _group_epsilon(parameters: CountsParameters) -> float:
    """Returns the local epsilon of each group."""
    assert parameters.local_epsilon is not None
    return parameters.local_epsilon / len(parameters.groups) * _SMALLER
