"""All messages of devices that favor one set per value, and who favors which."""

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
    """Small devices with categories, and what they send at a level."""
    found: list[tuple[FrequencyOracle, Senders]] = [
        (device, sends)
        for device, sends in finite_devices()
        if isinstance(device, FrequencyOracle)
    ]
    # So large a share of the categories is drawn in another way.
    found.append((SubsetSelection(10, 8), lambda level: subsets(level, 10, 8)))
    return found


def all_messages(device: FrequencyOracle, count: int) -> Ints:
    """The messages in the order of `finite_messages`."""
    if isinstance(device, SubsetSelection):
        sets = itertools.combinations(range(device.num_categories), device.subset_size)
        return np.array(list(sets))
    if isinstance(device, LocalHashing):
        g, places = device.num_buckets, 1
        while g ** (places + 2) < count:
            places += 1
        return np.array(list(itertools.product(range(g), repeat=places + 2)))
    return np.arange(count)


def favors(sends: Senders) -> NDArray[np.bool_]:
    """Whether a value favors a message, shape (values, messages)."""
    chances = sends(2.0)
    found: NDArray[np.bool_] = chances > 2.0 * chances.min()
    return found


def drawn_chances(gamma: float, favored: NDArray[np.bool_]) -> NDArray[Any]:
    """What a device sends that ignores its value with chance gamma, in 50 digits."""
    blanket, rest = mp.mpf(gamma), 1 - mp.mpf(gamma)
    values, messages = favored.shape
    chances = np.full((values, messages), blanket / messages)
    for value in range(values):
        inside = int(favored[value].sum())
        chances[value, favored[value]] += rest / inside
    return chances


def positions(messages: Ints, known: Ints) -> Ints:
    """Where in a list of all messages each one stands."""
    base = int(known.max()) + 1
    rows, every = (array.reshape(len(array), -1) for array in (messages, known))
    weights = base ** np.arange(every.shape[1])
    codes = every @ weights
    order = np.argsort(codes)
    found = order[np.searchsorted(codes[order], rows.astype(np.int64) @ weights)]
    assert np.array_equal(every[found], rows)
    return found


def expected_chances(gamma: float, favored: NDArray[np.bool_]) -> Floats:
    return drawn_chances(gamma, favored).astype(np.float64)
