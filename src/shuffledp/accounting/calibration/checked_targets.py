"""Central targets as callers state them, checked."""

from collections.abc import Sequence

from shuffledp.arguments import expect_instance, expect_list
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.population import MAX_BUDGET, Population

# Of central targets: doubles below lose digits.
SMALLEST_TARGET = 1e-300


def positive_targets(targets: Sequence[float]) -> list[float]:
    """Returns targets as numbers; raises InvalidInputError unless all are in range."""
    wanted = [as_number(target, "target") for target in expect_list(targets, "targets")]
    for target in wanted:
        if not SMALLEST_TARGET <= target <= MAX_BUDGET:
            raise InvalidInputError(
                f"Expected targets above 0, from {SMALLEST_TARGET:g} to {MAX_BUDGET:g}, "
                f"got {target:g}."
            )
    return wanted


def one_target_each(people: Population, targets: Sequence[float]) -> list[float]:
    """Returns targets as numbers, if there is one for each level.

    Raises:
        InvalidInputError: If one is out of range.
        PopulationError: If there are fewer, or more.
    """
    expect_instance(people, Population)
    wanted = positive_targets(targets)
    if len(wanted) != people.num_levels:
        raise PopulationError(
            f"Expected {people.num_levels} targets, one per level, got {len(wanted)}."
        )
    return wanted
