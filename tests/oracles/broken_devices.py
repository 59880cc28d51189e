"""Devices as people write them, and ten ways to get them wrong; nothing of the library.

All are functions of values, levels and, where they take one, a generator. Categories are
0, ..., 3; numbers are in [0, 1].
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

K = 4
Array = NDArray[Any]
_own = np.random.default_rng()


def response(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Right: randomized response of four categories."""
    ignores = rng.random(values.size) < K / (np.exp(levels) + K - 1)
    return np.where(ignores, rng.integers(K, size=values.size), values)


def rounded_laplace(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Right: Laplace noise, sent as a multiple of 1 / 1024 that few bits hold."""
    return np.floor(1024.0 * (values + rng.laplace(size=values.size) / levels))


def doubled_epsilon(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """The level is taken twice."""
    return response(values, 2.0 * levels, rng)


def swapped_level(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """People at level 0.5 get the noise of level 1."""
    return response(values, np.where(levels == 0.5, 1.0, levels), rng)


def memoized_coin(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """A coin is kept for the next message, too."""
    ignores = rng.random(values.size) < K / (np.exp(levels) + K - 1)
    ignores[1::2] = ignores[: 2 * (values.size // 2) : 2]
    return np.where(ignores, rng.integers(K, size=values.size), values)


def forked_seed(values: Array, levels: Array) -> Array:
    """The generator is made once, and copied with the process."""
    return response(values, levels, _own)


def fixed_seed(values: Array, levels: Array) -> Array:
    """The generator is made anew for each call, from the same seed."""
    return response(values, levels, np.random.default_rng(7))


def rare_leak(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """With chance 1 in 1000 the value is sent as it is, and can be told as such."""
    leaks = rng.random(values.size) < 1e-3
    return np.where(leaks, K + values, response(values, levels, rng))


def rounding_leak(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Laplace noise in double precision, from the logarithm of a uniform number."""
    uniform = 1.0 - rng.random(values.size)
    signs = np.where(rng.random(values.size) < 0.5, -1.0, 1.0)
    return np.asarray(values + signs * np.log(uniform) / levels)


def biased_sampler(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Of three categories, the remainder of three bits comes too rarely as 2."""
    ignores = rng.random(values.size) < 3 / (np.exp(levels) + 2)
    return np.where(ignores, rng.integers(8, size=values.size) % 3, values)


def wrong_count(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """The coin is that of two categories."""
    ignores = rng.random(values.size) < 2 / (np.exp(levels) + 1)
    return np.where(ignores, rng.integers(K, size=values.size), values)


def wrong_clip(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Noise for [0, 1], but the values go up to 1.5."""
    return rounded_laplace(1.5 * values, levels, rng)


def rejection(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Noise is drawn again while it looks too large."""
    noise = rng.laplace(size=values.size) / levels
    while np.any(large := np.abs(noise) > 2.0 / levels):
        noise[large] = (rng.laplace(size=values.size) / levels)[large]
    return np.floor(1024.0 * (values + noise))
