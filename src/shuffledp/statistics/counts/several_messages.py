"""The error of counts from several messages, beside protocols that send one."""

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.planning.collection_design import Yardstick
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_search import CountsSearch
from shuffledp.statistics.counts.noise_families import noise_families

_MESSAGES = 16


def several_messages(
    guarantee: Guarantee, *, buckets: int, share: float
) -> Yardstick | None:
    """Returns the error of a share from a few messages per person; None if there is none.

    Args:
        guarantee: Central epsilons to keep, at a delta.
        buckets: How many categories, at least 2.
        share: Of the category whose error is predicted.
    """
    honest = guarantee.num_users - guarantee.absent
    least = min(level.epsilon_central for level in guarantee.levels)
    if least <= 0.0 or guarantee.delta is None:
        return None
    # Noise for the smallest epsilon is nearly the best for all, and quickly found.
    people = Population.from_counts({least: guarantee.num_users})
    search = CountsSearch(people, buckets, 1, share, guarantee.delta, honest)
    errors = []
    for family in noise_families(
        honest=honest,
        buckets=buckets,
        most=1,
        epsilon=least,
        max_messages=_MESSAGES,
    ):
        # Slots take longer to compare than a yardstick is worth.
        if family.slots == 0:
            try:
                design = search.design(family, guarantee.absent)
            except (CertificationError, InvalidInputError):
                continue
            if design.messages <= _MESSAGES:
                errors.append(design.standard_error / guarantee.num_users)
    if not errors:
        return None
    return Yardstick(
        "several messages per person",
        min(errors),
        f"answers among noise, up to {_MESSAGES} messages in the mean, at the same central "
        "guarantees: `shuffledp plan counts`",
    )
