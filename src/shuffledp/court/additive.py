"""The attack that adds: every cell has a score, the adversary sees the sum of all.

For others who all send from one law omega, shuffled messages y_1, ..., y_n are more than
e^epsilon times as likely on x than on x' exactly where

    sum_j (R(x)(y_j) - e^epsilon R(x')(y_j)) / omega(y_j) > 0.

These are the scores, with the others' average for omega, cut off where they are rare and
rounded to a few thousand steps. The sum's law comes from characteristic functions, raised
to the number of people in each group, on a circle: that sums a multiple of its length
apart look the same only makes the attack weaker.

Rounding of the transforms moves what is summed by about 1e-11; a bound of it is
subtracted. Divergences down to about 1e-10 are found.
"""

import math

import numpy as np

from shuffledp.court.worlds import Worlds
from shuffledp.types import Ints

_UNIT = 2.3e-16
# Rounded scores: how many, and fewer where everybody has a budget of her own.
_STEPS, _FEWER_STEPS = 2000, 40
_MANY_GROUPS = 50
# Length of the circle, in deviations of the sum, and at most.
_DEVIATIONS, _LONGEST = 20.0, 2**22
# Expected messages of others whose scores are cut off.
_CUT = (0.0, 0.3, 3.0, 30.0)
_BATCH = 32


def additive_divergence(worlds: Worlds, epsilon: float) -> float:
    """Returns the largest divergence over several cut-offs and both orders, >= 0."""
    found = 0.0
    for cut in _CUT if worlds.counts.size <= _MANY_GROUPS else _CUT[1:2]:
        for one in (worlds, worlds.swapped):
            scores = _scores(one, epsilon, cut)
            if scores is not None:
                found = max(found, _sum_divergence(one.grouped(scores), epsilon))
    return found


def _scores(worlds: Worlds, epsilon: float, cut: float) -> Ints | None:
    expected = worlds.average()
    excess = worlds.first - math.exp(epsilon) * worlds.second
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ideal = np.where(excess == 0.0, 0.0, excess / expected)
    # Far scores, in either direction, together have `cut` messages of others.
    order = np.argsort(-np.abs(ideal))
    rarer = np.cumsum(expected[order])
    index = int(np.searchsorted(rarer, cut, side="right"))
    kept = np.abs(ideal[order[min(index, order.size - 1)]])
    if not (np.isfinite(kept) and kept > 0.0):
        kept = float(np.abs(ideal[np.isfinite(ideal)]).max(initial=0.0))
        if kept == 0.0:
            return None
    clipped = np.clip(ideal, -kept, kept)
    steps = _STEPS if worlds.counts.size <= _MANY_GROUPS else _FEWER_STEPS
    width = float(np.ptp(clipped)) / steps
    if width == 0.0:
        return None
    scores: Ints = np.rint((clipped - clipped.min()) / width).astype(np.int64)
    return scores


def _sum_divergence(worlds: Worlds, epsilon: float) -> float:
    """Returns the divergence of the sum of cell numbers, less rounding."""
    cells = np.arange(worlds.first.size, dtype=np.float64)
    means = worlds.others @ cells
    variance = float(worlds.counts @ (worlds.others @ cells**2 - means**2))
    wanted = _DEVIATIONS * math.sqrt(max(variance, 0.0)) + 2 * cells.size
    length = min(2 ** math.ceil(math.log2(wanted)), _LONGEST)
    log_size = np.zeros(length // 2 + 1)
    angle = np.zeros(length // 2 + 1)
    doubt = np.zeros(length // 2 + 1)
    transform_error = _UNIT * math.log2(length)
    for start in range(0, worlds.counts.size, _BATCH):
        batch = slice(start, start + _BATCH)
        parts = np.fft.rfft(worlds.others[batch], length, axis=1)
        counts = worlds.counts[batch].astype(np.float64)
        size = np.maximum(np.abs(parts), 1e-300)
        log_size += counts @ np.log(size)
        # Whole turns do not count, and would cost digits.
        angle += np.mod(counts[:, None] * np.angle(parts), 2.0 * np.pi).sum(axis=0)
        # A factor z that is wrong by e makes z^n wrong by (|z| + e)^n - |z|^n at most.
        doubt += counts @ np.log1p(transform_error / size + 12.0 * _UNIT)
    together = np.exp(log_size) * np.exp(1j * np.mod(angle, 2.0 * np.pi))
    moved = np.exp(np.minimum(log_size + doubt, 1.0)) - np.exp(log_size)
    moved += 2.0 * transform_error * np.exp(log_size)
    first, second = (
        np.fft.irfft(together * np.fft.rfft(part, length), length)
        for part in (worlds.first, worlds.second)
    )
    ratio = math.exp(epsilon)
    gain = first - ratio * second
    seen = gain > 0.0
    # Parseval: the error's size, which a sum over the set sees at most sqrt(set) of.
    spread = math.sqrt(2.0 * float(np.sum(moved**2)) / length)
    spread += transform_error * float(np.sqrt(np.sum(first**2) + np.sum(second**2)))
    noise = (1.0 + ratio) * math.sqrt(float(seen.sum())) * spread
    return max(float(gain[seen].sum()) - noise, 0.0)


