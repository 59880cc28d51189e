"""Exact sums of messages that are whole numbers, and averages of the decoded messages."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.analyzer.channel import Moments
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.number_randomizer import NumberRandomizer, estimation_moments
from shuffledp.types import Floats, Ints

# Messages at a time, so that no partial sum leaves 63 bits.
_BATCH = 1 << 20
# Messages are split at this bit: squares of either part then fit.
_SPLIT = 20
# Messages farther out are taken for those of a range without an end.
_FAR = 1 << 62


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
        part_groups = None if groups is None else groups[part]
        columns = [np.ones_like(numbers), numbers, high * high, high * low, low * low]
        count, total, squares, mixed, small = (
            _added(column, part_groups, num_groups).astype(object) for column in columns
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


def shifted_moments(randomizer: NumberRandomizer, shift: float) -> Moments:
    """Returns the moments of messages plus `shift` about values that are higher by it."""
    moments_of = estimation_moments(randomizer)

    def moments(epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        # In the randomizer's range, which is lower by the shift.
        mean, variance = moments_of(epsilons, values - shift)
        return mean + shift, variance

    return moments


def message_span(randomizer: NumberRandomizer) -> float:
    """Returns the largest decoded message minus the smallest; infinite without a limit.

    Args:
        randomizer: Whose messages are all whole numbers of a range with 0 in it.
    """
    ends = np.array([_outermost(randomizer, -1), _outermost(randomizer, 1)])
    if np.any(np.abs(ends) >= _FAR):
        return math.inf
    lowest_message, highest_message = randomizer.decode(ends).tolist()
    return abs(float(highest_message) - float(lowest_message))


def _outermost(randomizer: NumberRandomizer, sign: int) -> int:
    """Returns the last message in one direction, _FAR away if there is none."""
    # A randomizer says of a message that it is one, and not which is the last.
    inside, outside = 0, 1
    while outside < _FAR and _is_message(randomizer, sign * outside):
        inside, outside = outside, 2 * outside
    if outside >= _FAR:
        return sign * _FAR
    while outside - inside > 1:
        middle = (inside + outside) // 2
        if _is_message(randomizer, sign * middle):
            inside = middle
        else:
            outside = middle
    return sign * inside


def _is_message(randomizer: NumberRandomizer, message: int) -> bool:
    try:
        randomizer.check_messages(np.array([message], dtype=np.int64))
    except InvalidInputError:
        return False
    return True


def _added(numbers: Ints, groups: Ints | None, num_groups: int) -> NDArray[np.int64]:
    """Returns the sum of each group, shape (num_groups,)."""
    sums = np.zeros(num_groups, dtype=np.int64)
    if groups is None:
        sums[0] = numbers.sum()
    else:
        np.add.at(sums, groups, numbers)
    return sums
