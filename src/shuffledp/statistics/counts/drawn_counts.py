"""Counts of a whole collection, drawn without drawing any message."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.counts.counts_parameters import CountsParameters
from shuffledp.arrays import unmasked
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.counts.local_floor import randomized_holders
from shuffledp.statistics.counts.noise_draws import draw_noise
from shuffledp.types import Floats, Ints


def draw_counts(
    parameters: CountsParameters,
    holders: Sequence[Ints],
    people: Population,
    rates: Floats,
    *,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draws messages + and - of all buckets in turn, shape (2 buckets,).

    Args:
        parameters: Of the collection.
        holders: For each group, people of each target in each bucket, shape
            (people.num_levels, buckets).
        people: How many people chose each target.
        rates: Probability to send an answer, of each of these targets.
        rng: A simulation's generator.

    Raises:
        InvalidInputError: If holders are not those of these people.
    """
    drawn = []
    for group, group_holders in zip(parameters.groups, holders, strict=True):
        answers = unmasked(group_holders, "numbers")
        if answers.shape != (people.num_levels, group.buckets) or answers.min() < 0:
            raise InvalidInputError(
                "Expected numbers of people by target and bucket, of shape "
                f"({people.num_levels}, {group.buckets})."
            )
        if np.any(answers > people.counts[:, None]):
            raise InvalidInputError("Expected no more holders than people.")
        if parameters.local_epsilon is not None:
            answers = randomized_holders(parameters, answers, people.counts, rng=rng)
        counts = draw_noise(
            group, num_users=people.num_users, num_honest=parameters.honest, rng=rng
        )
        counts[:, 0] += rng.binomial(answers, rates[:, None]).sum(axis=0)
        drawn.append(counts.ravel())
    return np.concatenate(drawn)
