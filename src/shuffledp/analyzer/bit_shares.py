"""Estimates of the share of people whose Bloom filter sets each bit.

In cohort m, a person of level j reports 1 on a bit with probability p_set_j if their filter
sets it, else p_unset_j; gap_j = p_set_j - p_unset_j. Write N for the cohort's people and F
for the share of *all* people whose string sets that bit under the hash of cohort m, which
the decoder needs.

*Agnostic*: with p_unset_j and gap_j averaged over the cohort's people,

    estimate = (ones / N - mean p_unset) / mean gap.

*Stratified*: each level alone, then added up by the number of people.

The estimate differs from F for two reasons. The random bits of the devices have a variance

    F noise_if_set + (1 - F) noise_if_unset;

and people are assigned to cohorts and levels at random. If that assignment is independent
of their strings, it adds a covariance over bits of

    C (spread - 1 / n),    C = covariance of two bits of a random person,

and between cohorts of -C / n, as every person is in exactly one. For agnostic reports
spread = mean(gap^2) / (mean(gap)^2 N), for stratified ones 1 / N.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints, Mode


@dataclass(frozen=True, eq=False)
class BitShares:
    """Estimated share of every bit of every cohort, with its variances.

    Attributes:
        value: Estimated share of people whose filter sets the bit, shape (cohorts,
            bits). It may lie outside of [0, 1].
        noise_if_set: Variance due to random bits if all filters set it, (cohorts,).
        noise_if_unset: The same if no filter sets it, shape (cohorts,).
        spread: See the module, shape (cohorts,).
        step: By how much one bit of a report moves the share of that bit, at most, shape
            (cohorts,).
    """

    value: Floats
    noise_if_set: Floats
    noise_if_unset: Floats
    spread: Floats
    step: Floats


def bit_shares(
    ones: Ints, *, mode: Mode, level_counts: Ints, p_set: Floats, p_unset: Floats
) -> BitShares:
    """Estimates shares as `agnostic_bit_shares` or `stratified_bit_shares` does.

    Args:
        ones: Ones on each bit, shape (cohorts, levels, bits), or (cohorts, 1, bits) of
            bits whose levels are not known.
        mode: "agnostic" or "stratified".
        level_counts: People of each cohort and level, shape (cohorts, levels).
        p_set: Probability to report 1 on a bit that is set, shape (levels,).
        p_unset: Probability to report 1 on a bit that is not, shape (levels,).

    Raises:
        InvalidInputError: If bits carry no information.
    """
    if mode == "stratified":
        return stratified_bit_shares(
            ones, level_counts=level_counts, p_set=p_set, p_unset=p_unset
        )
    return agnostic_bit_shares(
        ones[:, 0], level_counts=level_counts, p_set=p_set, p_unset=p_unset
    )


def agnostic_bit_shares(
    ones: Ints, *, level_counts: Ints, p_set: Floats, p_unset: Floats
) -> BitShares:
    """Estimates shares from bits whose levels are not known.

    Args:
        ones: Ones on each bit, shape (cohorts, bits).
        level_counts: People of each cohort and level, shape (cohorts, levels).
        p_set: Probability to report 1 on a bit that is set, shape (levels,).
        p_unset: Probability to report 1 on a bit that is not, shape (levels,).

    Raises:
        InvalidInputError: If every level is 0, so that bits carry no information.
    """
    people = level_counts.sum(axis=1)
    share = level_counts / people[:, None]
    gap = share @ (p_set - p_unset)
    _check_informative(float(gap.min()))
    value = (ones / people[:, None] - (share @ p_unset)[:, None]) / gap[:, None]
    # All variances below share the denominator N mean(gap)^2.
    scale = people * gap**2
    return BitShares(
        value,
        noise_if_set=share @ (p_set * (1.0 - p_set)) / scale,
        noise_if_unset=share @ (p_unset * (1.0 - p_unset)) / scale,
        spread=share @ (p_set - p_unset) ** 2 / scale,
        step=1.0 / (people * gap),
    )


def stratified_bit_shares(
    ones: Ints, *, level_counts: Ints, p_set: Floats, p_unset: Floats
) -> BitShares:
    """Estimates shares from bits that carry their level.

    Args:
        ones: Ones on each bit, shape (cohorts, levels, bits).
        level_counts: People of each cohort and level, each >= 1, (cohorts, levels).
        p_set: Probability to report 1 on a bit that is set, shape (levels,).
        p_unset: Probability to report 1 on a bit that is not, shape (levels,).

    Raises:
        InvalidInputError: If a level is 0: its people's strings stay unknown.
    """
    people = level_counts.sum(axis=1)
    share = level_counts / people[:, None]
    gap = p_set - p_unset
    _check_informative(float(gap.min()))
    values = (ones / level_counts[:, :, None] - p_unset[:, None]) / gap[:, None]
    return BitShares(
        np.einsum("ml,mlb->mb", share, values),
        noise_if_set=share @ (p_set * (1.0 - p_set) / gap**2) / people,
        noise_if_unset=share @ (p_unset * (1.0 - p_unset) / gap**2) / people,
        spread=1.0 / people,
        step=1.0 / (people * gap.min()),
    )


def ones_per_group(
    bits: NDArray[np.bool_], groups: Ints | None, num_groups: int
) -> Ints:
    """Returns the number of ones of every bit in each group, shape (groups, bits).

    Args:
        bits: Shape (n, bits).
        groups: The group of each row, shape (n,); None if there is one group only.
        num_groups: Number of groups.
    """
    if groups is None:
        groups = np.zeros(len(bits), dtype=np.uint8)
    # Rows sorted by group: each group is one slice.
    order = np.argsort(groups, kind="stable")
    ends = np.searchsorted(groups[order], np.arange(num_groups + 1))
    rows = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    counts = [bits[order[start:end]].sum(axis=0) for start, end in rows]
    ones: Ints = np.array(counts, dtype=np.int64)
    return ones


def _check_informative(gap: float) -> None:
    # Below this, the rounding of the devices' probabilities is as large as the signal.
    # `not >` refuses NaN, too.
    if not gap > 1e-9:
        raise InvalidInputError(
            "Expected privacy budgets well above 0: bits at level 0 are nothing but "
            "noise and cannot be analyzed on their own."
        )
