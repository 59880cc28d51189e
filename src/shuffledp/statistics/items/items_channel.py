"""Counts of messages per item, as a group of counts among blanket messages."""

import numpy as np

from shuffledp.accounting.counts.sending_rates import positions_of
from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.analyzer.counts import CountsChannel
from shuffledp.arguments import expect_instance
from shuffledp.population import Population
from shuffledp.randomizers.items import ItemsRandomizer


def items_channel(
    randomizer: ItemsRandomizer,
    targets: tuple[float, ...],
    rates: tuple[float, ...],
    people: Population | ChoiceCounts,
) -> CountsChannel:
    """Returns how counts of items depend on these people.

    Args:
        randomizer: Of the devices.
        targets: Central epsilons, ascending.
        rates: Probability to send an item, of each target.
        people: How many people chose each target, known or estimated.

    Raises:
        UnknownLevelError: If a target is none of these.
    """
    counts = ChoiceCounts.of(people) if isinstance(people, Population) else people
    expect_instance(counts, ChoiceCounts, Population)
    # Blanket messages that do not fit into a report are left out.
    mean, variance = randomizer.blanket_moments()
    n, d = counts.num_users, randomizer.num_items
    return CountsChannel(
        people=counts.value,
        rates=np.array(rates)[positions_of(counts.choices, targets)],
        noise_mean=n * mean / d,
        # A person's number of them, each of which names any item as likely.
        noise_variance=n * (mean / d * (1.0 - 1.0 / d) + variance / d**2),
        # Intervals of items are those of a normal distribution.
        noise_cumulant=0.0,
        covariance=counts.covariance,
    )
