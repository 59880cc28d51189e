"""Messages of devices that favor one set per value, and these sets."""

import itertools
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from oracles.finite_messages import Senders, finite_devices, subsets
from shuffledp.randomizers.frequency_oracle import FrequencyOracle
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.types import Floats, Ints


def oracles() -> list[tuple[FrequencyOracle, Senders]]:
    """Returns small frequency oracles with their message probabilities at a level."""
    devices: list[tuple[FrequencyOracle, Senders]] = [
        (device, sends)
        for device, sends in finite_devices()
        if isinstance(device, FrequencyOracle)
    ]
    # Large subsets are drawn by another algorithm.
    devices.append((SubsetSelection(10, 8), lambda level: subsets(level, 10, 8)))
    return devices


def all_messages(device: FrequencyOracle, count: int) -> Ints:
    """Returns all messages in the order of `finite_messages`."""
    if isinstance(device, SubsetSelection):
        sets = itertools.combinations(range(device.num_categories), device.subset_size)
        return np.array(list(sets))
    if isinstance(device, LocalHashing):
        g, digits = device.num_buckets, 1
        while g ** (digits + 2) < count:
            digits += 1
        return np.array(list(itertools.product(range(g), repeat=digits + 2)))
    return np.arange(count)


def favors(sends: Senders) -> NDArray[np.bool_]:
    """Returns whether a value favors a message, shape (values, messages)."""
    probabilities = sends(2.0)
    favored: NDArray[np.bool_] = probabilities > 2.0 * probabilities.min()
    return favored


def drawn_chances(gamma: float, favored: NDArray[np.bool_]) -> NDArray[Any]:
    """Returns message probabilities in 50 digits, by the probability of ignoring a value.

    Args:
        gamma: The probability of a uniform message; otherwise a favored one is drawn.
        favored: Whether a value favors a message, shape (values, messages).
    """
    blanket, informative = mp.mpf(gamma), 1 - mp.mpf(gamma)
    values, messages = favored.shape
    probabilities = np.full((values, messages), blanket / messages)
    for value in range(values):
        inside = int(favored[value].sum())
        probabilities[value, favored[value]] += informative / inside
    return probabilities


def positions(messages: Ints, known: Ints) -> Ints:
    """Returns the index of each message in a list of all messages."""
    # A message as one number in base `base`, to be searched in sorted order.
    base = int(known.max()) + 1
    rows, every = (array.reshape(len(array), -1) for array in (messages, known))
    weights = base ** np.arange(every.shape[1])
    codes = every @ weights
    order = np.argsort(codes)
    indices = order[np.searchsorted(codes[order], rows.astype(np.int64) @ weights)]
    assert np.array_equal(every[indices], rows)
    return indices


def expected_chances(gamma: float, favored: NDArray[np.bool_]) -> Floats:
    return drawn_chances(gamma, favored).astype(np.float64)
