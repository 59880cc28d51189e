"""A question for one of very many categories, which a public hash maps to few buckets."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.accounting.accounting_query import check_whole
from shuffledp.arguments import expect_instance
from shuffledp.arrays import as_number, unmasked
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.label_checks import check_label
from shuffledp.randomizers.checks import whole_number
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.hashed.hashed_choice_estimate import (
    HashedChoiceEstimate,
)
from shuffledp.statistics.questionnaire.hashed.hashed_rows import (
    HashedRows,
    best_rows,
    check_categories,
)
from shuffledp.statistics.questionnaire.question import (
    PLANNED,
    AnswerGroup,
    QuestionCounts,
)
from shuffledp.types import Ints


@dataclass(frozen=True)
class HashedChoiceQuestion:
    """A question for one of k categories where k is too large for a bucket each.

    A person sends a message into one bucket of each of R rows. Estimates are of all
    categories; collisions add to their errors.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.HashedChoiceQuestion("page", 1_000_000)
    >>> question = question.adapted(100_000, noise=4.2)
    >>> question.chosen.num_rows, question.chosen.row_size
    (5, 1024)
    >>> question.encode([7, -1], rng=np.random.default_rng(1)).tolist()
    [[615, 867, 936, 281, 877], [-1, -1, -1, -1, -1]]

    Attributes:
        name: Of the question.
        num_categories: k, from 65 to 4,194,304; answers are 0, ..., k - 1, positions in a
            public list, and -1 is no answer.
        messages: Of a person in the mean, answers and noise, if nothing else is asked: a
            planner's limit.
        false_categories: How many categories that no person holds may be taken for
            frequent ones, in the mean.
        key: Of hash functions: public, and chosen before answers are.
        rows: None: a planner chooses them, for frequencies in proportion to 1 / rank.
    """

    name: str
    num_categories: int
    messages: float = 16.0
    false_categories: float = 0.05
    key: int = 0
    rows: HashedRows | None = field(default=None, metadata={PLANNED: True})

    def __post_init__(self) -> None:
        check_label(self.name, "a question's name")
        check_categories(self.num_categories)
        whole_number(self.key, "as the key", least=0, most=2**63)
        if not 0.0 < as_number(self.messages, "messages per person") < math.inf:
            raise InvalidInputError(
                f"Expected finitely many messages per person, above 0, got "
                f"{self.messages:g}."
            )
        if not 0.0 < as_number(self.false_categories, "false categories") <= 1.0:
            raise InvalidInputError(
                f"Expected a mean number of false categories above 0, up to 1, got "
                f"{self.false_categories:g}."
            )
        if self.rows is not None:
            expect_instance(self.rows, HashedRows)
        if self.rows is not None and (
            (self.rows.num_categories, self.rows.key) != (self.num_categories, self.key)
        ):
            raise InvalidInputError(
                f"Expected rows for {self.num_categories:,} categories with key "
                f"{self.key}, got {self.rows.num_categories:,} with key {self.rows.key}."
            )

    @property
    def chosen(self) -> HashedRows:
        """The rows, once there are some."""
        if self.rows is None:
            raise InvalidInputError(
                f"Expected rows of {self.name}, as a plan chooses them."
            )
        return self.rows

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """A group for each row."""
        rows = self.chosen
        # An estimate is a mean over rows.
        return (AnswerGroup(rows.row_size, 1, rows.num_rows**-2),) * rows.num_rows

    def adapted(self, num_users: int, *, noise: float) -> "HashedChoiceQuestion":
        """Returns the question with the rows that `best_rows` chooses.

        Raises:
            InvalidInputError: If there are no people, or noise is not above 0.
            CertificationError: If no rows have as few messages.
        """
        if self.rows is not None:
            return self
        check_whole(num_users, "people", least=1)
        if not 0.0 < as_number(noise, "noise") < math.inf:
            raise InvalidInputError(f"Expected noise above 0, got {noise:g}.")
        rows = best_rows(
            self.num_categories,
            # A changed answer changes two buckets of each row.
            variance=2.0 * float(noise) ** 2,
            num_users=int(num_users),
            messages=self.messages,
            false_categories=self.false_categories,
            key=self.key,
        )
        if rows is None:
            raise CertificationError(
                f"No hashed buckets with {self.messages:.3g} messages per person: "
                "expected more messages, or more people."
            )
        return replace(self, rows=rows)

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns the bucket of each category in every row, shape (n, num_rows).

        Args:
            answers: Categories from 0 to k - 1, or -1 for no answer, shape (n,).
            rng: Not used: nothing is rounded.

        Raises:
            InvalidInputError: If an answer is no whole number, or out of range.
        """
        del rng
        categories, k = unmasked(answers, "answers"), self.num_categories
        if categories.ndim != 1 or categories.dtype.kind not in "iu":
            raise InvalidInputError("Expected categories as whole numbers, one each.")
        if categories.size and not -1 <= categories.min() <= categories.max() < k:
            raise InvalidInputError(
                f"Expected positions of categories from 0 to {k - 1}, or -1 for no answer."
            )
        return self.chosen.buckets(categories.astype(np.int64))

    def estimate(self, counts: QuestionCounts) -> HashedChoiceEstimate:
        """Returns the number of people in each category."""
        expect_instance(counts, QuestionCounts)
        return HashedChoiceEstimate.of(counts, self.chosen, self.false_categories)
