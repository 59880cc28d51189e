"""Numbers of messages of each kind, in reports of several messages."""

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.types import Ints


def count_messages(
    messages: Ints, *, dummy: int, report_size: int
) -> NDArray[np.int64]:
    """Counts the messages of each kind, dummies left out, shape (dummy,).

    Args:
        messages: Unvalidated, shape (n, report_size).
        dummy: The message that fills up reports; others are below it.
        report_size: Messages of a report.

    Raises:
        InvalidInputError: If there are others, or reports have another size.
    """
    if messages.ndim != 2 or messages.shape[1] != report_size:
        raise InvalidInputError(f"Expected reports of {report_size} messages.")
    return count_kinds(messages, most=dummy)[:dummy]


def count_kinds(messages: Ints, *, most: int) -> NDArray[np.int64]:
    """Counts messages 0, ..., most, shape (most + 1,), in reports of any size.

    Raises:
        InvalidInputError: If there are others.
    """
    if messages.size and not 0 <= messages.min() <= messages.max() <= most:
        raise InvalidInputError(f"Expected messages in [0, {most}].")
    return np.bincount(messages.ravel(), minlength=most + 1).astype(np.int64)


def check_message_counts(counts: Ints, report_size: float, num_users: int) -> None:
    """Raises InvalidInputError unless these people can have sent these messages.

    Args:
        counts: Messages of each kind, dummies left out.
        report_size: Messages of a report, dummies included; infinite if sizes vary.
        num_users: Number of reports.
    """
    if counts.min() < 0 or int(counts.sum()) > report_size * num_users:
        raise InvalidInputError(
            f"Expected from 0 to {report_size} messages of every person."
        )
