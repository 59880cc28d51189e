"""A rehearsed collection of categories, and its summary."""

import numpy as np

from shuffledp.analyzer.frequency import FrequencyEstimate
from shuffledp.randomness import Rng
from shuffledp.statistics.frequency.protocol import WORDS, Frequency
from shuffledp.statistics.level_dependence import dependence_of_categories
from shuffledp.statistics.rehearsal_stage import OnStep
from shuffledp.statistics.rehearsed_collection import Collection, collect
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import (
    CONSISTENT_NOTE,
    Circumstances,
    build_summary,
    estimate_rows,
    off_by_share,
    with_consistent,
)
from shuffledp.types import Floats, Ints


def summarize_frequency(
    collection: Collection[FrequencyEstimate],
    circumstances: Circumstances,
    *,
    names: tuple[str, ...],
    consistent: bool = False,
) -> Summary:
    """Returns the summary of a collection of categories with these names.

    Args:
        collection: From beginning to end.
        circumstances: Of the summary.
        names: Of the k categories.
        consistent: Whether possible shares stand beside the estimates.
    """
    estimate, bias = collection.estimate, collection.dependence
    rows = estimate_rows(
        names,
        estimate.value,
        estimate.standard_error,
        # About the participants, whose truth is known.
        estimate.interval(circumstances.confidence),
        collection.truth,
    )
    if consistent:
        rows = with_consistent(rows, estimate.consistent().value)
    return build_summary(
        WORDS,
        circumstances,
        rows=rows,
        mode=estimate.mode,
        guarantee=collection.guarantee,
        manipulation=collection.manipulation,
        caveats=(CONSISTENT_NOTE,) if consistent else (),
        dependence=bias,
        off_by="" if bias is None else off_by_share(bias, names),
    )


def collect_frequency(
    values: Ints,
    levels: Floats,
    *,
    protocol: Frequency,
    delta: float,
    rng: Rng,
    on_step: OnStep = lambda _step: None,
) -> Collection[FrequencyEstimate]:
    """Runs a collection of one category per person, start to end.

    Args:
        values: Integers in [0, k), shape (n,).
        levels: Each person's local budget in nats, shape (n,).
        protocol: For k categories.
        delta: At which the guarantee is stated, in (0, 1).
        rng: The only source of randomness.
        on_step: Called with the name of each step before it begins.

    Raises:
        InvalidInputError: If anything is out of range.
    """
    people, guarantee, estimate = collect(
        protocol, values, levels, delta=delta, rng=rng, on_step=on_step
    )
    k, dependence = protocol.num_categories, None
    # A stratified estimate stays unbiased if levels depend on values.
    if protocol.mode == "agnostic":
        keep, flip = protocol.randomizer.densities(people.epsilons)
        dependence = dependence_of_categories(
            values, levels, num_categories=k, people=people, slopes=keep - flip
        )
    truth = np.bincount(values, minlength=k) / people.num_users
    return Collection(protocol, truth, people, estimate, guarantee, dependence)
