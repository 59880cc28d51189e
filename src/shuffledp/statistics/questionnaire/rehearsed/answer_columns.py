"""Known answers to a question: the columns that hold them, and what is shown of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.datasets.answer_categories import answer_categories
from shuffledp.datasets.answer_numbers import answer_numbers
from shuffledp.datasets.answer_positions import cell_texts, option_positions
from shuffledp.datasets.table_files import Rows
from shuffledp.errors import InvalidInputError
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class AnswerCells:
    """Cells of a table: a row for each person.

    Attributes:
        rows: Cleaned columns, with nulls for answers that are missing.
    """

    rows: Rows

    def positions(self, column: str, options: tuple[str, ...], most: int = 1) -> Ints:
        """Returns positions of options, shape (n, most): see `option_positions`."""
        return option_positions(
            self.rows.frame[column], options, most=most, first_row=self.rows.first
        )

    def categories(self, column: str, num_categories: int) -> Ints:
        """Returns positions in a list, -1 where there is none, shape (n,).

        Raises:
            DataError: If a cell is no number; the error names its row.
            InvalidInputError: If it is no position of the list; the error names its row.
        """
        cells = self.rows.frame[column]
        return answer_categories(cells, num_categories, first_row=self.rows.first)

    def strings(self, column: str) -> NDArray[Any]:
        """Returns texts, None where there is none, shape (n,).

        Raises:
            InvalidInputError: If cells are lists.
        """
        cells = self.rows.frame[column]
        if cells.dtype.is_nested():
            raise InvalidInputError(f"Expected texts in column {column!r}, got lists.")
        return np.array(cell_texts(cells).to_list(), dtype=object)

    def numbers(self, column: str, low: float, high: float) -> Floats:
        """Returns numbers, NaN where there is none, shape (n,).

        Raises:
            DataError: If a cell is no number; the error names its row.
            InvalidInputError: If a number is out of range; the error names its row.
        """
        cells = self.rows.frame[column]
        return answer_numbers(cells, low, high, first_row=self.rows.first)


class AnswerColumns(Protocol):
    """A question, as its answers are read from columns and compared with estimates."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that its answers are read from."""
        ...

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts that are answers, even if others would read them as missing."""
        ...

    @property
    def can_skip(self) -> bool:
        """Whether a person may leave it out: the encoding has a place for no answer."""
        ...

    def read(self, cells: AnswerCells) -> NDArray[Any]:
        """Returns answers as the question encodes them; NaN where a number is missing.

        Raises:
            DataError: If a cell is of another kind.
            InvalidInputError: If an answer is none of the question's.
        """
        ...

    def truth(self, answers: NDArray[Any]) -> Any:
        """Returns the true numbers of the people who took part.

        Args:
            answers: Theirs, as the question encodes them.
        """
        ...

    def consistent(self, estimate: Any, truth: Any) -> Any:
        """Returns possible numbers, for `sections` in place of the estimates.

        Args:
            estimate: Of the question.
            truth: From `truth`: it tells whether all people answered.
        """
        ...

    def sections(
        self, estimate: Any, truth: Any, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns estimates beside the truth.

        Args:
            estimate: Of the question.
            truth: From `truth`.
            confidence: Of intervals, in (0, 1).
        """
        ...


# Of tables the answers themselves are the truth: `isinstance` tells.
@runtime_checkable
class CountedColumns(AnswerColumns, Protocol):
    """A question whose truth is known from counts that add up over parts of the people."""

    @property
    def num_counts(self) -> int:
        """How many counts there are."""
        ...

    def count(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Counts the answers of a part: whole numbers, shape (counts,).

        Args:
            answers: As the question encodes them, and has checked them.
        """
        ...

    def counted_truth(self, counts: NDArray[Any]) -> Any:
        """Returns the true numbers, as far as counts of all parts tell them."""
        ...


def answer_rows(
    question: str,
    quantity: str,
    names: Sequence[str],
    numbers: tuple[ArrayLike, ArrayLike, Floats],
    truths: ArrayLike,
    listed: ArrayLike = True,
) -> tuple[EstimateRow, ...]:
    """Returns rows that name their question, what was estimated, and the error.

    Where an interval has no end, the collection says nothing of the number: its estimate
    would be noise alone, and is left out (NaN, with an infinite error).

    Args:
        question: The name of the question.
        quantity: What a row states, such as "share".
        names: Of rows.
        numbers: Estimates and standard errors, shape (rows,), and intervals, (rows, 2).
        truths: Known numbers, NaN where there is none, shape (rows,).
        listed: Whether reports list a row, or each of them, shape (rows,).
    """
    shape = len(names)
    values, errors, intervals = numbers
    is_given = np.broadcast_to(np.asarray(listed, dtype=np.bool_), shape)
    columns = zip(
        names,
        np.broadcast_to(values, shape).tolist(),
        np.broadcast_to(errors, shape).tolist(),
        intervals.tolist(),
        np.broadcast_to(truths, shape).tolist(),
        is_given.tolist(),
        strict=True,
    )
    rows = []
    for name, value, error, (low, high), known, is_listed in columns:
        truth = None if math.isnan(known) else known
        if not (math.isfinite(low) or math.isfinite(high)):
            value, error = math.nan, math.inf
        row = EstimateRow(name, value, error, low, high, truth, is_listed)
        details = {"question": question, "quantity": quantity, "error": row.error}
        rows.append(replace(row, details=details))
    return tuple(rows)


def answered_section(
    question: str, people: Any, share: float, confidence: float
) -> SummarySection:
    """Returns the share of people who answered a number.

    Args:
        question: The name of the question.
        people: Estimate of the number of those who answered.
        share: The true share of people who did.
        confidence: Of intervals, in (0, 1).
    """
    rows = answer_rows(
        question,
        "share",
        ["answered"],
        shares_of(people, confidence),
        [share],
    )
    title = f"{question}: people who answered"
    words = StatisticLabels(question, title, title, "people", "people", SHARES)
    return SummarySection(words, rows, None)


def shares_of(
    estimate: QuestionEstimate, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Returns estimated numbers of people as shares, with their errors and intervals."""
    n = estimate.num_users
    interval = estimate.interval(confidence) / n
    return estimate.value / n, estimate.standard_error / n, interval
