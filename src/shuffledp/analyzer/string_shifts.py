"""Limits of how far dishonest people can move the estimated shares of strings."""

import numpy as np

from shuffledp.analyzer.manipulation import largest_shift
from shuffledp.analyzer.string_estimate import StringEstimate
from shuffledp.arguments import expect_instance
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints, Mode


def string_shifts(
    estimate: StringEstimate,
    level_counts: Ints,
    gaps: Floats,
    *,
    mode: Mode,
    num_liars: int,
) -> Floats:
    """Returns the largest shift of every share, shape (candidates + 1,).

    The last is that of `unexplained`. A report may have any bits; each moves the estimated
    share of its bit by 1 / (N gap), N the people of its cohort. The weights of cohorts in
    the least squares are those of the estimate: they depend on a report only through the
    mean over all bits of a cohort, and not at all where there is one cohort.

    Args:
        estimate: From `decode_strings`.
        level_counts: People of each cohort and level, shape (cohorts, levels).
        gaps: By how much a set bit raises the probability of a 1, shape (levels,).
        mode: "agnostic" or "stratified".
        num_liars: Number of dishonest people.

    Raises:
        InvalidInputError: If the estimate does not know its sensitivity, or there are
            fewer people.
    """
    expect_instance(estimate, StringEstimate)
    if estimate.sensitivity is None:
        raise InvalidInputError("Expected an estimate that was decoded from reports.")
    people = level_counts.sum(axis=1, keepdims=True)
    if mode == "agnostic":
        # No bit says its level: all of a cohort count 1 / (N mean gap).
        per_bit = np.repeat(1.0 / (level_counts @ gaps)[:, None], gaps.size, axis=1)
    else:
        per_bit = 1.0 / (people * gaps)
    # A group for each cohort and level, in the order of the flattened counts.
    shifts = per_bit[:, :, None] * estimate.sensitivity[:, None, :]
    flat = shifts.reshape(-1, shifts.shape[2])
    return largest_shift(flat, level_counts.ravel(), num_liars)
