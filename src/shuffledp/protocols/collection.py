"""A whole collection in one process: devices, shuffler, analyst and accountant.

The values are known here, so this is a rehearsal: it shows what the analyst would have
seen and how far off she would have been.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.account import account
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.frequency import FrequencyEstimate
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.protocols.frequency import Frequency
from shuffledp.randomness import Rng
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.types import Floats, Ints

STEPS = ("certify", "randomize", "shuffle", "estimate")


@dataclass(frozen=True, eq=False)
class FrequencyCollection:
    """What came out of one collection, and what it was worth.

    Attributes:
        categories: Names, in the order of `estimate.value`.
        truth: The true share of each category, shape (k,).
        people: Who took part.
        estimate: What the analyst learns.
        guarantee: What that is worth for the people of every level.
    """

    categories: tuple[str, ...]
    truth: Floats
    people: Population
    estimate: FrequencyEstimate
    guarantee: Guarantee


def assign_levels(shares: dict[float, float], num_users: int, *, rng: Rng) -> Floats:
    """Gives people levels in the stated shares, in random order, shape (num_users,).

    Counts are rounded so that they add up; nobody's value plays a part.

    Raises:
        InvalidInputError: If shares are not positive, do not add up to 1, or leave a
            level without anybody.
    """
    epsilons, parts = np.array(list(shares)), np.array(list(shares.values()))
    if not (np.all(parts > 0) and abs(parts.sum() - 1.0) < 1e-9):
        raise InvalidInputError(
            "Expected positive shares of people that add up to 1, "
            f"got a sum of {parts.sum():g}."
        )
    ends = np.rint(np.cumsum(parts) * num_users).astype(np.int64)
    counts = np.diff(ends, prepend=0)
    if counts.min() < 1:
        raise InvalidInputError(
            f"Expected enough people for every level, got {num_users} for the shares "
            f"{', '.join(f'{part:g}' for part in parts)}."
        )
    levels: Floats = np.repeat(epsilons, counts)[rng.permutation(num_users)]
    return levels


def collect_frequency(
    values: Ints,
    levels: Floats,
    *,
    categories: tuple[str, ...],
    protocol: Frequency,
    delta: float,
    rng: Rng,
    on_step: Callable[[str], None] = lambda _step: None,
) -> FrequencyCollection:
    """Runs a collection of one value per person, start to end.

    Args:
        values: Integers in [0, k), shape (n,).
        levels: Each person's local budget in nats, shape (n,).
        categories: The k names.
        protocol: With num_categories = k.
        delta: At which the guarantee is stated, in (0, 1).
        rng: The only source of randomness.
        on_step: Called with the name of each of STEPS before it begins.

    Raises:
        InvalidInputError: If anything is out of range; the accountant runs first, so
            that nothing is collected without a guarantee.
    """
    people = Population.from_budgets(levels)
    on_step("certify")
    guarantee = account(protocol, people, delta=delta)
    on_step("randomize")
    reports = protocol.randomize(values, levels, rng=rng)
    on_step("shuffle")
    shuffled = shuffle(reports, rng=rng)
    on_step("estimate")
    estimate = protocol.estimate(shuffled, people)
    truth = np.bincount(values, minlength=protocol.num_categories) / people.num_users
    return FrequencyCollection(categories, truth, people, estimate, guarantee)
