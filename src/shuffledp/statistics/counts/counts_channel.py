"""Dependence of the counts of a group on the people of a collection."""

import numpy as np

from shuffledp.accounting.counts.count_noise import PoissonNoise
from shuffledp.accounting.counts.counts_parameters import CountGroup, CountsParameters
from shuffledp.accounting.counts.sending_rates import positions_of
from shuffledp.accounting.counts.shuffler_noise import ShufflerNoise
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.counts import CountsChannel
from shuffledp.arguments import expect_instance
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.counts.local_floor import keep_and_flip


def channel_of(
    parameters: CountsParameters,
    group: CountGroup,
    people: Population | ChoiceCounts,
) -> CountsChannel:
    """Returns the distribution of a group's counts: see `Counts.channel`.

    Args:
        parameters: Of the collection.
        group: One of its groups.
        people: How many people chose each target.

    Raises:
        UnknownLevelError: If a target is not one of the protocol's.
        InvalidInputError: If numbers of people are estimates.
    """
    choice_counts = (
        ChoiceCounts.of(people) if isinstance(people, Population) else people
    )
    if (
        not isinstance(choice_counts, ChoiceCounts)
        or choice_counts.covariance is not None
    ):
        raise InvalidInputError(
            "Expected exact numbers of people of each target: a Population."
        )
    rates = np.array(parameters.rates)[
        positions_of(choice_counts.choices, parameters.targets)
    ]
    expect_instance(group, CountGroup)
    noise = group.noise
    # The shuffler's noise does not depend on people.
    shared = not isinstance(noise, ShufflerNoise)
    factor = choice_counts.num_users / parameters.honest if shared else 1.0
    has_mean = isinstance(noise, PoissonNoise | ShufflerNoise)
    keep, flip = keep_and_flip(parameters, group.buckets)
    return CountsChannel(
        people=choice_counts.value,
        rates=rates,
        noise_mean=noise.messages * factor if has_mean else 0.0,
        noise_variance=noise.variance * factor,
        noise_cumulant=noise.fourth_cumulant * factor,
        keep=keep,
        flip=flip,
    )
