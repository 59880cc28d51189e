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

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.analyzer.projection import project_within
from shuffledp.arguments import expect_instance
from shuffledp.label_checks import check_label
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.agreeing_tables import agreeing_tables
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

# A report then answers for 120 pairs, and noise grows with their number.
MOST_ATTRIBUTES = 16


@dataclass(frozen=True, eq=False)
class PairsEstimate(QuestionEstimate):
    """Unbiased numbers of people in the cells of the tables of all pairs.

    >>> import numpy as np, shuffledp as sdp
    >>> attributes = {name: ("yes", "no") for name in ("car", "bike", "dog")}
    >>> labels, value = tuple("abcdefghijkl"), np.tile([50.0, 30.0, 26.0, -6.0], 3)
    >>> errors = {"standard_error": np.full(12, 9.0), "excess_kurtosis": np.zeros(12)}
    >>> errors["message_shift"] = errors["step"] = np.ones(12)
    >>> terms = {"num_users": 100, "attributes": attributes}
    >>> raw = sdp.PairsEstimate(labels, value, **errors, **terms)
    >>> tables = raw.consistent(complete=True).value.reshape(3, 2, 2)
    >>> tables[0].sum(axis=1).round(3).tolist()  # Cars, in the table with bikes.
    [75.333, 24.667]
    >>> tables[1].sum(axis=1).round(3).tolist()  # Cars, in the table with dogs.
    [75.333, 24.667]

    Attributes:
        attributes: Categories of each attribute.
    """

    attributes: Attributes

    def consistent(self, *, complete: bool = False) -> ConsistentEstimate:
        """Returns the nearest numbers of people that are possible.

        They are nearer to the truth, and biased: see `ConsistentEstimate`. None is
        negative, and each table adds up to at most all people.

        Args:
            complete: Whether all people answered for all attributes: then tables add up
                to all people, and tables agree on the margins that they share, to a
                billionth of the people. Where people left some out, margins of two tables
                are about different people. Not seen in the reports, which hide it.
        """
        n = float(self.num_users)
        expect_instance(complete, bool)
        sizes = tuple(len(categories) for categories in self.attributes.values())
        pairs = list(itertools.combinations(sizes, 2))
        # The tables lie behind each other in one array of numbers.
        ends = np.cumsum([math.prod(pair) for pair in pairs])
        parts = np.split(self.value, ends[:-1])
        if complete:
            # Only where all people answered for all attributes are margins those of the
            # same people.
            tables = [part.reshape(p) for part, p in zip(parts, pairs, strict=True)]
            projections = [table.ravel() for table in agreeing_tables(tables, sizes, n)]
        else:
            projections = [project_within(part, n) for part in parts]
        return ConsistentEstimate(
            self, np.concatenate(projections), 0.0, n, self.labels
        )


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
            their positions, from 0, or -1 for no answer.
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
        columns, first = [], 0
        for left, right in itertools.combinations(range(len(sizes)), 2):
            pair = (sizes[left], sizes[right])
            cells = cells_of(rows[:, (left, right)], pair)
            columns.append(np.where(cells >= 0, first + cells, -1))
            first += math.prod(pair)
        return np.stack(columns, axis=1)

    def estimate(self, counts: QuestionCounts) -> PairsEstimate:
        """Returns the number of people in each cell of each pair, in the pairs' order."""
        expect_instance(counts, QuestionCounts)
        labels = tuple(
            label
            for pair in itertools.combinations(self.attributes.items(), 2)
            for label in cell_labels(dict(pair))
        )
        every_bucket = sparse.eye_array(len(labels), format="csr")
        cells = counts.combine(labels, (every_bucket,))
        return PairsEstimate(**vars(cells), attributes=self.attributes)
