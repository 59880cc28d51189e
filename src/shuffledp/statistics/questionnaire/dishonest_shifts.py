"""Shifts of sums of coefficients, and of ratios of two, by dishonest people."""

import numpy as np

from shuffledp.analyzer.manipulation import check_liars
from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats


def liars_messages(report_size: float, num_liars: int, num_users: int) -> float:
    """Returns by how much the messages of dishonest people change a sum of coefficients.

    Coefficients are at most 1 in size: a report of messages + where it is 1 differs from
    one of messages - there by twice its size.

    Args:
        report_size: Messages of a report.
        num_liars: Dishonest people.
        num_users: All people.

    Raises:
        InvalidInputError: If there are not as many people.
    """
    check_liars(num_liars, num_users)
    size = as_number(report_size, "messages per report")
    if not size >= 0.0:  # Written this way round, it refuses NaN, too.
        raise InvalidInputError(
            f"Expected at least 0 messages per report, got {size:g}."
        )
    return 2.0 * size * num_liars


def moved_by(messages: float, shifts: Floats) -> Floats:
    """Returns messages times the shift by each, 0 where there are none or it is 0.

    Args:
        messages: From `liars_messages`; may be infinite.
        shifts: Of each number; may be infinite.
    """
    if messages == 0.0:
        return np.zeros(shifts.shape)
    # Infinity times 0 would be NaN: what no message moves stays, however many are sent.
    moves = shifts > 0.0
    return np.where(moves, messages * np.where(moves, shifts, 1.0), 0.0)


def furthest_ratio(
    above: Floats,
    below: Floats,
    above_shift: Floats,
    below_shift: Floats,
    smallest_divisor: float,
) -> Floats:
    """Returns how far ratios may move if their two parts move; infinite near 0.

    (T + a) / (N + b) is furthest from T / N at an end of both: it is linear in a, and
    monotone in b as long as N + b is above 0.

    >>> one = np.array([1.0])
    >>> furthest_ratio(one, 4.0 * one, one, 2.0 * one, 0.0).tolist()
    [0.75]

    Args:
        above: T, shape (ratios,).
        below: N, the same.
        above_shift: By how much T moves at most, at least 0.
        below_shift: By how much N moves at most, at least 0.
        smallest_divisor: The ratio divides by this where N is smaller; at least 0.
    """
    is_known = below - below_shift > 0.0
    divisor = np.maximum(np.where(is_known, below, 1.0), smallest_divisor)
    ratio, furthest = above / divisor, np.zeros(above.shape)
    for top in (above - above_shift, above + above_shift):
        for bottom in (below - below_shift, below + below_shift):
            moved_ratio = top / np.maximum(
                np.where(is_known, bottom, 1.0), smallest_divisor
            )
            furthest = np.maximum(furthest, np.abs(moved_ratio - ratio))
    return np.where(is_known, furthest, np.inf)
