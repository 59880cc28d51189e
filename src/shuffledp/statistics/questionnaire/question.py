"""A question as an encoding: answers become buckets, and counts become estimates.

A question knows nothing of privacy. It says which groups of buckets its answers need, in
which bucket of each group an answer lies, and which linear combinations of the buckets'
counts estimate what was asked. `Questionnaire` certifies any questions: the certificate
depends on the groups alone, so that every encoding keeps it.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from shuffledp.analyzer.interval import half_width
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.dishonest_shifts import (
    liars_messages,
    moved_by,
)
from shuffledp.types import Floats, Ints

# In the metadata of a field: a plan chooses it, and files of questions do not state it.
PLANNED = "planned"


@dataclass(frozen=True)
class AnswerGroup:
    """Buckets that a question needs: one group of a collection of counts.

    Attributes:
        buckets: d, at least 1.
        most: s, the most of them that an answer lies in, from 1 to d.
        error_weight: How much a variance of 1 on every bucket's count, in people squared,
            adds to the squared error of the question's estimates, in the mean over them
            and in units of (people x the range of the answer), above 0.
    """

    buckets: int
    most: int
    error_weight: float


@dataclass(frozen=True, eq=False)
class QuestionEstimate:
    """Unbiased estimates of what a question asks.

    Attributes:
        labels: Of each estimated number.
        value: Estimates, shape (labels,).
        standard_error: Of each, about the people who took part, shape (labels,).
        excess_kurtosis: Of each estimate's error, shape (labels,): geometric noise has
            longer tails than a normal distribution.
        num_users: People in the collection.
        message_shift: By how much one message + or - moves each estimate at most, shape
            (labels,); infinite where messages decide more than they add.
        step: By how much one message of noise moves each estimate, for intervals, shape
            (labels,); of ratios, their linear part.
    """

    # Others are in the unit of a number.
    counts_people: ClassVar[bool] = True
    # Where a plan predicts one error of all numbers: of which, in words.
    alike: ClassVar[str] = ""

    labels: tuple[str, ...]
    value: Floats
    standard_error: Floats
    excess_kurtosis: Floats
    num_users: int
    message_shift: Floats = field(kw_only=True)
    step: Floats = field(kw_only=True)

    @property
    def predicted_errors(self) -> dict[str, float]:
        """Standard errors by label, of an estimate that a plan expects."""
        if self.alike:
            return {self.alike: float(self.standard_error.max())}
        errors = self.standard_error.tolist()
        return dict(zip(self.labels, errors, strict=True))

    def manipulation(self, report_size: float, num_liars: int = 1) -> Floats:
        """Returns by how much dishonest people can move each estimate, shape (labels,).

        All messages of a report may be + or - where they count most.

        Args:
            report_size: Messages of a report; infinite if sizes vary.
            num_liars: How many people send any messages they like.

        Raises:
            InvalidInputError: If there are not as many people.
        """
        messages = liars_messages(report_size, num_liars, self.num_users)
        return moved_by(messages, self.message_shift)

    def interval(self, confidence: float = 0.95) -> Floats:
        """Returns the ends of two-sided confidence intervals, shape (labels, 2).

        Normal quantiles are corrected for the fourth cumulant of noise, and for the step
        of one message.

        Args:
            confidence: Probability that an interval contains the truth, in (0, 1).
        """
        margin = half_width(
            confidence, self.standard_error, self.step, self.excess_kurtosis
        )
        return np.stack([self.value - margin, self.value + margin], axis=1)


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Unbiased counts of one group's buckets.

    Attributes:
        value: People per bucket, shape (buckets,).
        noise_variance: Of each bucket's count, in people squared, without sampling.
        noise_cumulant: Fourth cumulant of the same.
        most: s, the most buckets that an answer lies in.
    """

    value: Floats
    noise_variance: float
    noise_cumulant: float
    most: int


