"""Shuffle of all messages of all reports in one pool.

Reports of a pool have equally many messages, dummies among them; loose reports have none,
and different numbers of messages. Shuffled messages reveal neither which of them came from
the same person, nor how many did, nor their levels.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.reports import Reports, ShuffledReports
from shuffledp.types import Ints

# Number of keys: times 2^31, for the message, they fit into a signed word.
_KEYS = 2**32


def shuffled_pool(reports: Reports, *, rng: Rng) -> ShuffledReports:
    """Puts all messages into a uniformly random order, which dissolves the rows."""
    messages = _shuffled(reports, rng=rng)
    return ShuffledReports(
        reports.identity, messages.reshape(reports.messages.shape), None, "pool"
    )


def shuffled_loose(
    reports: Reports, *, rng: Rng, dummies: Ints | None = None
) -> ShuffledReports:
    """Puts the messages that there are into a uniformly random order, one array.

    Args:
        reports: Of people.
        rng: The only source of randomness.
        dummies: Messages that the shuffler adds, shape (dummies,).
    """
    messages = reports.messages.flatten()
    # Room for the largest report is in memory only: its width would tell a person's noise.
    messages = messages[messages >= 0]
    if dummies is not None:
        messages = np.concatenate([messages, dummies.astype(messages.dtype)])
    sent_reports = replace(reports, messages=messages)
    return ShuffledReports(
        reports.identity,
        _shuffled(sent_reports, rng=rng),
        None,
        reports.arrangement,
        senders=reports.num_users,
    )


def _shuffled(reports: Reports, *, rng: Rng) -> NDArray[Any]:
    if reports.cohorts is not None or reports.levels is not None:
        raise InvalidInputError(
            "Expected messages of a pool without levels and cohorts: they travel alone."
        )
    # In place: the order itself would take twice the memory of the messages.
    messages = reports.messages.flatten()
    if isinstance(rng, np.random.Generator):
        rng.shuffle(messages)
    elif messages.size and messages.dtype == np.int32 and messages.min() >= 0:
        _order_by_keys(messages, rng)
    else:
        messages = messages[rng.permutation(messages.size)]
    return messages


def _order_by_keys(messages: Ints, rng: Rng) -> None:
    """Orders messages of 31 bits by random keys of 32 bits, both in one sorted word."""
    # It takes a fraction of the time of sorting indices. Where keys are equal (one in 400,
    # at ten million), the order is drawn again: all orders stay equally likely.
    words = rng.integers(0, _KEYS, size=messages.size) << 31
    words |= messages
    words.sort()
    np.bitwise_and(words, 2**31 - 1, out=messages, casting="unsafe")
    words >>= 31
    equal = words[1:] == words[:-1]
    tied = np.zeros(words.size, dtype=np.bool_)
    tied[1:] = equal
    tied[:-1] |= equal
    indices = np.flatnonzero(tied)
    if indices.size:
        drawn = rng.permutation(indices.size)
        # Stable: within equal keys, in the order drawn.
        redrawn = drawn[np.argsort(words[indices[drawn]], kind="stable")]
        messages[indices] = messages[indices[redrawn]]
