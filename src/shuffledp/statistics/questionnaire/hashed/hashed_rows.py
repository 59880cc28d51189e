"""Rows of hashed buckets: where a category lies, and which error is to be expected.

Let x be a category, and v the variance of noise on a bucket. Over the draw of the hash
functions, the mean over R rows of B buckets of

    (count of the bucket of x - all counts of the row / B) / (1 - 1 / B)

is unbiased, with the variance (v + sum of f_j^2 over other categories j / B) / R, up to
factors of 1 + 1 / B. Frequent categories that are recognized leave the sum: see
docs/theory/counts.md.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, ndtri, polygamma

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import whole_number
from shuffledp.statistics.questionnaire.hashed.bucket_hash import hashed_buckets
from shuffledp.types import Ints

MOST_CATEGORIES = 2**22
LEAST_BITS, MOST_BITS, MOST_ROWS = 6, 20, 8
# About how many passes share the false categories.
_PASSES = 8.0
# Recognized categories, times those of which one other is taken for one of them; and the
# part by which a threshold is above that of normal noise.
_RECOGNIZED, _HIGHER = 1.7, 1.2
# Threshold and recognized categories depend on each other: they settle long before.
_STEPS = 20
# Of the messages of noise, those of Gaussian noise: Poisson noise takes a little more.
_ROOM = 0.95


@dataclass(frozen=True)
class HashedRows:
    """R hash functions from k categories to B buckets each.

    The functions follow from these terms, which are part of a protocol's identity.

    >>> rows = HashedRows(1_000_000, num_rows=2, bits=8)
    >>> rows.buckets(np.array([0, 999_999, -1])).tolist()
    [[126, 14], [230, 55], [-1, -1]]

    Attributes:
        num_categories: k, above the buckets of a row, at most 4,194,304.
        num_rows: R, from 1 to 8; one alone recognizes no frequent category.
        bits: Every row has B = 2 to this power of buckets, from 6 to 20.
        key: Of the hash functions: public, and chosen before answers are.
    """

    num_categories: int
    num_rows: int
    bits: int
    key: int = 0

    def __post_init__(self) -> None:
        check_categories(self.num_categories)
        whole_number(self.num_rows, "rows", least=1, most=MOST_ROWS)
        whole_number(self.bits, "bits of a bucket", least=LEAST_BITS, most=MOST_BITS)
        whole_number(self.key, "as the key", least=0, most=2**63)
        if self.num_categories <= self.row_size:
            raise InvalidInputError(
                f"Expected more categories than the {self.row_size:,} buckets of a row, "
                f"got {self.num_categories:,}: as many can have buckets of their own."
            )

    @property
    def row_size(self) -> int:
        """B, the buckets of a row."""
        return 1 << self.bits

    def buckets(self, categories: Ints) -> Ints:
        """Returns the bucket of each category in every row, -1 for none, (n, num_rows).

        Args:
            categories: From 0 to k - 1, or -1 for no answer, shape (n,).
        """
        codes = categories.astype(np.uint64)
        columns = [
            hashed_buckets(codes, self._function(row), self.bits)
            for row in range(self.num_rows)
        ]
        is_answer = (categories >= 0)[:, None]
        return np.where(is_answer, np.stack(columns, axis=1), -1)

    def _function(self, row: int) -> str:
        return (
            f"{self.num_categories} categories, {self.num_rows} rows of {self.bits} bits, "
            f"key {self.key}, row {row}"
        )

    def even_error(self, variance: float, num_users: int) -> float:
        """Returns the error of a count, in people, if all categories are as frequent.

        Args:
            variance: v, of noise on a bucket's count.
            num_users: n.
        """
        return self._error(variance, num_users + num_users**2 / self.num_categories)

    def ranked_error(
        self, variance: float, num_users: int, *, false_categories: float
    ) -> float:
        """Returns about the error of a count if frequencies are in proportion to 1 / rank.

        Frequent categories that are recognized leave the squared counts of the others.

        Args:
            variance: v, of noise on a bucket's count.
            num_users: n.
            false_categories: That are recognized though no person holds them, in the mean.
        """
        k, n = self.num_categories, num_users
        first = n / float(digamma(k + 1) - digamma(1))
        chance = false_categories / _PASSES / k

        def error(recognized: float) -> float:
            squares = polygamma(1, recognized + 1) - polygamma(1, k + 1)
            people = first * float(digamma(k + 1) - digamma(recognized + 1))
            return self._error(variance, first**2 * float(squares) + people)

        # With more, some other category lies in their buckets in all rows.
        largest_error = _RECOGNIZED * self.row_size * chance ** (1.0 / self.num_rows)
        recognized = math.floor(largest_error) if self.num_rows > 1 else 0
        for _ in range(_STEPS):
            # The mean over rows of a category is that far above noise and collisions.
            above = _HIGHER * float(-ndtri(chance)) * error(recognized)
            recognized = min(recognized, math.floor(first / above))
        return error(recognized)

    def _error(self, variance: float, squares: float) -> float:
        """Returns the error of a count beside others of this sum of squared counts."""
        return math.sqrt((variance + squares / self.row_size) / self.num_rows)


def can_be_hashed(num_categories: int) -> bool:
    """Returns whether there are rows for as many categories."""
    return 1 << LEAST_BITS < num_categories <= MOST_CATEGORIES


def check_categories(num_categories: int) -> None:
    """Raises InvalidInputError if there are too few, or too many, categories to hash."""
    whole_number(
        num_categories,
        "categories to hash",
        least=2**LEAST_BITS + 1,
        most=MOST_CATEGORIES,
    )


def best_rows(
    num_categories: int,
    *,
    variance: float,
    num_users: int,
    messages: float,
    false_categories: float,
    key: int,
) -> HashedRows | None:
    """Returns the rows of the smallest error if frequencies are in proportion to 1 / rank.

    Args:
        num_categories: k.
        variance: Of Gaussian noise on each bucket of a single row that keeps the target:
            that of R rows has R times as much.
        num_users: n.
        messages: Of a person in the mean, answers and noise.
        false_categories: See `HashedRows.ranked_error`.
        key: Of the hash functions.

    Returns:
        None if no rows have as few messages.
    """
    candidates = []
    for count in range(1, MOST_ROWS + 1):
        noise_messages = count * variance
        for bits in range(LEAST_BITS, MOST_BITS + 1):
            noise = count * 2.0**bits * noise_messages / num_users
            if count + noise / _ROOM > messages or 2**bits >= num_categories:
                break
            rows = HashedRows(num_categories, count, bits, key)
            error = rows.ranked_error(
                noise_messages, num_users, false_categories=false_categories
            )
            # Of equal errors, the fewest messages.
            candidates.append((error, noise, count, rows))
    return min(candidates, key=lambda each: each[:3])[3] if candidates else None
