"""Additive attack: every cell has a score, and the adversary sees the sum of scores.

If all other users send from one distribution omega, messages y_1, ..., y_n are more than
e^epsilon times as likely on x than on x' exactly where

    sum_j (R(x)(y_j) - e^epsilon R(x')(y_j)) / omega(y_j) > 0.

These are the scores, with the average over groups for omega, cut off where they are rare
and rounded to a few thousand steps. The distribution of the sum comes from characteristic
functions, raised to the number of users in each group. Rounding of the transforms is
bounded, about 1e-11, and subtracted; divergences down to about 1e-10 are detected.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from shuffledp.types import Complexes, Floats, Ints
from shuffledp_papers.court.worlds import Worlds

# Slightly above the machine epsilon.
_UNIT = 2.3e-16
# Rounded scores: how many, and fewer where there are many budgets.
_STEPS, _FEWER_STEPS = 2000, 200
_FEW_GROUPS = 8
# Length of the circle, in deviations of the sum, and at most.
_DEVIATIONS, _LONGEST = 20.0, 2**22
# Expected messages of others whose scores are cut off.
_CUT = (0.0, 1e-3, 0.01, 0.1, 1.0, 10.0)
_DIFFERENT = 0.8
# Up to this many terms per step of the circle are summed without a transform.
_FEW_TERMS = 4
# Logarithms below this are those of 0.
_NOTHING = -760.0


def additive_divergence(worlds: Worlds, epsilon: float) -> float:
    """Returns the largest divergence over several cut-offs and both orders, >= 0."""
    largest = 0.0
    for ordered in (worlds, worlds.swapped):
        ideal = _ideal_scores(ordered, epsilon)
        # Cut-offs that change little are not tried twice.
        last = math.inf
        for cut in _CUT:
            limit = _limit(ordered, ideal, cut)
            if 0.0 < limit < _DIFFERENT * last:
                scores = _rounded(ideal, limit, ordered.counts.size)
                reached = _sum_divergence(ordered.grouped(scores), epsilon)
                largest = max(largest, reached)
                last = limit
    return largest


def _ideal_scores(worlds: Worlds, epsilon: float) -> Floats:
    excess = worlds.first - math.exp(epsilon) * worlds.second
    # A cell that no other user sends has an infinite score; `_limit` cuts it off. 0 / 0,
    # a cell that is never sent, has score 0.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(excess == 0.0, 0.0, excess / worlds.average())


def _limit(worlds: Worlds, ideal: Floats, cut: float) -> float:
    """Returns the cut-off beyond which `cut` messages of others are expected."""
    order = np.argsort(-np.abs(ideal))
    rarer = np.cumsum(worlds.average()[order])
    index = int(np.searchsorted(rarer, cut, side="right"))
    limit = float(np.abs(ideal[order[min(index, order.size - 1)]]))
    if math.isinf(limit):
        limit = float(np.abs(ideal[np.isfinite(ideal)]).max(initial=0.0))
    return limit


def _rounded(ideal: Floats, limit: float, groups: int) -> Ints:
    clipped = np.clip(ideal, -limit, limit)
    steps = _STEPS if groups <= _FEW_GROUPS else _FEWER_STEPS
    # Any scores give a valid lower bound, so that rounding them is allowed.
    width = max(float(np.ptp(clipped)) / steps, 1e-300)
    scores: Ints = np.rint((clipped - clipped.min()) / width).astype(np.int64)
    return scores


def _sum_divergence(worlds: Worlds, epsilon: float) -> float:
    """Returns the divergence of the sum of cell numbers, less rounding."""
    cells = np.arange(worlds.first.size, dtype=np.float64)
    means = worlds.others @ cells
    variance = float(worlds.counts @ (worlds.others @ cells**2 - means**2))
    wanted = _DEVIATIONS * math.sqrt(max(variance, 0.0)) + 2 * cells.size
    # On a circle, sums a multiple of its length apart look the same: a function of the sum,
    # so that a circle that is too short only weakens the attack.
    length = next_fast_len(min(math.ceil(wanted), _LONGEST), real=True)
    transform_error = _UNIT * math.log2(length)
    seen, together, moved = _transform(worlds, length, transform_error)
    spectra = np.zeros((2, length // 2 + 1), dtype=np.complex128)
    for spectrum, part in zip(spectra, (worlds.first, worlds.second), strict=True):
        spectrum[seen] = together * rfft(part, length)[seen]
    first, second = (irfft(spectrum, length) for spectrum in spectra)
    ratio = math.exp(epsilon)
    gain = first - ratio * second
    reached = gain > 0.0
    # Parseval gives the Euclidean norm of the error; by Cauchy-Schwarz a sum over a set has
    # an error of at most sqrt(size of the set) times that.
    spread = math.sqrt(2.0 * float(np.sum(moved**2)) / length)
    spread += transform_error * float(np.sqrt(np.sum(first**2) + np.sum(second**2)))
    noise = (1.0 + ratio) * math.sqrt(float(reached.sum())) * spread
    return max(float(gain[reached].sum()) - noise, 0.0)


def _transform(
    worlds: Worlds, length: int, error: float
) -> tuple[NDArray[np.bool_], Complexes, Floats]:
    """Returns the others' characteristic function, and bounds of its error.

    Args:
        worlds: With cells that are numbers.
        length: Of the circle.
        error: Of each group's transform.

    Returns:
        The frequencies at which it is not 0 in double precision, shape (length // 2 + 1,),
        and both of them there.
    """
    seen = np.ones(length // 2 + 1, dtype=np.bool_)
    log_size, angle, doubt = np.zeros((3, seen.size))
    turned: Complexes | None = None
    # Large groups first: they leave few frequencies to look at.
    for group in np.argsort(-worlds.counts, kind="stable").tolist():
        count, row = float(worlds.counts[group]), worlds.others[group]
        parts = rfft(row, length)[seen] if turned is None else row @ turned
        size = np.maximum(np.abs(parts), 1e-300)
        log_size += count * np.log(size)
        # A factor z that is wrong by e makes z^n wrong by (|z| + e)^n - |z|^n at most.
        doubt += count * np.log1p(error / size + 12.0 * _UNIT)
        nonzero = log_size + doubt > _NOTHING
        seen[seen] = nonzero
        # Whole turns do not count, and would cost digits.
        turns = np.mod(count * np.angle(parts[nonzero]), 2.0 * np.pi)
        angle = angle[nonzero] + turns
        log_size, doubt = log_size[nonzero], doubt[nonzero]
        if turned is not None:
            turned = turned[:, nonzero]
        elif log_size.size * row.size < _FEW_TERMS * length:
            # Few frequencies: a plain sum takes less time and is no less exact.
            turned = _turned(row.size, np.flatnonzero(seen), length)
    together = np.exp(log_size) * np.exp(1j * np.mod(angle, 2.0 * np.pi))
    moved = np.exp(np.minimum(log_size + doubt, 1.0)) - np.exp(log_size)
    moved += 2.0 * error * np.exp(log_size)
    return seen, together, moved


def _turned(cells: int, frequencies: Ints, length: int) -> Complexes:
    """Returns e^{-2 pi i c f / length} for all cells c, shape (cells, frequencies)."""
    # Whole turns are left out while numbers are whole.
    turns = np.outer(np.arange(cells), frequencies) % length
    waves: Complexes = np.exp(-2j * np.pi / length * turns)
    return waves
