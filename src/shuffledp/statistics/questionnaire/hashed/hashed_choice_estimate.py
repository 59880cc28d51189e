"""Numbers of people in each of very many categories, from hashed buckets."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.analyzer.projection import project, project_within
from shuffledp.arguments import expect_instance
from shuffledp.statistics.questionnaire.hashed.hashed_rows import HashedRows
from shuffledp.statistics.questionnaire.hashed.score_test import (
    ScoreTest,
    bulk,
    fit_matrix,
    passing_candidates,
)
from shuffledp.statistics.questionnaire.question import (
    GroupCounts,
    QuestionCounts,
    QuestionEstimate,
)
from shuffledp.types import Floats, Ints

# Passes at the last limit, which is this many deviations of a bucket.
_LAST_PASSES, _LAST_LIMIT = 3, 4.0
# Of R rows, what frequent categories leave of a category: with less, nothing is known.
_LEAST_LEFT = 0.5
# A fitted count is one category's alone, up to the ridge of the fit.
_APART = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class HashedChoiceEstimate(QuestionEstimate):
    """Numbers of people in every category; labels are "0" to "k - 1".

    Standard errors include collisions: the variance of buckets is that of all buckets of a
    row, which holds noise and other people's categories. Estimates are unbiased over the
    draw of hash functions, up to the choice of frequent categories, which are fitted
    together, and whose people are taken out of all other buckets. Of a category whose
    buckets are combinations of those of frequent ones nothing is known: its error is
    infinite, its value NaN.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.HashedChoiceQuestion("page", 5_000, messages=80)
    >>> wish = sdp.Wish(targets={1.0: 2_000})
    >>> plan = sdp.plan_questionnaire((question,), wish, max_messages=160)
    >>> rng, pages = np.random.default_rng(1), np.repeat([7, 4_711], [1_200, 800])
    >>> asked, targets = plan.questionnaire, np.full(2_000, 1.0)
    >>> tally = asked.draw_tally({"page": pages}, targets, rng=rng)
    >>> people = sdp.Population.from_counts({1.0: 2_000})
    >>> found = asked.estimate(tally, people)["page"]
    >>> found.frequent.tolist(), found.value[found.frequent].round(-2).tolist()
    ([7, 4711], [1200.0, 800.0])

    Attributes:
        frequent: Categories that are recognized as frequent, ascending.
        tests: That they passed.
    """

    alike: ClassVar[str] = "each category, if all are as frequent"

    frequent: Ints
    tests: tuple[ScoreTest, ...]

    def consistent(self, *, complete: bool = False) -> ConsistentEstimate:
        """Returns the nearest numbers of people that are possible.

        They are not negative, and add up to at most all people. They are nearer to the
        truth, and biased: see `ConsistentEstimate`. Among very many categories the noise
        that is cut off below 0 is many times all people: nearly all numbers become 0, and
        those of frequent categories are too small by two to three standard errors.

        Args:
            complete: Whether all people answered: then numbers add up to all people, unless
                of some categories nothing is known. Not seen in the reports.
        """
        expect_instance(complete, bool)
        n, is_known = float(self.num_users), ~np.isnan(self.value)
        projection = np.full(self.value.shape, np.nan)
        add_up = complete and bool(is_known.all())
        projection[is_known] = (project if add_up else project_within)(
            self.value[is_known], n
        )
        return ConsistentEstimate(self, projection, 0.0, n, self.labels)

    @classmethod
    def of(
        cls, counts: QuestionCounts, rows: HashedRows, false_categories: float
    ) -> "HashedChoiceEstimate":
        """Returns estimates for all categories.

        Args:
            counts: A group for each row.
            rows: Where categories lie.
            false_categories: That no person holds, in the mean, that may be recognized.
        """
        buckets = rows.buckets(np.arange(rows.num_categories))
        is_frequent, tests = _frequent(counts.groups, buckets, false_categories)
        frequent = np.flatnonzero(is_frequent)
        frequent_buckets = buckets[frequent]
        fitted = fit_matrix(frequent_buckets, rows.row_size)
        means = [
            float(np.delete(group.value, taken).mean())
            for group, taken in zip(counts.groups, frequent_buckets.T, strict=True)
        ]
        people = sum(
            matrix @ (group.value - mean)
            for matrix, group, mean in zip(fitted, counts.groups, means, strict=True)
        )
        rows_left = _rows_left(buckets, frequent_buckets, fitted, rows.row_size)
        is_known = ~is_frequent & (rows_left > _LEAST_LEFT)
        # The part of a fitted count that is its own: less where others hold the rest.
        apart = np.zeros(frequent.size)
        for matrix, taken in zip(fitted, frequent_buckets.T, strict=True):
            apart += matrix[np.arange(frequent.size), taken]
        # The bucket's own count is part of the row's mean.
        scale = rows.row_size / (rows.row_size - 1.0)
        weights = np.where(is_known, scale / np.maximum(rows_left, _LEAST_LEFT), 0.0)
        constant, matrices, groups = np.zeros(rows.num_categories), [], []
        parts = zip(
            counts.groups, buckets.T, frequent_buckets.T, fitted, means, strict=True
        )
        for group, row_buckets, taken, matrix, mean in parts:
            subtracted = np.bincount(taken, weights=people, minlength=rows.row_size)
            others = group.value - subtracted
            constant -= weights * (subtracted + others.mean())[row_buckets]
            constant[frequent] -= mean * np.asarray(matrix.sum(axis=1)).ravel()
            matrices.append(_coefficients(weights, row_buckets, frequent, matrix))
            seen = float(np.delete(others, taken).var())
            smallest_variance = group.noise_variance + _least_collisions(others, rows)
            groups.append(replace(group, noise_variance=max(seen, smallest_variance)))
        labels = tuple(map(str, range(rows.num_categories)))
        all_counts = replace(counts, groups=tuple(groups))
        estimate = all_counts.combine(labels, tuple(matrices), constant)
        is_known[frequent] = apart > _APART
        return cls(
            labels,
            np.where(is_known, estimate.value, np.nan),
            np.where(is_known, estimate.standard_error, np.inf),
            estimate.excess_kurtosis,
            estimate.num_users,
            frequent,
            tests,
            # Messages also decide which categories are frequent: nothing bounds that.
            message_shift=np.full(len(labels), np.inf),
            step=estimate.step,
        )


def _frequent(
    groups: tuple[GroupCounts, ...], buckets: Ints, false_categories: float
) -> tuple[Any, tuple[ScoreTest, ...]]:
    """Returns which categories are recognized as frequent, shape (categories,)."""
    if len(groups) == 1:
        # One bucket holds many categories, and tells none of them from the others.
        return np.zeros(buckets.shape[0], dtype=np.bool_), ()
    values = [group.value for group in groups]
    spread = max(
        max(bulk(value)[1], group.noise_variance**0.5)
        for value, group in zip(values, groups, strict=True)
    )
    # Without any noise or collisions, steps still are one person.
    last = max(_LAST_LIMIT * spread, 1.0)
    limit = max(float(value.max()) - bulk(value)[0] for value in values)
    limits = []
    # The largest first: what they leave in buckets of others is then taken out.
    while limit > last:
        limits.append(limit)
        limit *= 0.5
    limits += [last] * _LAST_PASSES
    return passing_candidates(
        buckets, values, limits=limits, false_passes=false_categories
    )


def _least_collisions(others: Floats, rows: HashedRows) -> float:
    """Returns the variance that people in a row's buckets have at least.

    Squared counts of categories add up to no less than if all were as frequent, and, as
    they are whole numbers, to no less than all counts.

    Args:
        others: Counts of the row's buckets, without frequent categories.
        rows: Where categories lie.
    """
    people = max(float(others.sum()), 0.0)
    return max(people, people**2 / rows.num_categories) / rows.row_size


def _rows_left(buckets: Ints, own: Ints, fitted: tuple[Any, ...], size: int) -> Floats:
    """Returns how much of each category's buckets frequent ones leave, at most R.

    A category's squared length R, less that of its projection onto the frequent ones: the
    inverse of the squared error of its count, fitted together with theirs, is in
    proportion to it.

    Args:
        buckets: Of each category in every row, shape (categories, rows).
        own: Of each frequent category in every row, shape (frequent, rows).
        fitted: See `fit_matrix`.
        size: Buckets of a row.
    """
    num_frequent, num_rows = own.shape
    shared = sparse.csr_array((buckets.shape[0], num_frequent))
    projected = sparse.csr_array((buckets.shape[0], num_frequent))
    for row_buckets, taken, matrix in zip(buckets.T, own.T, fitted, strict=True):
        ones = np.ones(num_frequent)
        holders = sparse.csr_array(
            (ones, (taken, np.arange(num_frequent))), shape=(size, num_frequent)
        )
        shared = shared + holders[row_buckets]
        projected = projected + matrix.T.tocsr()[row_buckets]
    lost_share = np.asarray(shared.multiply(projected).sum(axis=1)).ravel()
    return np.asarray(num_rows - lost_share, dtype=np.float64)


def _coefficients(
    weights: Floats, row_buckets: Ints, frequent: Ints, matrix: Any
) -> Any:
    """Returns one row's coefficients of all categories, sparse (categories, buckets)."""
    shape = weights.size, matrix.shape[1]
    used = np.flatnonzero(weights)
    of_others = sparse.csr_array(
        (weights[used], (used, row_buckets[used])), shape=shape
    )
    columns = np.arange(frequent.size)
    placed = sparse.csr_array(
        (np.ones(frequent.size), (frequent, columns)), shape=(shape[0], frequent.size)
    )
    return of_others + placed @ matrix
