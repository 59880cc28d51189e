"""Exact divergences of counts of buckets: sums over all outcomes, term by term.

Laws are integers in units of 1e-50, so that no sum rounds, or arrays in double precision.
"""

import math
from collections.abc import Sequence
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

_UNIT = 10**50


def negative_binomial(mean: float, shape: float, cells: int) -> NDArray[Any]:
    """P(Z = 0), ..., P(Z = cells - 1) in units of 1e-50; Poisson if shape is infinite."""
    with mp.workdps(70):
        f, r = mp.mpf(mean), mp.mpf(shape)
        masses = []
        for z in range(cells):
            if math.isinf(shape):
                mass = mp.exp(-f) * f**z / mp.factorial(z)
            else:
                t = f / (r + f)
                mass = mp.rf(r, z) / mp.factorial(z) * (1 - t) ** r * t**z
            masses.append(int(mass * _UNIT))
    return np.array(masses, dtype=object)


def plus_and_minus(
    decay: float, pairs: float, shape: float, cells: int, surplus: float = 1.0
) -> NDArray[Any]:
    """P(A + Z = u, B + Z = v) in units of 1e-50, shape (cells, cells)."""
    p = mp.mpf(decay)
    single = negative_binomial(float(surplus * p / (1 - p)), surplus, cells)
    flood = negative_binomial(pairs, shape, cells)
    law = np.zeros((cells, cells), dtype=object)
    both = np.outer(single, single)
    for z, mass in enumerate(flood.tolist()):
        law[z:, z:] += mass * both[: cells - z, : cells - z] // _UNIT**2
    return law


def with_one_plus(law: NDArray[Any], rate: float) -> NDArray[Any]:
    """The law of counts whose first one is a message larger, with this probability."""
    more = np.zeros_like(law)
    more[1:] = law[:-1]
    if law.dtype != object:
        return (1.0 - rate) * law + rate * more
    sends = int(mp.mpf(rate) * _UNIT)
    mixed: NDArray[Any] = ((_UNIT - sends) * law + sends * more) // _UNIT
    return mixed


def exact_divergence(
    first: NDArray[Any], second: NDArray[Any], epsilon: float
) -> float:
    """Sums (P - E Q)_+ over all outcomes."""
    if first.dtype != object:
        return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())
    with mp.workdps(70):
        growth = int(mp.exp(mp.mpf(epsilon)) * _UNIT)
        total = np.maximum(first * _UNIT - growth * second, 0).sum()
        return float(mp.mpf(int(total)) / _UNIT**2)


def in_two_buckets(
    first: NDArray[Any], second: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """A message in one of two independent buckets, or in the other one."""
    both = np.outer(first.ravel(), second.ravel())
    there = np.outer(second.ravel(), first.ravel())
    if first.dtype == object:
        return both // _UNIT, there // _UNIT
    return both, there


def slot_jumps(decay: float, longest: int, pairs: float, strength: float) -> Any:
    """Jumps into a bucket in the mean, as (+, -, mean)."""
    jumps = []
    for j in range(1, longest + 1):
        mean = strength * decay**j / j
        jumps += [(j, 0, mean), (0, j, mean)]
    sizes = range(1, longest // 2 + 1)
    return jumps + [(j, j, pairs / sum(sizes)) for j in sizes]


def slot_counts(
    jumps: Any, *, slots: int, buckets: int, cells: int, most: int
) -> NDArray[Any]:
    """The joint law of all buckets' (+, -), without outcomes that exceed the array.

    Args:
        jumps: From `slot_jumps`.
        slots: Each a jump in one bucket, or none.
        buckets: d.
        cells: Counts from 0 to cells - 1 of each sign and bucket.
        most: Jumps in all buckets together; collections with more are left out.
    """
    chance = buckets * sum(mean for _, _, mean in jumps) / slots
    power = np.zeros((cells,) * (2 * buckets))
    power[(0,) * power.ndim] = 1.0
    law = np.zeros_like(power)
    for k in range(min(most, slots) + 1):
        weight = math.comb(slots, k) * mp.mpf(chance) ** k
        law += float(weight * (1 - mp.mpf(chance)) ** (slots - k)) * power
        power = _one_jump_more(power, jumps, chance * slots)
    return law


def _one_jump_more(power: NDArray[Any], jumps: Any, total: float) -> NDArray[Any]:
    more = np.zeros_like(power)
    for bucket in range(power.ndim // 2):
        for plus, minus, mean in jumps:
            to: list[slice] = [slice(None)] * power.ndim
            of = list(to)
            for axis, step in ((2 * bucket, plus), (2 * bucket + 1, minus)):
                to[axis] = slice(step, None)
                of[axis] = slice(None, power.shape[axis] - step)
            more[tuple(to)] += mean / total * power[tuple(of)]
    return more


def message_in(law: NDArray[Any], bucket: int, rate: float) -> NDArray[Any]:
    """The joint law with a + more in this bucket, with this probability."""
    first = np.moveaxis(law, 2 * bucket, 0)
    return np.moveaxis(with_one_plus(first, rate), 0, 2 * bucket)


def all_at_once(laws: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The law of independent outcomes, flat."""
    product = np.ones(1)
    for law in laws:
        product = np.outer(product, law.ravel()).ravel()
    return product
