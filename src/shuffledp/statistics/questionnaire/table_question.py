"""A question for several attributes of a person: their joint table, or all pairs.

*Joint table.* One group with a bucket for each cell. A margin adds up cells, and noise.

*All pairs.* One group with a bucket for each cell of each pair of attributes, and an answer
in every pair. With m pairs the noise of a cell is sqrt(m) times that of a single pair. If
each person answered one pair, drawn at random, a count would be multiplied by m, its noise
with it, and the error of who answered which would be added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.statistics.questionnaire.question import (
    AnswerGroup,
    QuestionCounts,
    QuestionEstimate,
    check_name,
)
from shuffledp.types import Ints

_MOST_ATTRIBUTES = 8
_MOST_CELLS = 2**20


@dataclass(frozen=True)
class TableQuestion:
    """A question for several attributes, each one of some options.

    >>> import numpy as np, shuffledp as sdp
    >>> question = sdp.TableQuestion("who", {"sex": ("f", "m"), "age": ("young", "old")})
    >>> question.cells
    ('sex=f, age=young', 'sex=f, age=old', 'sex=m, age=young', 'sex=m, age=old')
    >>> question.encode([[1, 0]], rng=np.random.default_rng(1)).tolist()
    [[2]]

    Attributes:
        name: Of the question.
        attributes: Options of each attribute, by its name: 2 to 8 attributes of at least 2
            options. Stored as a tuple of (name, options).
        pairs: Whether all pairs of attributes are counted instead of the joint table.
    """

    name: str
    attributes: Mapping[str, Sequence[str]] | tuple[tuple[str, tuple[str, ...]], ...]
    pairs: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        given = self.attributes
        items = given.items() if isinstance(given, Mapping) else given
        if not isinstance(self.pairs, bool):
            raise InvalidInputError("Expected pairs to be true or false.")
        attributes = []
        for name, options in items:
            check_name(name)
            if isinstance(options, str) or not all(
                isinstance(option, str) for option in options
            ):
                raise InvalidInputError(f"Expected options of {name} as texts.")
            if len(options) < 2 or len(set(options)) < len(options):
                raise InvalidInputError(
                    f"Expected at least 2 options of {name}, all different."
                )
            attributes.append((name, tuple(options)))
        if not 2 <= len(attributes) <= _MOST_ATTRIBUTES:
            raise InvalidInputError(
                f"Expected 2 to {_MOST_ATTRIBUTES} attributes, got {len(attributes)}."
            )
        if len({name for name, _ in attributes}) < len(attributes):
            raise InvalidInputError("Expected attributes of different names.")
        object.__setattr__(self, "attributes", tuple(attributes))
        if sum(self._table_sizes) > _MOST_CELLS:
            raise InvalidInputError(
                f"Expected at most {_MOST_CELLS:,} cells: take fewer or coarser "
                "attributes, or pairs of them."
            )

    @property
    def _options(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        assert isinstance(self.attributes, tuple)
        return self.attributes

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the attributes of each table that is counted."""
        every = range(len(self._options))
        return tuple(combinations(every, 2)) if self.pairs else (tuple(every),)

    @property
    def _table_sizes(self) -> tuple[int, ...]:
        sizes = [len(options) for _, options in self._options]
        return tuple(
            int(np.prod([sizes[place] for place in table], dtype=object))
            for table in self.tables
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """The label of every cell of every table."""
        labels = []
        for table in self.tables:
            texts = [
                [
                    f"{self._options[place][0]}={text}"
                    for text in self._options[place][1]
                ]
                for place in table
            ]
            labels += [", ".join(cell) for cell in product(*texts)]
        return tuple(labels)

    @property
    def groups(self) -> tuple[AnswerGroup, ...]:
        """One group: a person is in one cell of each table."""
        return (AnswerGroup(sum(self._table_sizes), len(self.tables), 1.0),)

    def adapted(self, num_users: int, *, noise: float) -> "TableQuestion":
        """Returns the question: there is nothing to choose."""
        del num_users, noise
        return self

    def encode(self, answers: ArrayLike, *, rng: Rng) -> Ints:
        """Returns a person's cell of each table, shape (n, tables).

        Args:
            answers: Positions of options, a column for each attribute, shape
                (n, attributes).
            rng: Not used: nothing is rounded.

        Raises:
            InvalidInputError: If shapes differ, or a position is out of range.
        """
        del rng
        positions = np.asarray(answers)
        sizes = np.array([len(options) for _, options in self._options])
        if (
            positions.ndim != 2
            or positions.shape[1] != sizes.size
            or positions.dtype.kind not in "iu"
        ):
            raise InvalidInputError(
                f"Expected positions of options as rows of {sizes.size} whole numbers."
            )
        if positions.size and not np.all((positions >= 0) & (positions < sizes)):
            raise InvalidInputError(
                "Expected positions of options from 0 to less than their number."
            )
        first, columns = 0, []
        for table, cells in zip(self.tables, self._table_sizes, strict=True):
            places = list(table)
            shape = tuple(sizes[places].tolist())
            own = tuple(positions[:, place].astype(np.int64) for place in places)
            columns.append(first + np.ravel_multi_index(own, shape))
            first += cells
        return np.stack(columns, axis=1)

    def estimate(self, counts: QuestionCounts) -> "TableEstimate":
        """Returns the number of people in each cell of each table."""
        every = counts.each_bucket(self.cells)
        return TableEstimate(
            every.labels,
            every.value,
            every.standard_error,
            every.excess_kurtosis,
            every.num_users,
            self,
            counts,
        )


@dataclass(frozen=True, eq=False)
class TableEstimate(QuestionEstimate):
    """Numbers of people in each cell, and sums of cells.

    Attributes:
        question: That was asked.
        counts: That it was estimated from.
    """

    question: TableQuestion
    counts: QuestionCounts

    def margin(self, *names: str) -> QuestionEstimate:
        """Returns the number of people by some attributes, from the first table with all.

        Args:
            names: Of attributes, at least one, in the order of the labels.

        Raises:
            InvalidInputError: If no table has all of these attributes.
        """
        question = self.question
        attributes = dict(question.attributes)
        known = list(attributes)
        if not names or len(set(names)) < len(names) or not set(names) <= set(known):
            raise InvalidInputError(
                f"Expected different attributes, of {', '.join(known)}."
            )
        wanted = [known.index(name) for name in names]
        first = 0
        for table in question.tables:
            shape = [len(attributes[known[place]]) for place in table]
            cells = int(np.prod(shape))
            if set(wanted) <= set(table):
                places = np.unravel_index(np.arange(cells), shape)
                sizes = [len(attributes[name]) for name in names]
                rows = np.ravel_multi_index(
                    tuple(places[table.index(place)] for place in wanted), sizes
                )
                matrix = _indicator(rows, first, int(np.prod(sizes)), self.value.size)
                texts = [
                    [f"{name}={text}" for text in attributes[name]] for name in names
                ]
                labels = tuple(", ".join(cell) for cell in product(*texts))
                return self.counts.combine(labels, (matrix,))
            first += cells
        raise InvalidInputError(
            f"Expected attributes that are counted together, got {', '.join(names)}: "
            "only pairs were asked for."
        )


def _indicator(rows: Ints, first: int, num_rows: int, num_columns: int) -> Any:
    """Returns a sparse matrix with a 1 for each cell, in the row that it adds to."""
    columns = first + np.arange(rows.size)
    return sparse.csr_array(
        (np.ones(rows.size), (rows, columns)), shape=(num_rows, num_columns)
    )
