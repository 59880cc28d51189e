"""The generating function of the sum of all users' scores, with its error bound.

A person of level j sends a message of score s in {0, ..., K} with probability P_j(s), so

    log E[e^{z S}] = sum_j n_j log M_j(z),    M_j(z) = 1 + sum_s P_j(s) (e^{z s} - 1).

Many levels are put into few groups of similar ones. With the group's mean c and
d_i = sum_s (P_i(s) - c(s)) (e^{z s} - 1) / M_c(z), which sum to 0 over the group,

    sum_i log M_i = n log M_c - sum_i d_i^2 / 2 +- sum_i |d_i|^3 / (3 (1 - |d_i|)),

and sum_i d_i^2 is a quadratic form of the group's second central moments. Nothing here is
rounded to one side: `log_generating` returns a bound of its error, too.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shuffledp.accounting.sums.complex_log1p import log1p
from shuffledp.accounting.sums.grouping import MAX_GROUPS
from shuffledp.types import Complexes, Floats, Ints

# Rounding of one operation, twice over.
_ROUNDING = 2.5e-16
# Levels between which a group may end; rows in a block of a sum, and its rounding.
_CANDIDATES = 4096
_BLOCK_ROWS = 1024
_SUM_ROUNDING = 1e-12
# Values of z handled at a time; this bounds the memory.
_BLOCK_NODES = 256


@dataclass(frozen=True, eq=False)
class ScoreSum:
    """A sum of independent scores; build it with `score_sum`.

    Attributes:
        rows: Mean probability of each score in each group, shape (groups, K + 1).
        counts: People in each group, shape (groups,).
        moments: Second central moments, summed over the group's people, shape
            (groups, K + 1, K + 1).
        reach: Largest distance of a person's probabilities from the mean ones, shape
            (groups, K + 1).
        row_error: By how much each of `rows` may be off, beyond rounding.
    """

    rows: Floats
    counts: Floats
    moments: Floats
    reach: Floats
    row_error: float = 0.0

    def log_generating(self, z: Complexes) -> tuple[Complexes, Floats]:
        """Returns log E[e^{z S}] and a bound of its error, maybe nan or inf, as `z`."""
        if z.size <= _BLOCK_NODES:
            return self._log_generating(z)
        cuts = range(_BLOCK_NODES, z.size, _BLOCK_NODES)
        blocks = [self._log_generating(block) for block in np.split(z, cuts)]
        values, errors = zip(*blocks, strict=True)
        return np.concatenate(values), np.concatenate(errors)

    def _log_generating(self, z: Complexes) -> tuple[Complexes, Floats]:
        excess, size = powers_less_1(z, self.rows.shape[1])
        x = excess @ self.rows.T
        below: Floats = np.abs(1.0 + x)
        logs = log1p_of_any(x)
        people = np.abs(self.counts)
        rounding = (size @ self.rows.T / below + np.abs(logs)) @ people
        error = _ROUNDING * (sum(self.rows.shape) + 8) * rounding
        if self.row_error:
            # log(1 + x) by its slope; the factor covers what bends, also in the moments.
            excess_ratios = np.abs(excess).sum(axis=1)[:, None] / below
            error = error + 4.0 * self.row_error * (excess_ratios @ people)
        log_generating: Complexes = logs @ self.counts
        grouped = np.flatnonzero(self.reach.any(axis=1))
        if grouped.size == 0:
            return log_generating, error
        ratio_bounds = np.abs(excess) @ self.reach[grouped].T / below[:, grouped]
        left_out = np.where(
            ratio_bounds < 0.5, ratio_bounds**3 / (3.0 * (1.0 - ratio_bounds)), np.inf
        )
        error = error + (left_out + _SUM_ROUNDING * ratio_bounds) @ people[grouped]
        # Divided first: the squares alone might overflow.
        ratio = excess[None, :, :] / (1.0 + x[:, grouped]).T[:, :, None]
        squares = ((ratio @ self.moments[grouped]) * ratio).sum(axis=(0, 2))
        return log_generating - 0.5 * squares, error

    def tilted(self, tilt: float) -> tuple[float, float]:
        """Returns roughly mean and variance when a sum a is weighted by e^{tilt a}."""
        mean, variance = tilted_moments(self.rows, tilt)
        return float(self.counts @ mean), max(float(self.counts @ variance), 0.0)

    def coincidences(self, tilt: float) -> Floats:
        """Returns lower bounds of A_1, ..., A_K at a tilt, shape (K,).

        A_h is the expected number of people who would send s and s + h, for any s, if
        each sent two tilted scores, one after the other. The function falls along
        z = tilt + i w, since |M_j(z) / M_j(tilt)|^2 = 1 - 4 sum_h A_jh sin(h w / 2)^2, by
        at least a factor of exp(-2 sum_h A_h sin(h w / 2)^2).
        """
        weights = np.exp(tilt * np.arange(self.rows.shape[1]))
        maximum = (self.rows + self.reach + self.row_error) @ weights
        minimum = (
            np.maximum(self.rows - self.reach - self.row_error, 0.0)
            * weights
            / maximum[:, None]
        )
        per_user = least_coincidences(minimum)
        # The target user's are taken away; what is left is not negative.
        rounding = 1e-12 * (np.abs(self.counts) @ per_user)
        return np.maximum(self.counts @ per_user - rounding, 0.0)

    def without(self, row: Floats) -> "ScoreSum":
        """Returns the sum of all scores but that of one person with these probabilities."""
        same = np.flatnonzero(
            (self.rows == row).all(axis=1) & ~self.reach.any(axis=1) & (self.counts > 0)
        )
        if same.size:
            counts = self.counts.copy()
            counts[same[0]] -= 1.0
            return ScoreSum(self.rows, counts, self.moments, self.reach, self.row_error)
        return ScoreSum(
            np.vstack([self.rows, row]),
            np.append(self.counts, -1.0),
            np.pad(self.moments, ((0, 1), (0, 0), (0, 0))),
            np.pad(self.reach, ((0, 1), (0, 0))),
            self.row_error,
        )


def powers_less_1(z: Complexes, num_scores: int) -> tuple[Complexes, Floats]:
    """Returns e^{z s} - 1 for every s, and the size its rounding errors are a part of."""
    s = np.arange(num_scores, dtype=np.float64)
    excess: Complexes = np.expm1(np.multiply.outer(z, s))
    # At least |e^{z s} - 1|, and the effect of rounding z s.
    growth = np.exp(np.multiply.outer(np.maximum(z.real, 0.0), s))
    return excess, np.multiply.outer(np.abs(z), s) * growth


def log1p_of_any(x: Complexes) -> Complexes:
    """Returns log(1 + x), also where the square of x would overflow."""
    large = np.abs(x) > 1e100
    result: Complexes = log1p(np.where(large, 0.0, x))
    if large.any():
        result[large] = np.log(x[large])
    return result


def tilted_moments(rows: Floats, tilt: float) -> tuple[Floats, Floats]:
    """Returns mean and variance of each row's score when s is weighted by e^{tilt s}."""
    s = np.arange(rows.shape[-1], dtype=np.float64)
    # From the top: a large tilt must not overflow.
    weights = rows * np.exp(tilt * (s - s[-1]))
    total = np.maximum(weights.sum(axis=-1), 1e-300)
    mean = weights @ s / total
    squares = weights * (s - mean[..., None]) ** 2
    return mean, squares.sum(axis=-1) / total


