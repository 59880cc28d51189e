"""Handwritten devices, correct and broken ones; none uses the library.

All are functions of values, levels and, in most cases, a generator. Categories are
0, ..., 3; numbers are in [0, 1].
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

K = 4
Array = NDArray[Any]
_own = np.random.default_rng()


def response(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Correct: randomized response of four categories."""
    ignores = rng.random(values.size) < K / (np.exp(levels) + K - 1)
    return np.where(ignores, rng.integers(K, size=values.size), values)


def rounded_laplace(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Correct: Laplace noise, rounded to a multiple of 1 / 1024."""
    return np.floor(1024.0 * (values + rng.laplace(size=values.size) / levels))


def doubled_epsilon(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Uses twice the level."""
    return response(values, 2.0 * levels, rng)


def swapped_level(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Gives people at level 0.5 the noise of level 1."""
    return response(values, np.where(levels == 0.5, 1.0, levels), rng)


def memoized_coin(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Reuses a Bernoulli draw for the next message."""
    ignores = rng.random(values.size) < K / (np.exp(levels) + K - 1)
    ignores[1::2] = ignores[: 2 * (values.size // 2) : 2]
    return np.where(ignores, rng.integers(K, size=values.size), values)


def forked_seed(values: Array, levels: Array) -> Array:
    """Creates the generator once, so that forked processes share its state."""
    return response(values, levels, _own)


def fixed_seed(values: Array, levels: Array) -> Array:
    """Creates a generator with the same seed in each call."""
    return response(values, levels, np.random.default_rng(7))


def rare_leak(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Sends the value itself, recognizably, with probability 1 in 1000."""
    leaks = rng.random(values.size) < 1e-3
    return np.where(leaks, K + values, response(values, levels, rng))


def rounding_leak(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Adds Laplace noise in double precision, whose rounding reveals values."""
    uniform = 1.0 - rng.random(values.size)
    signs = np.where(rng.random(values.size) < 0.5, -1.0, 1.0)
    return np.asarray(values + signs * np.log(uniform) / levels)


def biased_sampler(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Draws one of 3 categories as a 3-bit number modulo 3: 2 is too rare."""
    ignores = rng.random(values.size) < 3 / (np.exp(levels) + 2)
    return np.where(ignores, rng.integers(8, size=values.size) % 3, values)


def wrong_count(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Ignores values with the probability for two categories."""
    ignores = rng.random(values.size) < 2 / (np.exp(levels) + 1)
    return np.where(ignores, rng.integers(K, size=values.size), values)


def wrong_clip(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Adds the noise for [0, 1] to values up to 1.5."""
    return rounded_laplace(1.5 * values, levels, rng)


def rejection(values: Array, levels: Array, rng: np.random.Generator) -> Array:
    """Draws noise again while it is large."""
    noise = rng.laplace(size=values.size) / levels
    while np.any(large := np.abs(noise) > 2.0 / levels):
        noise[large] = (rng.laplace(size=values.size) / levels)[large]
    return np.floor(1024.0 * (values + noise))
