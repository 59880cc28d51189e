"""A question for several attributes: the table of every pair of them at once.

All P pairs are one group of buckets; a person's answers are a set of P of them. With mu
for the sensitivity that Gaussian noise of deviation 1 may hide, noise of the variance
2 P / mu^2 on every count hides the P buckets that a person leaves and the P that they
enter. If every person answers one pair instead, picked at random, counts and their noise
are multiplied by P: Gaussian noise has the variance 2 P^2 / mu^2, geometric noise about
8 P^2 / epsilon^2, and the sampling of people adds (P - 1) times the true count.
"""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from shuffledp.arguments import expect_instance
from shuffledp.label_checks import check_label
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.attributes import (
    Attributes,
    cells_of,
    checked_attributes,
    checked_positions,
)
from shuffledp.statistics.questionnaire.question import (
    AnswerGroup,
    QuestionCounts,
    QuestionEstimate,
)
from shuffledp.statistics.questionnaire.table_question import cell_labels
from shuffledp.types import Ints

MOST_ATTRIBUTES = 16


@dataclass(frozen=True)
class PairsQuestion:
    """A question for several attributes, to estimate all tables of two.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.PairsQuestion(
    ...     "people", {"sex": ("f", "m"), "home": ("city", "land"), "job": ("yes", "no")}
    ... )
    >>> question.encode([[1, 0, 1]], rng=np.random.default_rng(1)).tolist()
    [[2, 7, 9]]

    Attributes:
        name: Of the question.
        attributes: Categories, at least 2, of each of two to 16 attributes. Answers are
            their positions, from 0; the number of categories stands for no answer.
    """

    name: str
    attributes: Attributes = field(hash=False)

    def __post_init__(self) -> None:
        check_label(self.name, "a question's name")
        checked = checked_attributes(self.attributes, most=MOST_ATTRIBUTES)
        object.__setattr__(self, "attributes", checked)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(categories) for categories in self.attributes.values())

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """One group: the cells of all pairs; a person is in one per pair."""
        pairs = [math.prod(pair) for pair in itertools.combinations(self._sizes, 2)]
        return (AnswerGroup(sum(pairs), len(pairs), 1.0),)

    def adapted(self, num_users: int, *, noise: float) -> "PairsQuestion":
        """Returns the question: there is nothing to choose."""
        del num_users, noise
        return self

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns the cells of all pairs, shape (n, pairs).

        Args:
            answers: Positions of categories, shape (n, attributes). A row without an
                answer to one attribute lies in no cell of its pairs.
            rng: Not used: nothing is rounded.

        Raises:
            InvalidInputError: If the shape is another or a position is out of range.
        """
        del rng
        sizes = self._sizes
        rows = checked_positions(answers, sizes)
        none, columns, first = self.groups[0].buckets, [], 0
        for left, right in itertools.combinations(range(len(sizes)), 2):
            pair = (sizes[left], sizes[right])
            cells = cells_of(rows[:, (left, right)], pair)
            columns.append(np.where(cells < math.prod(pair), first + cells, none))
            first += math.prod(pair)
        return np.stack(columns, axis=1)

    def estimate(self, counts: QuestionCounts) -> QuestionEstimate:
        """Returns the number of people in each cell of each pair, in the pairs' order."""
        expect_instance(counts, QuestionCounts)
        labels = tuple(
            label
            for pair in itertools.combinations(self.attributes.items(), 2)
            for label in cell_labels(dict(pair))
        )
        every_bucket = sparse.eye_array(len(labels), format="csr")
        return counts.combine(labels, (every_bucket,))
