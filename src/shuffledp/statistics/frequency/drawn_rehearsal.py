"""Frequencies rehearsed on a population of any size, by drawing its tally."""

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.frequency.rehearsal import partial_frequency
from shuffledp.statistics.rehearsal_stage import Stage
from shuffledp.statistics.summary import Summary
from shuffledp.types import Ints


def rehearse_drawn(
    stage: Stage,
    protocol: Frequency,
    holders: Ints,
    people: Population,
    source: str,
    *,
    names: tuple[str, ...],
) -> Summary:
    """Rehearses a population of any size, whose tally is drawn from its distribution.

    Args:
        stage: Settings, with a simulation's generator.
        protocol: The protocol that is run.
        holders: People of each level who hold each category, shape (levels, k).
        people: The population that takes part.
        source: Where values come from, as text.
        names: Of the k categories.
    """
    if not isinstance(stage.rng, np.random.Generator):
        raise InvalidInputError("Expected a seed: tallies are drawn in simulations.")
    parts = partial_frequency(protocol, names)
    # The accountant runs first, as in `collect`.
    stage.on_step("certify")
    guarantee = account(protocol, people, delta=stage.delta)
    # One draw of the tally takes the place of the messages of all people.
    stage.on_step("draw")
    tally = protocol.draw_tally(holders, people, rng=stage.rng)
    estimate = protocol.estimate(tally, people)
    # Holders by level are what parts of the people add up to.
    collection = parts.collected(people, guarantee, estimate, holders)
    return parts.summarize(collection, stage.circumstances(source))
