"""The errors of counts from several messages and of a curator, beside single messages."""

from collections.abc import Mapping

import numpy as np

from shuffledp.accounting.counts.rate_statement import LEAST_DELTA
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.planning.collection_design import Yardstick
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_search import CountsSearch
from shuffledp.statistics.counts.hashed_counts import hashed_counts
from shuffledp.statistics.counts.noise_families import USUAL_MESSAGES, noise_families

# Smaller epsilons are rounded up to this one for a curator, larger ones down to the other.
_SMALLEST, _LARGEST = 1e-12, 100.0


def curator_of_counts(
    targets: Mapping[float, int], *, delta: float, buckets: int, share: float
) -> float:
    """Returns the error of a share from a trusted curator, as `plan counts` states it.

    Args:
        targets: Central epsilons, and people at each.
        delta: Of the targets.
        buckets: How many categories; 1 for yes or no.
        share: Of the category whose error is predicted.
    """
    people: dict[float, int] = {}
    for epsilon, count in targets.items():
        clipped = float(np.clip(epsilon, _SMALLEST, _LARGEST))
        people[clipped] = people.get(clipped, 0) + count
    population = Population.from_counts(people)
    num_users = population.num_users
    search = CountsSearch(population, buckets, 1, share, delta, num_users)
    return search.curator() / num_users


def several_messages(
    targets: Mapping[float, int],
    *,
    delta: float,
    absent: int,
    buckets: int,
    share: float,
) -> Yardstick | None:
    """Returns the error of a share from a few messages per person; None if there is none.

    Args:
        targets: Central epsilons to keep, and people at each.
        delta: Of the targets.
        absent: People who may add no noise.
        buckets: How many categories, at least 2.
        share: Of the category whose error is predicted.
    """
    people = Population.from_counts(dict(targets))
    smallest_target = float(people.epsilons[0])
    # Reports of several messages are certified from a delta on; single ones below, too.
    if smallest_target <= 0.0 or delta < LEAST_DELTA:
        return None
    num_honest = people.num_users - absent
    search = CountsSearch(people, buckets, 1, share, delta, num_honest)
    errors = []
    for family in noise_families(
        num_honest=num_honest,
        buckets=buckets,
        most=1,
        epsilon=smallest_target,
        max_messages=USUAL_MESSAGES,
    ):
        # Slots pay for a constant size: where sizes may vary, others have smaller errors.
        if family.slots == 0:
            try:
                design = search.design(family, absent)
            except (CertificationError, InvalidInputError):
                continue
            if design.messages <= USUAL_MESSAGES:
                errors.append(design.standard_error / people.num_users)
    if errors:
        return Yardstick(
            "several messages per person",
            min(errors),
            f"answers among noise, up to {USUAL_MESSAGES} messages in the mean, at the "
            "same central guarantees: `shuffledp plan counts`",
        )
    wish = Wish(targets=targets, delta=delta, absent=absent)
    try:
        hashed = hashed_counts(wish, buckets=buckets, max_messages=USUAL_MESSAGES)
    except CertificationError:
        return None
    return Yardstick(
        "several messages per person, hashed",
        hashed.standard_error / people.num_users,
        f"categories hashed to fewer buckets, up to {USUAL_MESSAGES} messages in the mean, "
        "if frequencies are in proportion to 1 / rank: `shuffledp plan counts`",
    )
