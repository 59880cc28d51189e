"""Textbook message probabilities of devices with finitely many messages.

All functions return probabilities of shape (values, messages).
"""

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import hadamard

from shuffledp.cover import LocalRandomizer
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.one_bit import OneBit
from shuffledp.randomizers.subset_selection import SubsetSelection
from shuffledp.types import Floats

Senders = Callable[[float], Floats]


def kary(epsilon: float, k: int) -> Floats:
    return np.where(np.eye(k) > 0, math.exp(epsilon), 1.0) / (math.exp(epsilon) + k - 1)


def subsets(epsilon: float, k: int, w: int) -> Floats:
    messages = list(itertools.combinations(range(k), w))
    holds = np.array([[value in message for message in messages] for value in range(k)])
    return normalized(np.where(holds, math.exp(epsilon), 1.0))


def hadamard_columns(epsilon: float, k: int) -> Floats:
    order = 2
    while order <= k:
        order *= 2
    rows = hadamard(order)[1 : k + 1]
    return normalized(np.where(rows > 0, math.exp(epsilon), 1.0))


def affine_hashes(k: int, g: int) -> list[list[int]]:
    """Returns the hashes of all values under every function of the family."""
    num_digits = 1
    while g**num_digits < k:
        num_digits += 1
    digits = [[value // g**i % g for i in range(num_digits)] for value in range(k)]
    return [
        [(sum(x * y for x, y in zip(a, v, strict=True)) + b) % g for v in digits]
        for *a, b in itertools.product(range(g), repeat=num_digits + 1)
    ]


def hashed(epsilon: float, k: int, g: int) -> Floats:
    """Returns probabilities of pairs of a uniform function and a k-ary response."""
    functions = affine_hashes(k, g)
    response = kary(epsilon, g) / len(functions)
    return np.array(
        [np.concatenate([response[f[value]] for f in functions]) for value in range(k)]
    )


def one_bit(epsilon: float, values: Floats) -> Floats:
    high = (1.0 + values * math.expm1(epsilon)) / (math.exp(epsilon) + 1.0)
    return np.stack([1.0 - high, high], axis=1)


def normalized(weights: Floats) -> Floats:
    result: Floats = weights / weights.sum(axis=1, keepdims=True)
    return result


def finite_devices() -> list[tuple[LocalRandomizer, Senders]]:
    """Returns devices with small parameters, and their message probabilities."""
    devices: list[tuple[LocalRandomizer, Senders]] = [
        (OneBit(), partial(one_bit, values=np.array([0.0, 1.0])))
    ]
    for k in (2, 3, 4):
        devices.append((KRandomizedResponse(k), partial(kary, k=k)))
    for k in (2, 4, 5):
        for w in range(1, k):
            devices.append((SubsetSelection(k, w), partial(subsets, k=k, w=w)))
    for k in (2, 3, 5):
        devices.append((HadamardResponse(k), partial(hadamard_columns, k=k)))
    for k, g in [(2, 2), (3, 2), (4, 2), (7, 2), (3, 3), (4, 3), (3, 5), (7, 5)]:
        devices.append((LocalHashing(k, g), partial(hashed, k=k, g=g)))
    return devices
