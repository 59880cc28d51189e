"""A test of candidates on buckets that their search never read.

Every check has a hash function of its own. A text that no person holds is in a uniformly
random bucket of each check, whatever others hold and whatever the noise is: the
distribution of its score is that of the score of V random buckets, one per check, which is
computed exactly from the counts. With N candidates and the smallest threshold t with
N P(score >= t) <= alpha, at most alpha texts without a holder are printed in the mean.

A score is the sum over checks of a bucket's count above the median, cut to [-m, m]: one
heavy text in the same bucket does not decide. Texts that pass are then fitted by least
squares, their counts are subtracted from their buckets, and the others are tested again,
with an equal part of alpha: see docs/theory/unlisted-strings.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from shuffledp.statistics.questionnaire.texts.prefix_layout import (
    PrefixLayout,
)
from shuffledp.statistics.questionnaire.texts.prefix_search import bulk
from shuffledp.statistics.questionnaire.texts.text_codes import Codes
from shuffledp.types import Floats, Ints

PASSES = 3
# Steps from -m to 0, and from 0 to m.
_STEPS = 256
# Added to the diagonal: two codes may share all their buckets.
_RIDGE = 1e-9


@dataclass(frozen=True, eq=False)
class ScoreTest:
    """One pass: distribution of the score of a text that no person holds, and a threshold.

    Attributes:
        tail: P(score >= k) for whole numbers k from 0, shape (scores + 1,); the last is 0.
        threshold: Smallest score that passes.
        step: People of one unit of a check's score.
        checks: V.
    """

    tail: Floats
    threshold: int
    step: float
    checks: int

    def probability(self, num_people: float) -> float:
        """Returns a bound of the probability that a text of that many people passes."""
        shift = self.checks * math.ceil(num_people / self.step)
        return float(self.tail[max(self.threshold - shift, 0)])


@dataclass(frozen=True, eq=False)
class CheckedCodes:
    """Codes that passed.

    Attributes:
        codes: Shape (found,).
        buckets: Of each code in every check, shape (found, checks).
        tests: Of all passes.
    """

    codes: Codes
    buckets: Ints
    tests: tuple[ScoreTest, ...]


def check_codes(
    codes: Codes,
    counts: Sequence[Floats],
    layout: PrefixLayout,
    *,
    least: float,
    false_texts: float,
) -> CheckedCodes:
    """Returns the candidates that pass.

    Args:
        codes: Candidates, chosen without reading any check.
        counts: Unbiased counts of each check's buckets.
        layout: Of the collection.
        least: m, above 0.
        false_texts: alpha, above 0.
    """
    buckets = np.stack(
        [layout.check_buckets(codes, check) for check in range(layout.checks)], axis=1
    )
    has_passed = np.zeros(codes.size, dtype=np.bool_)
    values, tests = list(counts), []
    for _ in range(PASSES):
        test, scores = _test(values, buckets, least, false_texts / PASSES)
        tests.append(test)
        passes = ~has_passed & (scores >= test.threshold)
        if not passes.any():
            break
        has_passed |= passes
        fitted = fit_matrix(buckets[has_passed], layout.sizes[-1])
        people = sum(
            matrix @ (value - bulk(value)[0])
            for matrix, value in zip(fitted, counts, strict=True)
        )
        values = [
            value - np.bincount(own, weights=people, minlength=value.size)
            for value, own in zip(counts, buckets[has_passed].T, strict=True)
        ]
    return CheckedCodes(codes[has_passed], buckets[has_passed], tuple(tests))


def fit_matrix(buckets: Ints, size: int) -> tuple[Any, ...]:
    """Returns least-squares coefficients of each check's counts, (texts, size) each.

    Args:
        buckets: Of each text in every check, shape (texts, checks).
        size: Buckets of a check.
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
    # Texts that share no bucket, directly or by others, have entries of 0.
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
    for value, own in zip(counts, buckets.T, strict=True):
        above = np.clip(value - bulk(value)[0], -least, least)
        units = np.floor(above / step).astype(np.int64) + _STEPS
        share = np.bincount(units, minlength=2 * _STEPS + 1) / units.size
        masses = np.convolve(masses, share)
        scores += units[own]
    tail = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    allowed = tail * max(buckets.shape[0], 1) <= false_texts
    threshold = int(np.flatnonzero(allowed)[0])
    return ScoreTest(tail, threshold, step, len(counts)), scores