def least_coincidences(rows: Floats) -> Floats:
    """Returns sum_s rows[:, s] rows[:, s + h] for h = 1, ..., K, shape (groups, K)."""
    lags = range(1, rows.shape[1])
    return np.stack([(rows[:, :-h] * rows[:, h:]).sum(axis=1) for h in lags], axis=1)


def score_sum(others: Floats, counts: Ints, row_error: float = 0.0) -> ScoreSum:
    """Returns the sum of scores of counts[j] users with probabilities others[j], all j.

    Args:
        others: Probability of each score, shape (levels, K + 1), K >= 1. Neighboring
            levels should be similar: they are grouped.
        counts: People of each level, shape (levels,).
        row_error: By how much each probability may be off, beyond rounding.
    """
    n: Floats = counts.astype(np.float64)
    levels, scores = others.shape
    if levels <= MAX_GROUPS:
        nothing = np.zeros_like(others)
        one_user_masses = np.zeros((levels, scores, scores))
        return ScoreSum(others, n, one_user_masses, nothing, row_error)
    edges = _group_ends(others)
    groups = [
        _row_group(others[start:stop], n[start:stop])
        for start, stop in pairwise(edges)
        if n[start:stop].any()
    ]
    rows, people, moments, reach = zip(*groups, strict=True)
    return ScoreSum(
        np.stack(rows),
        np.array(people),
        np.stack(moments),
        np.stack(reach),
        row_error,
    )


def _group_ends(others: Floats) -> list[int]:
    """Returns where groups start and end: after equal parts of the rows' whole way."""
    levels = others.shape[0]
    positions = np.unique(np.linspace(0, levels - 1, _CANDIDATES).astype(np.int64))
    steps = np.abs(np.diff(others[positions], axis=0)).sum(axis=1)
    # Without any way, the groups have about as many levels each.
    way = np.cumsum(steps + max(float(steps.sum()), 1e-300) * 1e-3 / steps.size)
    cells = (way * (MAX_GROUPS / way[-1])).astype(np.int64)
    starts = positions[1:][np.diff(np.minimum(cells, MAX_GROUPS - 1), prepend=0) > 0]
    return [0, *starts.tolist(), levels]


def _row_group(rows: Floats, n: Floats) -> tuple[Floats, float, Floats, Floats]:
    """Returns mean, size, summed second moments and reach of similar rows."""
    people = float(n.sum())
    guess: Floats = n @ rows / people
    cuts = range(0, n.size, _BLOCK_ROWS)
    drift = np.zeros(guess.size)
    moments = np.zeros((guess.size, guess.size))
    reach = np.zeros(guess.size)
    for start in cuts:
        part = n[start : start + _BLOCK_ROWS]
        offset = rows[start : start + _BLOCK_ROWS] - guess
        weighted = offset * part[:, None]
        drift += part @ offset
        moments += weighted.T @ offset
        np.maximum(reach, offset.max(axis=0), out=reach)
        np.maximum(reach, -offset.min(axis=0), out=reach)
    # The guess is off by its rounding, which the offsets show.
    drift /= people
    moments -= people * np.outer(drift, drift)
    return guess + drift, people, moments, reach + np.abs(drift)
