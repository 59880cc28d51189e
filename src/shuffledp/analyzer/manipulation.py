"""Limits of how far dishonest people can move an estimate that adds up reports.

A dishonest person sends any report that the analyst accepts. Where an estimate is a
constant plus the sum of what reports contribute, replacing one report by another moves it
by at most the largest difference between two contributions, whatever all others send, and
replacing m reports by at most m times as much. The numbers of people at each level are
taken as published: they say how much a report at each level counts.

Source: Cheu, Smith, Ullman (2021), "Manipulation Attacks in Local Differential Privacy",
arXiv:1909.09630, who prove that every protocol of local randomizers lets m of n people
move shares by about m / (n epsilon).
"""

import numpy as np

from shuffledp.analyzer.channel import Channel
from shuffledp.arrays import as_whole
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats, Ints, Mode

# Cells of the range of values by which the steepest part of a curved channel is found.
_CELLS = 1024


def largest_shift(shifts: Floats, counts: Ints, num_liars: int) -> Floats:
    """Returns the sum of the largest shifts of this many people, shape (numbers,).

    >>> largest_shift(np.array([[0.25], [1.0]]), np.array([8, 2]), 3)
    array([2.25])

    Args:
        shifts: Largest shift of each number by one person of each group, shape
            (groups, numbers).
        counts: People of each group, shape (groups,).
        num_liars: Number of dishonest people.

    Raises:
        InvalidInputError: If there are fewer than 1, or more than people.
    """
    people = int(counts.sum())
    check_liars(num_liars, people)
    # The people who count most, first; their order may differ between numbers.
    order = np.argsort(-shifts, axis=0, kind="stable")
    ranked = np.take_along_axis(shifts, order, axis=0)
    before = np.cumsum(counts[order], axis=0) - counts[order]
    num_replaced = np.clip(num_liars - before, 0, counts[order])
    # A group without a dishonest person adds nothing, even where its shift has no bound.
    terms = np.where(num_replaced > 0, ranked, 0.0) * num_replaced
    total: Floats = terms.sum(axis=0)
    return total


def check_liars(num_liars: int, num_users: int) -> None:
    """Raises InvalidInputError unless these are from 1 to all of the people."""
    what = f"dishonest people from 1 to {num_users:,}"
    if not 1 <= as_whole(num_liars, what) <= num_users:
        raise InvalidInputError(f"Expected a whole number of {what}, got {num_liars}.")


def share_shifts(
    gaps: Floats, level_counts: Ints, *, mode: Mode, num_liars: int
) -> float:
    """Returns the largest shift of a share, by reports that support it or do not.

    Args:
        gaps: By how much a value raises the probability of support, shape (levels,).
        level_counts: People of each level, shape (levels,).
        mode: "agnostic" or "stratified".
        num_liars: Number of dishonest people.
    """
    n = int(level_counts.sum())
    if mode == "agnostic":
        # No report says its level: all count 1 / (n mean gap).
        gaps = np.full(gaps.shape, float(level_counts @ gaps) / n)
    return float(largest_shift((1.0 / (n * gaps))[:, None], level_counts, num_liars)[0])


def mean_shift(channel: Channel, span: float, *, mode: Mode, num_liars: int) -> float:
    """Returns the largest shift of a mean.

    Args:
        channel: Of all people; of linear channels the shift is attained.
        span: Largest decoded message minus the smallest.
        mode: "agnostic" or "stratified".
        num_liars: Number of dishonest people.
    """
    counts = channel.counts.astype(np.int64)
    n = channel.num_users
    check_liars(num_liars, n)
    if mode == "agnostic":
        return _solution_shift(channel, span * num_liars / n)
    levels = [channel.level(index) for index in range(counts.size)]
    single = np.array(
        [
            count / n * _solution_shift(level, span / count)
            for level, count in zip(levels, counts.tolist(), strict=True)
        ]
    )
    added = float(largest_shift(single[:, None], counts, num_liars)[0])
    if channel.linear:
        return added
    # Many reports may move a curved channel less than one of them does, times their number:
    # the bound in which every level has all dishonest people may be smaller.
    at_once = sum(
        count / n * _solution_shift(level, span * min(num_liars, count) / count)
        for level, count in zip(levels, counts.tolist(), strict=True)
    )
    return min(added, float(at_once))


def _solution_shift(channel: Channel, step: float) -> float:
    """Returns the largest change of the solution if the average message changes by step."""
    slope = channel.slope()
    # Extrapolated, the solution moves by this much.
    outside = step / slope
    if channel.linear or not np.isfinite(outside):
        return outside
    inside = np.linspace(channel.low, channel.high, _CELLS + 1)
    averages = np.maximum.accumulate(channel.average(inside))
    width = (channel.high - channel.low) / _CELLS
    margin = outside + 2.0 * width
    below = np.linspace(channel.low - margin, channel.low, _CELLS, endpoint=False)
    above = np.linspace(channel.high, channel.high + margin, _CELLS + 1)[1:]
    values = np.concatenate([below, inside, above])
    solved = np.concatenate(
        [
            averages[0] - slope * (channel.low - below),
            averages,
            averages[-1] + slope * (above - channel.high),
        ]
    )
    # A solution in [values[i], values[i + 1]) has an average below that at its upper end,
    # so that it moves to values[j] at most, where solved[j] >= solved[i + 1] + step.
    ends = np.searchsorted(solved, solved[1:] + step * (1.0 + 1e-12))
    starts = np.flatnonzero(ends < solved.size)
    moves = values[ends[starts]] - values[starts]
    return max(float(moves.max()), outside)
