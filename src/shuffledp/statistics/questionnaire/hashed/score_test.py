"""A test of candidates by their buckets in several groups, each with its own hash.

A candidate that no person holds is in a uniformly random bucket of each group, whatever
others hold and whatever the noise is: the distribution of its score is that of the score of
random buckets, one per group, which is computed exactly from the counts. With N candidates
and the smallest threshold t with N P(score >= t) <= alpha, at most alpha candidates without
a holder pass in the mean.

A score is the sum over groups of a bucket's count above the median, cut to [-m, m]: one
heavy candidate in the same bucket does not decide. Those that pass are fitted by least
squares, their counts are subtracted from their buckets, and the others are tested again,
with an equal part of alpha: see docs/theory/unlisted-strings.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from shuffledp.types import Floats, Ints

# Steps from -m to 0, and from 0 to m.
_STEPS = 256
# The median absolute deviation of a normal distribution, in deviations.
_NORMAL_MAD = 0.6744897501960817
# Added to the diagonal: two candidates may share all their buckets.
_RIDGE = 1e-9


def bulk(values: Floats) -> tuple[float, float]:
    """Returns the median, and the deviation of most buckets, a few heavy ones aside."""
    middle = float(np.median(values))
    spread = float(np.median(np.abs(values - middle))) / _NORMAL_MAD
    return middle, spread


@dataclass(frozen=True, eq=False)
class ScoreTest:
    """One pass: a threshold, and the score's distribution if no person holds a candidate.

    Attributes:
        tail: P(score >= k) for whole numbers k from 0, shape (scores + 1,); the last is 0.
        threshold: Smallest score that passes.
        step: People of one unit of a group's score.
        checks: Groups of buckets.
    """

    tail: Floats
    threshold: int
    step: float
    checks: int

    def probability(self, num_people: float) -> float:
        """Returns a bound of the probability that one of that many people passes."""
        shift = self.checks * math.ceil(num_people / self.step)
        return float(self.tail[max(self.threshold - shift, 0)])


def passing_candidates(
    buckets: Ints,
    counts: Sequence[Floats],
    *,
    limits: Sequence[float],
    false_passes: float,
) -> tuple[NDArray[np.bool_], tuple[ScoreTest, ...]]:
    """Returns which candidates pass, shape (candidates,), and the test of each pass.

    Args:
        buckets: Of each candidate in every group, shape (candidates, groups).
        counts: Unbiased counts of each group's buckets, all of one shape.
        limits: m of each pass, above 0: a count, however large, counts for no more.
        false_passes: alpha, above 0, of all passes together.
    """
    has_passed = np.zeros(buckets.shape[0], dtype=np.bool_)
    values, tests = list(counts), []
    for index, limit in enumerate(limits):
        test, scores = _test(values, buckets, limit, false_passes / len(limits))
        tests.append(test)
        passes = ~has_passed & (scores >= test.threshold)
        if not passes.any():
            # The same counts, cut alike, pass nothing else.
            if all(later == limit for later in limits[index:]):
                break
            continue
        has_passed |= passes
        fitted = fit_matrix(buckets[has_passed], counts[0].size)
        people = sum(
            matrix @ (value - bulk(value)[0])
            for matrix, value in zip(fitted, counts, strict=True)
        )
        values = [
            value - np.bincount(own_buckets, weights=people, minlength=value.size)
            for value, own_buckets in zip(counts, buckets[has_passed].T, strict=True)
        ]
    return has_passed, tuple(tests)


def fit_matrix(buckets: Ints, size: int) -> tuple[Any, ...]:
    """Returns least-squares coefficients of each group's counts, (candidates, size) each.

    Args:
        buckets: Of each candidate in every group, shape (candidates, groups).
        size: Buckets of a group.
    """
    num_texts, checks = buckets.shape
    rows = np.repeat(np.arange(num_texts), checks)
    columns = (buckets + size * np.arange(checks)).ravel()
    design = sparse.csc_array(
        (np.ones(rows.size), (rows, columns)), shape=(num_texts, checks * size)
    )
    if not num_texts:
        return tuple(sparse.csr_array((0, size)) for _ in range(checks))
    normal = (design @ design.T + _RIDGE * sparse.eye_array(num_texts)).tocsc()
    inverse = splu(normal).solve(np.eye(num_texts))
    # Candidates that share no bucket, directly or by others, have entries of 0.
    coefficients = (sparse.csr_array(inverse) @ design).tocsc()
    return tuple(
        coefficients[:, size * check : size * (check + 1)].tocsr()
        for check in range(checks)
    )


def _test(
    counts: Sequence[Floats], buckets: Ints, least: float, false_texts: float
) -> tuple[ScoreTest, Ints]:
    step = least / _STEPS
    masses, scores = np.ones(1), np.zeros(buckets.shape[0], dtype=np.int64)
    for value, own_buckets in zip(counts, buckets.T, strict=True):
        above = np.clip(value - bulk(value)[0], -least, least)
        units = np.floor(above / step).astype(np.int64) + _STEPS
        share = np.bincount(units, minlength=2 * _STEPS + 1) / units.size
        masses = np.convolve(masses, share)
        scores += units[own_buckets]
    tail = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    is_allowed = tail * max(buckets.shape[0], 1) <= false_texts
    threshold = int(np.flatnonzero(is_allowed)[0])
    return ScoreTest(tail, threshold, step, len(counts)), scores
