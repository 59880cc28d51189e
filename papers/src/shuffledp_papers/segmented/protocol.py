"""The collection of sets of Wang et al. (2025) with the parameters that they publish.

For given blanket messages m, every target takes the largest sampling rate that Theorem 3
states to keep it. m is searched for between the needs of the largest and of the smallest
target for a rate of 1, such that the bound

    (n m + s sum_k n_k lambda_k) / (sum_k n_k lambda_k)^2

on the sum of squared errors is least. Nothing of this is certified, and Theorem 3 is false
as stated: see `papers.segmented.privacy`. All other steps are those of `ItemsFramework`.

Errata. E_0 and L_2, L_3 of section 6 are E_1 and S_2, S_3; others stand beside the lines
that they are about.

Source: Wang et al. (2025), "Segmented Private Data Aggregation in the Multi-message Shuffle
Model", section 5.2 and Algorithm 1.
"""

import numpy as np

from shuffledp.analyzer.choice_counts import ChoiceCounts
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.protocol import Items
from shuffledp_papers.segmented.best_blanket import best_blanket
from shuffledp_papers.segmented.privacy import largest_sampling_rate, smallest_blanket


def published_rates(
    people: Population, *, num_items: int, set_size: int, blanket: float, delta: float
) -> tuple[float, ...]:
    """Returns the sampling rate that Theorem 3 states for every target.

    Args:
        people: Central targets, and the number of users who ask for each.
        num_items: d.
        set_size: s.
        blanket: m, above 0.
        delta: At which targets are stated.
    """
    return tuple(
        largest_sampling_rate(
            people.num_users,
            num_items=num_items,
            blanket_messages=blanket,
            epsilon=target,
            delta=delta,
            items_per_user=set_size,
        )
        for target in people.epsilons.tolist()
    )


def error_kinks(
    people: Population, *, num_items: int, set_size: int, delta: float
) -> list[float]:
    """Returns the m from which on each target may send everything, by Theorem 3."""
    # There errors are not smooth.
    return [
        smallest_blanket(
            people.num_users,
            num_items=num_items,
            epsilon=target,
            delta=delta,
            items_per_user=set_size,
        )
        for target in people.epsilons.tolist()
    ]


def published_mse(
    people: Population, rates: tuple[float, ...], *, set_size: int, blanket: float
) -> float:
    """Returns the paper's bound on the sum of squared errors about a population."""
    # sum_k n_k lambda_k, the expected number of senders of an item that all users hold.
    # Printed denominators sum over people i where targets k are meant.
    signal = float(people.counts @ np.array(rates))
    # The printed sum of variances has a factor d too many; its result n m is right.
    return (people.num_users * blanket + set_size * signal) / signal**2


def published_items(
    people: Population,
    *,
    num_items: int,
    set_size: int,
    delta: float,
    blanket: float | None = None,
) -> Items:
    """Returns the protocol with the parameters of least error bound.

    Args:
        people: Central targets, and the number of users who ask for each.
        num_items: d.
        set_size: s.
        delta: At which targets are stated.
        blanket: m, if communication is given; by default the best.
    """

    def rates(m: float) -> tuple[float, ...]:
        return published_rates(
            people, num_items=num_items, set_size=set_size, blanket=m, delta=delta
        )

    def error(m: float) -> float:
        return published_mse(people, rates(m), set_size=set_size, blanket=m)

    if blanket is None:
        # From m_K to m_1, which the text exchanges: the strictest target needs the
        # most.
        kinks = error_kinks(people, num_items=num_items, set_size=set_size, delta=delta)
        blanket = best_blanket(error, kinks)
    # The paper draws blanket messages as Bernoulli draws, not as Poisson numbers.
    return Items(
        num_items,
        set_size,
        tuple(people.epsilons.tolist()),
        rates(blanket),
        blanket,
        noise="bernoulli",
    )


def plan_published(framework: ItemsFramework, chosen: ChoiceCounts) -> Items:
    """Returns the protocol that step (b) of a framework publishes: not certified.

    Theorem 3 sets its rates. Devices run its `randomize` in step (c), and its `estimate` is
    step (d).

    Args:
        framework: Items, set size, targets, delta and, if it is given, the blanket.
        chosen: Counts of the chosen targets, from step (a).

    Raises:
        InvalidInputError: If users may be absent: Theorem 3 counts all of them.
    """
    # n of Theorem 3 is the number of users who send blanket messages.
    if framework.absent:
        raise InvalidInputError("Expected nobody absent: Theorem 3 counts everybody.")
    return published_items(
        chosen.people(),
        num_items=framework.num_items,
        set_size=framework.set_size,
        delta=framework.delta,
        blanket=framework.blanket,
    )
