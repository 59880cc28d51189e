"""From counts of ones to the share of people whose filter sets each bit.

In cohort m, a person of level j reports 1 on a bit with chance zero_j + gap_j 1{the
filter sets it}. Write N for the cohort's people and F for the share of *all* people whose
string sets that bit under the hash of cohort m, which is what the decoder needs.

*Agnostic*: with zero and gap averaged over the cohort's people,

    estimate = (ones / N - mean zero) / mean gap.

*Stratified*: each level alone, then added up by the number of people.

Two things make it differ from F. The coins of the devices, with a variance

    F noise_if_set + (1 - F) noise_if_unset;

and who is in the cohort, at which level. If people are dealt to cohorts and levels in an
order that has nothing to do with their strings, that part has a covariance over bits of

    C (spread - 1 / n),    C = covariance of two bits of a random person,

and between cohorts of -C / n, as everybody is in exactly one. For agnostic reports
spread = mean(gap^2) / (mean(gap)^2 N), for stratified ones 1 / N.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints, Mode


@dataclass(frozen=True, eq=False)
class BitShares:
    """Estimates about every bit of every cohort, with their variances.

    Attributes:
        value: Estimated share of people whose filter sets the bit, shape (cohorts,
            bits). It may lie outside of [0, 1].
        noise_if_set: Variance due to coins if everybody's filter sets it, (cohorts,).
        noise_if_unset: The same if nobody's does, shape (cohorts,).
        spread: See the module, shape (cohorts,).
    """

    value: Floats
    noise_if_set: Floats
    noise_if_unset: Floats
    spread: Floats


def bit_shares(
    ones: Ints, *, mode: Mode, level_counts: Ints, one: Floats, zero: Floats
) -> BitShares:
    """Estimates shares as `agnostic_bit_shares` or `stratified_bit_shares` does.

    Args:
        ones: Ones on each bit, shape (cohorts, levels, bits), or (cohorts, 1, bits) of
            bits whose levels are not known.
        mode: "agnostic" or "stratified".
        level_counts: People of each cohort and level, shape (cohorts, levels).
        one: Chance to report 1 on a bit that is set, shape (levels,).
        zero: Chance to report 1 on a bit that is not, shape (levels,).

    Raises:
        InvalidInputError: If bits carry no information.
    """
    if mode == "stratified":
        return stratified_bit_shares(
            ones, level_counts=level_counts, one=one, zero=zero
        )
    return agnostic_bit_shares(
        ones[:, 0], level_counts=level_counts, one=one, zero=zero
    )


def agnostic_bit_shares(
    ones: Ints, *, level_counts: Ints, one: Floats, zero: Floats
) -> BitShares:
    """Estimates shares from bits whose levels are not known.

    Args:
        ones: Ones on each bit, shape (cohorts, bits).
        level_counts: People of each cohort and level, shape (cohorts, levels).
        one: Chance to report 1 on a bit that is set, shape (levels,).
        zero: Chance to report 1 on a bit that is not, shape (levels,).

    Raises:
        InvalidInputError: If every level is 0, so that bits carry no information.
    """
    people = level_counts.sum(axis=1)
    share = level_counts / people[:, None]
    gap = share @ (one - zero)
    _check_informative(float(gap.min()))
    value = (ones / people[:, None] - (share @ zero)[:, None]) / gap[:, None]
    scale = people * gap**2
    return BitShares(
        value,
        noise_if_set=share @ (one * (1.0 - one)) / scale,
        noise_if_unset=share @ (zero * (1.0 - zero)) / scale,
        spread=share @ (one - zero) ** 2 / scale,
    )


def stratified_bit_shares(
    ones: Ints, *, level_counts: Ints, one: Floats, zero: Floats
) -> BitShares:
    """Estimates shares from bits that carry their level.

    Args:
        ones: Ones on each bit, shape (cohorts, levels, bits).
        level_counts: People of each cohort and level, each >= 1, (cohorts, levels).
        one: Chance to report 1 on a bit that is set, shape (levels,).
        zero: Chance to report 1 on a bit that is not, shape (levels,).

    Raises:
        InvalidInputError: If a level is 0: its people's strings stay unknown.
    """
    people = level_counts.sum(axis=1)
    share = level_counts / people[:, None]
    gap = one - zero
    _check_informative(float(gap.min()))
    values = (ones / level_counts[:, :, None] - zero[:, None]) / gap[:, None]
    return BitShares(
        np.einsum("ml,mlb->mb", share, values),
        noise_if_set=share @ (one * (1.0 - one) / gap**2) / people,
        noise_if_unset=share @ (zero * (1.0 - zero) / gap**2) / people,
        spread=1.0 / people,
    )


def ones_per_group(
    bits: NDArray[np.bool_], groups: Ints | None, num_groups: int
) -> Ints:
    """Returns how many ones every bit has in each group, shape (groups, bits).

    Args:
        bits: Shape (n, bits).
        groups: The group of each row, shape (n,); None if there is one group only.
        num_groups: How many there are.
    """
    if groups is None:
        groups = np.zeros(len(bits), dtype=np.uint8)
    order = np.argsort(groups, kind="stable")
    ends = np.searchsorted(groups[order], np.arange(num_groups + 1))
    rows = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    counts = [bits[order[start:end]].sum(axis=0) for start, end in rows]
    ones: Ints = np.array(counts, dtype=np.int64)
    return ones


def _check_informative(gap: float) -> None:
    # Below this, the rounding of the devices' coins is as large as the signal.
    if not gap > 1e-9:
        raise InvalidInputError(
            "Expected privacy budgets well above 0: bits at level 0 are nothing but "
            "noise and cannot be analyzed on their own."
        )
