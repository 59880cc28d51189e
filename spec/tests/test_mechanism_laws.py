"""The library's devices draw from the distributions that mechanisms.md states."""

import itertools
import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.testing.message_distribution import message_distribution

Law: TypeAlias = dict[Any, float]


def uniform(messages: Iterable[Any]) -> Law:
    every = [*messages]
    return dict.fromkeys(every, 1.0 / len(every))


def mixed(share: float, epsilon: float, ignoring: Law, speaking: Law) -> Law:
    """Returns the law with the probability gamma of the text, for the share a."""
    gamma = 1.0 / (1.0 + share * (math.exp(epsilon) - 1.0))
    return {
        message: gamma * ignoring.get(message, 0.0)
        + (1.0 - gamma) * speaking.get(message, 0.0)
        for message in ignoring
    }


def categories(k: int, epsilon: float, value: int) -> Law:
    return mixed(1 / k, epsilon, uniform(range(k)), {value: 1.0})


def subsets(k: int, size: int, epsilon: float, value: int) -> Law:
    every = [*itertools.combinations(range(k), size)]
    own = [subset for subset in every if value in subset]
    return mixed(size / k, epsilon, uniform(every), uniform(own))


def columns(k: int, epsilon: float, value: int) -> Law:
    order = next(2**power for power in range(32) if 2**power > k)
    own = [c for c in range(order) if (c & (value + 1)).bit_count() % 2 == 0]
    return mixed(0.5, epsilon, uniform(range(order)), uniform(own))


def bit(share: float, epsilon: float) -> Law:
    return mixed(0.5, epsilon, {0: 0.5, 1: 0.5}, {0: 1.0 - share, 1: share})


def grid(values: int, share: float, epsilon: float) -> Law:
    place = share * (values - 1)
    below = math.floor(place)
    speaking = {below: 1.0 - (place - below), below + 1: place - below}
    return mixed(1 / values, epsilon, uniform(range(values)), speaking)


CASES: dict[str, tuple[Any, float, float, Law]] = {
    "kary-response": (sdp.KRandomizedResponse(4), 1.5, 2, categories(4, 1.5, 2)),
    "subset-selection": (sdp.SubsetSelection(5, 2), 0.7, 3, subsets(5, 2, 0.7, 3)),
    "hadamard-response": (sdp.HadamardResponse(5), 2.0, 4, columns(5, 2.0, 4)),
    "one-bit": (sdp.OneBit(-2.0, 6.0), 1.0, 0.0, bit(0.25, 1.0)),
    "grid-response": (
        sdp.GridResponse(low=-2.0, high=6.0, num_values=4),
        1.0,
        0.0,
        grid(4, 0.25, 1.0),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_devices_draw_from_the_stated_law(name: str) -> None:
    randomizer, epsilon, value, stated = CASES[name]

    messages, probabilities = message_distribution(randomizer, epsilon, value)

    assert randomizer.mechanism == name
    law = {
        tuple(message) if np.ndim(message) else int(message): probability
        for message, probability in zip(
            messages.tolist(), probabilities.tolist(), strict=True
        )
    }
    # The text allows devices a probability that is larger by a factor of 1 + 2e-15.
    assert {m: p for m, p in law.items() if p} == pytest.approx(
        {m: p for m, p in stated.items() if p}, rel=1e-13, abs=0.0
    )
