"""Messages of updates, as the devices of a round draw them, and their checks.

Each update is encoded, every coordinate passes the framework's device alone, and a coupled
framework processes the messages.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.federated.framework import Device, Framework
from shuffledp.federated.simulated_messages import simulated_messages
from shuffledp.population import check_budgets
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats

Messages: TypeAlias = NDArray[Any]

_UNSIGNED = (np.uint8, np.uint16, np.uint32)
_SIGNED = (np.int8, np.int16, np.int32, np.int64)


def draw_messages(
    framework: Framework,
    device: Device,
    updates: NDArray[np.float32],
    levels: Floats,
    *,
    rng: Rng,
) -> Messages:
    """Draws the messages of k users, shape (k, d), of the `message_type`.

    Args:
        framework: The encoder, which may couple messages.
        device: The randomizer of every coordinate.
        updates: Finite, shape (k, d).
        levels: Local budgets of a message in nats, shape (k,).
        rng: `SystemRandom()` on real devices.

    Raises:
        InvalidInputError: If shapes differ, or a number is not finite or not a budget.
    """
    check_rng(rng)
    check_updates(updates, levels)
    encoded = framework.encode(updates, levels, rng=rng)
    if encoded is not updates:
        check_updates(encoded, levels)
    if encoded.shape != updates.shape:
        raise InvalidInputError("Expected as many coordinates encoded as there are.")
    messages = _randomized(device, encoded, levels, rng=rng)
    # It is given messages and no values: coupling is postprocessing.
    couple = getattr(framework, "couple", None)
    if couple is not None:
        messages = couple(messages, levels, rng=rng)
    return _bounded(messages, framework.messages, updates.shape)


def message_type(messages: range) -> np.dtype[Any]:
    """Returns the smallest integer type that holds all these messages.

    >>> message_type(range(4096)), message_type(range(-1, 2))
    (dtype('uint16'), dtype('int8'))

    Raises:
        InvalidInputError: If there are none, or they do not fit into 32 bits.
    """
    if isinstance(messages, range) and messages and messages.step == 1:
        for kind in _UNSIGNED if messages[0] >= 0 else _SIGNED:
            limits = np.iinfo(kind)
            if limits.min <= messages[0] and messages[-1] <= limits.max:
                return np.dtype(kind)
    raise InvalidInputError(
        f"Expected messages as a range of whole numbers of 32 bits, got {messages!r}."
    )


def check_updates(updates: NDArray[np.float32], levels: Floats) -> None:
    """Raises InvalidInputError unless these are finite updates, one row per level.

    Args:
        updates: Must be float32 of shape (k, d).
        levels: Local budgets, shape (k,).
    """
    check_budgets(levels)
    if updates.ndim != 2 or updates.shape[:1] != levels.shape or not updates.size:
        raise InvalidInputError(
            "Expected one row of updates per privacy level, "
            f"got shapes {updates.shape} and {levels.shape}."
        )
    if updates.dtype != np.float32:
        raise InvalidInputError(f"Expected updates as float32, got {updates.dtype}.")
    if not np.isfinite(updates).all():
        raise InvalidInputError("Expected every coordinate of an update to be finite.")


def check_messages(messages: Messages, possible: range, width: int) -> None:
    """Raises InvalidInputError unless these are messages, shape (n, width)."""
    valid = messages.dtype == message_type(possible) and messages.shape[1:] == (width,)
    if valid and messages.size:
        lowest_message, highest_message = int(messages.min()), int(messages.max())
        valid = possible[0] <= lowest_message and highest_message <= possible[-1]
    if not valid:
        raise InvalidInputError(
            f"Expected {width} messages per person, from {possible[0]} to {possible[-1]}."
        )


def check_sums(sums: Messages, possible: range, num_users: int, width: int) -> None:
    """Raises InvalidInputError unless `num_users` can have sent this, shape (1, width)."""
    # A tally may come from another process: its sums are not trusted.
    min_sum, max_sum = (num_users * possible[end] for end in (0, -1))
    valid = sums.shape == (1, width)
    if not (valid and min_sum <= sums.min() and sums.max() <= max_sum):
        raise InvalidInputError(
            f"Expected {width} sums that so many people can have sent."
        )


def _randomized(
    device: Device, encoded: NDArray[np.float32], levels: Floats, *, rng: Rng
) -> Messages:
    """Runs the device on every coordinate, or simulates it, shape (k, d)."""
    # Only a seeded generator marks a simulation: real devices always run the device.
    if isinstance(rng, np.random.Generator):
        simulated = simulated_messages(device, encoded, levels, rng=rng)
        if simulated is not None:
            return simulated
    low, high = float(device.low), float(device.high)
    values = np.clip(encoded.astype(np.float64), low, high).ravel()
    budgets = np.repeat(levels, encoded.shape[1])
    return np.asarray(device.randomize(values, budgets, rng=rng)).reshape(encoded.shape)


def _bounded(messages: Messages, possible: range, shape: tuple[int, ...]) -> Messages:
    """Returns messages in their type, clipped to the range."""
    if messages.dtype.kind not in "biu" or messages.shape != shape:
        raise InvalidInputError(
            "Expected one whole number per coordinate as a message."
        )
    first, last, kind = possible[0], possible[-1], message_type(possible)
    # Noise may leave the range; clipping it is postprocessing.
    if int(messages.min()) < first or int(messages.max()) > last:
        messages = np.clip(messages, first, last)
    return messages.astype(kind, copy=False)
