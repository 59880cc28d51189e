"""Exact sums of messages that are whole numbers, and averages of the decoded messages."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.types import Floats, Ints

# Messages at a time, so that no partial sum leaves 63 bits.
_BATCH = 1 << 20
# Messages are split at this bit: squares of either part then fit.
_SPLIT = 20


def power_sums(messages: Ints, groups: Ints | None, num_groups: int) -> NDArray[Any]:
    """Returns number, sum and sum of squares of each group's messages.

    Args:
        messages: Whole numbers up to 2^41 in size, shape (n,).
        groups: Each message's group, shape (n,); None for a single group.
        num_groups: How many groups there are.

    Returns:
        Python's whole numbers, of any size, shape (num_groups, 3).
    """
    totals = np.zeros((num_groups, 3), dtype=object)
    for start in range(0, messages.size, _BATCH):
        part = slice(start, start + _BATCH)
        numbers = messages[part].astype(np.int64)
        high = numbers >> _SPLIT
        low = numbers - (high << _SPLIT)
        own = None if groups is None else groups[part]
        columns = [np.ones_like(numbers), numbers, high * high, high * low, low * low]
        count, total, squares, mixed, small = (
            _added(column, own, num_groups).astype(object) for column in columns
        )
        totals[:, 0] += count
        totals[:, 1] += total
        # (2^20 high + low)^2, term by term.
        totals[:, 2] += (squares << 2 * _SPLIT) + (mixed << _SPLIT + 1) + small
    return totals


def check_sums(
    sums: NDArray[Any], senders: NDArray[np.int64], randomizer: NumberRandomizer
) -> None:
    """Raises an error unless these people can have sent messages with these sums.

    Args:
        sums: From `power_sums`, shape (groups, 3).
        senders: People in each group, shape (groups,), each >= 1.
        randomizer: Their randomizer; its messages are all whole numbers of a range.

    Raises:
        InvalidInputError: If they cannot be sums of the senders' messages.
    """
    # A tally may come from another process: its sums are not trusted.
    if sums.shape != (senders.size, 3) or not np.array_equal(sums[:, 0], senders):
        raise InvalidInputError("Expected number, sum and sum of squares of messages.")
    for number, total, squares in sums.tolist():
        around = [total // number, -(-total // number)]
        if max(around) >= 1 << 63 or min(around) < -(1 << 63):
            raise InvalidInputError("Expected sums of the protocol's messages.")
        # Their average lies between messages that can be sent.
        randomizer.check_messages(np.array(around, dtype=np.int64))
        # Cauchy-Schwarz: (sum y)^2 <= n sum y^2.
        if squares * number < total * total:
            raise InvalidInputError("Expected sums of squares that numbers can have.")


def averages_of(
    sums: NDArray[Any], randomizer: NumberRandomizer
) -> tuple[Floats, Floats]:
    """Returns average and variance of decoded messages, both of shape (groups,).

    Args:
        sums: From `power_sums`, shape (groups, 3), of one message at least in each.
        randomizer: Whose messages decode to start + step times the message.
    """
    # Decoding is linear: two messages give its start and step.
    start, end = randomizer.decode(np.array([0, 1])).tolist()
    averages, variances = np.empty(len(sums)), np.empty(len(sums))
    for group, (count, total, squares) in enumerate(sums.tolist()):
        averages[group] = start + (end - start) * (total / count)
        # In whole numbers nothing cancels.
        spread = (count * squares - total * total) / (count * count)
        variances[group] = (end - start) ** 2 * spread
    return averages, variances


def _added(numbers: Ints, groups: Ints | None, num_groups: int) -> NDArray[np.int64]:
    """Returns the sum of each group, shape (num_groups,)."""
    sums = np.zeros(num_groups, dtype=np.int64)
    if groups is None:
        sums[0] = numbers.sum()
    else:
        np.add.at(sums, groups, numbers)
    return sums
