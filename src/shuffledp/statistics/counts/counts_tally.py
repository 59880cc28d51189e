"""Counts of messages per bucket as a tally holds them, and their checks.

A tally of a protocol whose noise the shuffler adds ends with the number of shuffles that
added it: an estimate subtracts the mean of one.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.counts.counts_parameters import CountGroup, CountsParameters
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.message_counts import (
    check_message_counts,
    count_kinds,
    count_messages,
)
from shuffledp.tally import Tally


def counted_messages(
    parameters: CountsParameters, messages: NDArray[Any]
) -> NDArray[np.int64]:
    """Returns the numbers of a tally, of shuffled messages.

    Args:
        parameters: Of the collection.
        messages: Unvalidated.

    Raises:
        InvalidInputError: If there are others than the protocol's.
    """
    dummy, size = 2 * _num_buckets(parameters), parameters.report_size
    if size is not None:
        return count_messages(messages, dummy=dummy, report_size=size)
    # There are no dummies of devices: they would tell what was not sent.
    counts = count_kinds(messages, most=dummy - 1)
    return _with_one_shuffle(parameters, counts)


def tally_of_one_shuffle(
    parameters: CountsParameters, num_users: int, counts: NDArray[np.int64]
) -> Tally:
    """Returns the tally of counts that were drawn at once, with the noise of one shuffle.

    Args:
        parameters: Of the collection.
        num_users: How many people took part.
        counts: Of messages + and - per bucket, shape (2 * buckets,).
    """
    numbers = _with_one_shuffle(parameters, counts)[None, None, :]
    users = np.array([[num_users]], dtype=np.int64)
    return Tally(parameters.identity, np.zeros(0), users, numbers)


def _with_one_shuffle(
    parameters: CountsParameters, counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns counts of messages as the numbers of a tally of one shuffle."""
    if not parameters.noise_by_shuffler:
        return counts
    _check_plus(counts)
    return np.append(counts, 1)


def checked_counts(parameters: CountsParameters, tally: Tally) -> NDArray[Any]:
    """Returns messages + and - of each bucket, shape (buckets, 2).

    Args:
        parameters: Of the collection.
        tally: It may come from another process, and is not trusted.

    Raises:
        InvalidInputError: If these people, and one shuffle's dummies, cannot have made it.
    """
    d, by_shuffler = _num_buckets(parameters), parameters.noise_by_shuffler
    if tally.counts.shape != (1, 1, 2 * d + by_shuffler) or tally.levels.size:
        raise InvalidInputError(f"Expected a tally of {d} buckets without targets.")
    numbers = tally.counts[0, 0]
    counts: NDArray[Any] = numbers[: 2 * d]
    if not by_shuffler:
        size = parameters.report_size or math.inf
        check_message_counts(counts, size, tally.num_users)
        return counts.reshape(-1, 2)
    if numbers[-1] != 1:
        raise InvalidInputError(
            "Expected a tally of one shuffle, which added dummies once, got one of "
            f"{numbers[-1]}."
        )
    _check_plus(counts)
    largest_counts = [
        group.buckets * 2 * group.noise.messages for group in parameters.groups
    ]
    size = parameters.mean_messages + sum(largest_counts) / max(tally.num_users, 1)
    # Rounded up: a limit for what nobody can have sent.
    check_message_counts(counts, math.ceil(size), tally.num_users)
    return counts.reshape(-1, 2)


def counts_by_group(
    parameters: CountsParameters, counts: NDArray[Any]
) -> Iterator[tuple[CountGroup, NDArray[Any]]]:
    """Yields each group with its buckets' part of counts, in order."""
    first = 0
    for group in parameters.groups:
        yield group, counts[first : first + group.buckets]
        first += group.buckets


def _check_plus(counts: NDArray[Any]) -> None:
    if np.any(counts[1::2] != 0):
        raise InvalidInputError("Expected no messages -: the shuffler adds the noise.")


def _num_buckets(parameters: CountsParameters) -> int:
    return sum(group.buckets for group in parameters.groups)