@dataclass(frozen=True, eq=False)
class QuestionCounts:
    """Counts of all groups of a question, and the errors of their combinations.

    With rates lambda below 1 people send each answer with a probability. A combination
    sums over people i, answers b, coefficient a_b: with y_i their sum of coefficients and
    z_i that of squares, and D the sum of all rates,

        variance = (n / D)^2 (n mean z mean lambda (1 - lambda)
                              + n var(y) var(lambda) n / (n - 1)) + noise.

    Attributes:
        groups: In the order of the question's groups.
        num_users: n.
        sampling: (n / D)^2 n mean lambda (1 - lambda).
        spread: (n / D)^2 n var(lambda) n / (n - 1).
        message: n / D, the people by which one message + moves a count.
    """

    groups: tuple[GroupCounts, ...]
    num_users: int
    sampling: float
    spread: float
    message: float = 1.0

    def each_bucket(self, labels: tuple[str, ...]) -> QuestionEstimate:
        """Returns the number of people in each bucket of the question's one group.

        Args:
            labels: Of the buckets.
        """
        return self.combine(labels, (sparse.eye_array(len(labels), format="csr"),))

    def combine(
        self,
        labels: tuple[str, ...],
        coefficients: tuple[Any, ...],
        constant: float | Floats = 0.0,
    ) -> QuestionEstimate:
        """Returns linear combinations of counts, with their errors.

        Args:
            labels: Of the combinations.
            coefficients: For each group a matrix, dense or sparse, of shape (labels,
                buckets).
            constant: Added to every combination, or one for each, shape (labels,).
        """
        value = np.zeros(len(labels)) + constant
        noise, cumulant, squares, roots = (np.zeros(len(labels)) for _ in range(4))
        shift = np.zeros(len(labels))
        for group, group_coefficients in zip(self.groups, coefficients, strict=True):
            matrix: Any = (
                group_coefficients
                if isinstance(group_coefficients, np.ndarray)
                else group_coefficients.tocsr()
            )
            squared = _square(matrix)
            value += matrix @ group.value
            shift = np.maximum(shift, _largest_sizes(matrix))
            noise += group.noise_variance * _row_sums(squared)
            cumulant += group.noise_cumulant * _row_sums(_square(squared))
            # Mean over people of this group's squared coefficient.
            shares = np.clip(group.value / self.num_users, 0.0, 1.0)
            square = squared @ shares
            squares += square
            # Of s answers, the squared sum is at most s times the sum of squares.
            alike = np.minimum(_row_sums(matrix != 0.0), group.most)
            roots += np.sqrt(alike * square)
        # Answers of one person may depend on each other: Minkowski's inequality bounds
        # the mean square of their sum. With a single answer it is an equality.
        mean = (value - constant) / self.num_users
        variance = np.maximum(roots**2 - mean**2, 0.0)
        total = noise + self.sampling * squares + self.spread * variance
        safe = np.where(total > 0.0, total, 1.0)
        return QuestionEstimate(
            labels,
            value,
            np.sqrt(total),
            cumulant / safe**2,
            self.num_users,
            message_shift=self.message * shift,
            step=self.message * shift,
        )


class Question(Protocol):
    """An encoding of one question: a frozen dataclass with its terms as attributes."""

    @property
    def name(self) -> str:
        """The name that analysts and people know it by; unique in a questionnaire."""
        ...

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """The groups of buckets that it needs."""
        ...

    def adapted(self, num_users: int, *, noise: float) -> "Question":
        """Returns the question with the terms that a planner chooses, if there are any.

        Args:
            num_users: How many people take part.
            noise: Standard deviation of Gaussian noise that keeps the smallest target if
                one number of at most 1 per person is added up.
        """
        ...

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Runs on the devices: returns the buckets of people's answers.

        Args:
            answers: Of n people, in the question's own terms.
            rng: `SystemRandom()` on real devices, a seeded generator in simulations;
                numbers are rounded at random.

        Returns:
            Buckets of each group in turn, counted from 0 within the group and different in
            a row, or -1 for no answer, shape (n, sum of `most`).

        Raises:
            InvalidInputError: If an answer is out of range.
        """
        ...

    def estimate(self, counts: QuestionCounts) -> QuestionEstimate:
        """Returns estimates of the numbers that are asked for.

        Args:
            counts: Of the question's groups.
        """
        ...


def _largest_sizes(matrix: Any) -> NDArray[np.float64]:
    """Returns the size of the largest entry of each row."""
    largest_coefficients = abs(matrix).max(axis=1)
    dense = (
        largest_coefficients
        if isinstance(largest_coefficients, np.ndarray)
        else largest_coefficients.toarray()
    )
    return np.asarray(dense, dtype=np.float64).ravel()


def check_different_names(names: Iterable[str]) -> None:
    """Raises InvalidInputError if two questions have one name, or there is no question."""
    name_counts = Counter(names)
    twice = [repr(name) for name, number in name_counts.items() if number > 1]
    if twice:
        raise InvalidInputError(
            f"Expected questions of different names, got {', '.join(twice)} twice."
        )
    if not name_counts:
        raise InvalidInputError("Expected at least one question.")


def _square(matrix: Any) -> Any:
    """Returns the squares of entries."""
    is_dense = isinstance(matrix, np.ndarray)
    return np.square(matrix) if is_dense else matrix.power(2)


def _row_sums(matrix: Any) -> NDArray[np.float64]:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
