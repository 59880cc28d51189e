"""A question for two to four attributes together: how many people are in each cell."""

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.analyzer.projection import project, project_within
from shuffledp.arguments import expect_instance
from shuffledp.errors import InvalidInputError
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
from shuffledp.types import Ints

# Cells multiply with attributes, and each has the noise of a bucket of its own.
MOST_ATTRIBUTES = 4


@dataclass(frozen=True, eq=False)
class TableEstimate(QuestionEstimate):
    """Unbiased numbers of people in the cells of a table, and in its margins.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.TableQuestion("who", {"sex": ("f", "m"), "age": ("young", "old")})
    >>> noise = (sdp.PoissonNoise(50.0),)
    >>> asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=1_000)
    >>> rows, rng = np.repeat([[0, 0], [1, 1]], 500, axis=0), np.random.default_rng(1)
    >>> tally = asked.draw_tally({"who": rows}, np.full(1_000, 1.0), rng=rng)
    >>> found = asked.estimate(tally, sdp.Population.from_counts({1.0: 1_000}))["who"]
    >>> found.margin("sex").labels
    ('sex=f', 'sex=m')
    >>> found.margin("sex").standard_error.tolist()
    [10.0, 10.0]

    Attributes:
        attributes: Categories of each attribute; the last varies fastest over `labels`.
        counts: Of all cells.
    """

    attributes: Attributes
    counts: QuestionCounts

    def margin(self, *names: str) -> QuestionEstimate:
        """Returns the numbers of people by some of the attributes, with exact errors.

        Args:
            names: Different names of attributes, at least one; the last varies fastest.

        Raises:
            InvalidInputError: If names are repeated or unknown.
        """
        labels, matrix = margin_of(self.attributes, names)
        # Errors of a sum are not those of its cells added up: a person is in one cell
        # alone.
        return self.counts.combine(labels, (matrix,))

    def consistent(self, *, complete: bool = False) -> "ConsistentTable":
        """Returns the nearest numbers of people that are possible.

        They are nearer to the truth, and biased: see `ConsistentEstimate`. None is
        negative, and all together are at most all people. Margins add them up, so that
        they agree with each other.

        Args:
            complete: Whether all people answered for all attributes: then cells add up to
                all people. Not seen in the reports, which hide who left it out.
        """
        n = float(self.num_users)
        projection = project if expect_instance(complete, bool) else project_within
        return ConsistentTable(self, projection(self.value, n), 0.0, n, self.labels)


@dataclass(frozen=True, eq=False)
class ConsistentTable(ConsistentEstimate):
    """The possible table that is nearest to an unbiased one.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.TableQuestion("who", {"sex": ("f", "m"), "age": ("young", "old")})
    >>> noise = (sdp.PoissonNoise(50.0),)
    >>> asked = sdp.Questionnaire((question,), noise, (1.0,), (1.0,), honest=1_000)
    >>> rows, rng = np.repeat([[0, 0], [1, 1]], 500, axis=0), np.random.default_rng(1)
    >>> tally = asked.draw_tally({"who": rows}, np.full(1_000, 1.0), rng=rng)
    >>> found = asked.estimate(tally, sdp.Population.from_counts({1.0: 1_000}))["who"]
    >>> table = found.consistent(complete=True)
    >>> table.value.round(1).tolist(), table.margin("sex").value.round(1).tolist()
    ([497.0, 0.0, 5.0, 498.0], [497.0, 503.0])

    Attributes:
        raw: The unbiased table.
    """

    raw: TableEstimate

    def margin(self, *names: str) -> ConsistentEstimate:
        """Returns sums of the cells, beside the unbiased margin.

        Args:
            names: As of `TableEstimate.margin`.

        Raises:
            InvalidInputError: If names are repeated or unknown.
        """
        labels, matrix = margin_of(self.raw.attributes, names)
        unbiased = self.raw.margin(*names)
        return ConsistentEstimate(
            unbiased, matrix @ self.value, self.lowest, self.highest, labels
        )


@dataclass(frozen=True)
class TableQuestion:
    """A question for several attributes of a person: every combination is counted.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.TableQuestion(
    ...     "people", {"sex": ("f", "m"), "age": ("young", "middle", "old")}
    ... )
    >>> question.encode([[1, 0], [0, 2], [1, -1]], rng=np.random.default_rng(1)).tolist()
    [[3], [2], [-1]]

    Attributes:
        name: Of the question.
        attributes: Categories, at least 2, of each of two to four attributes. Answers are
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
        """One group, with a bucket for each cell."""
        return (AnswerGroup(math.prod(self._sizes), 1, 1.0),)

    def adapted(self, num_users: int, *, noise: float) -> "TableQuestion":
        """Returns the question: there is nothing to choose."""
        del num_users, noise
        return self

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns cells, shape (n, 1).

        Args:
            answers: Positions of categories, shape (n, attributes). A row without an
                answer to one attribute lies in no cell.
            rng: Not used: nothing is rounded.

        Raises:
            InvalidInputError: If the shape is another or a position is out of range.
        """
        del rng
        return cells_of(checked_positions(answers, self._sizes), self._sizes)[:, None]

    def estimate(self, counts: QuestionCounts) -> TableEstimate:
        """Returns the number of people in each cell."""
        expect_instance(counts, QuestionCounts)
        cells = counts.each_bucket(cell_labels(self.attributes))
        return TableEstimate(**vars(cells), attributes=self.attributes, counts=counts)


def cell_labels(attributes: Attributes) -> tuple[str, ...]:
    """Returns a label of each cell; the last attribute varies fastest."""
    return tuple(
        ", ".join(
            f"{name}={category}"
            for name, category in zip(attributes, categories, strict=True)
        )
        for categories in itertools.product(*attributes.values())
    )


def margin_of(
    attributes: Attributes, names: tuple[str, ...]
) -> tuple[tuple[str, ...], Any]:
    """Returns the labels of a margin, and the matrix that adds up cells to it.

    Args:
        attributes: Of the table; the last varies fastest.
        names: Of attributes that the margin keeps.

    Raises:
        InvalidInputError: If there are none, or they are repeated or unknown.
    """
    attribute_names = tuple(attributes)
    are_known = all(isinstance(name, str) and name in attribute_names for name in names)
    if not names or not are_known or len(set(names)) < len(names):
        given_names = ", ".join(f"{name!r:.60}" for name in names) or "none"
        raise InvalidInputError(
            f"Expected different names among {', '.join(attribute_names)}, each an "
            f"argument of its own, got {given_names}."
        )
    sizes = tuple(len(categories) for categories in attributes.values())
    kept_axes = tuple(attribute_names.index(name) for name in names)
    positions = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    cells = np.ravel_multi_index(
        tuple(positions[axis] for axis in kept_axes),
        tuple(sizes[axis] for axis in kept_axes),
    )
    labels = cell_labels({name: attributes[name] for name in names})
    matrix = sparse.csr_array(
        (np.ones(cells.size), (cells, np.arange(cells.size))),
        shape=(len(labels), cells.size),
    )
    return labels, matrix
