"""A test of candidates on buckets that their search never read: see `score_test`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.statistics.questionnaire.hashed.bucket_hash import Codes
from shuffledp.statistics.questionnaire.hashed.score_test import (
    ScoreTest,
    passing_candidates,
)
from shuffledp.statistics.questionnaire.texts.prefix_layout import PrefixLayout
from shuffledp.types import Floats, Ints

PASSES = 3


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
    passes, tests = passing_candidates(
        buckets, counts, limits=(least,) * PASSES, false_passes=false_texts
    )
    return CheckedCodes(codes[passes], buckets[passes], tests)
