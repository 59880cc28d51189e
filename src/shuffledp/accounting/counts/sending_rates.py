"""Targets that people choose, and the probabilities to send that go with them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.arrays import as_number, level_array
from shuffledp.errors import InvalidInputError, UnknownLevelError
from shuffledp.types import Ints

# Targets that an error names at most.
_MOST_NAMED = 5


def positions_of(requested: ArrayLike, targets: Sequence[float]) -> Ints:
    """Returns positions of requested targets among those on offer, shape as `requested`.

    Raises:
        UnknownLevelError: If a target is none of them.
    """
    requested_targets, known_targets = (
        level_array(requested, "targets"),
        np.array(targets),
    )
    positions = np.minimum(
        np.searchsorted(known_targets, requested_targets), known_targets.size - 1
    )
    # Written this way round, it refuses NaN, too.
    if not np.array_equal(known_targets[positions], requested_targets):
        offered = ", ".join(f"{target:g}" for target in targets[:_MOST_NAMED])
        raise UnknownLevelError(
            "Expected every target to be one of those that the counts are planned for: "
            f"{offered}{', ...' if len(targets) > _MOST_NAMED else ''}."
        )
    return positions


def check_probability(send_probability: float) -> float:
    """Returns a probability to send; raises InvalidInputError if it is none."""
    probability = as_number(send_probability, "probability to send")
    if not 0.0 <= probability <= 1.0:
        raise InvalidInputError(
            f"Expected probabilities to send in [0, 1], got {probability:g}."
        )
    return probability
