"""Known attributes of people: a column for each, for tables and all pairs of attributes."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.statistics.charts import BarChart, Chart, HeatChart, HeatTable
from shuffledp.statistics.questionnaire.pairs_question import (
    PairsEstimate,
    PairsQuestion,
)
from shuffledp.statistics.questionnaire.question import QuestionEstimate
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    answer_rows,
    shares_of,
)
from shuffledp.statistics.questionnaire.table_question import (
    TableEstimate,
    TableQuestion,
)
from shuffledp.statistics.summary_section import SummarySection
from shuffledp.types import Floats, Ints

# Larger tables, or more of them, are lists of their largest cells.
_MOST_ROWS, _MOST_COLUMNS, _MOST_TABLES = 40, 12, 15


@dataclass(frozen=True)
class TableColumns:
    """See `AnswerColumns`.

    Attributes:
        question: That is asked.
        columns: One for each attribute.
    """

    question: TableQuestion | PairsQuestion
    columns: tuple[str, ...]
    can_skip = True

    @staticmethod
    def usual_columns(question: TableQuestion | PairsQuestion) -> tuple[str, ...]:
        """Returns columns of the attributes' names."""
        return tuple(question.attributes)

    @property
    def texts(self) -> tuple[str, ...]:
        """All categories."""
        return tuple(itertools.chain(*self.question.attributes.values()))

    @property
    def _tables(self) -> tuple[tuple[str, ...], ...]:
        """The attributes of each table, in the order of estimates."""
        names = tuple(self.question.attributes)
        if isinstance(self.question, TableQuestion):
            return (names,)
        return tuple(itertools.combinations(names, 2))

    def read(self, cells: AnswerCells) -> Ints:
        """Returns positions of categories, shape (n, attributes)."""
        parts = [
            cells.positions(column, categories)[:, 0]
            for column, categories in zip(
                self.columns, self.question.attributes.values(), strict=True
            )
        ]
        return np.stack(parts, axis=1)

    def truth(self, answers: Ints) -> Ints:
        """Returns the answers: see `AnswerColumns`."""
        return answers

    def consistent(
        self, estimate: TableEstimate | PairsEstimate, truth: Ints
    ) -> ConsistentEstimate:
        """Returns possible numbers: see `AnswerColumns`."""
        return estimate.consistent(complete=bool(np.all(truth >= 0)))

    def sections(
        self, estimate: QuestionEstimate, truth: Ints, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the share of people in each cell."""
        name = self.question.name
        shares = np.concatenate([self._shares(table, truth) for table in self._tables])
        rows = answer_rows(
            name, "share", estimate.labels, shares_of(estimate, confidence), shares
        )
        words = StatisticLabels(name, name, name, "cell", "cells", SHARES)
        return (SummarySection(words, rows, self._chart()),)

    def _shares(self, table: Sequence[str], answers: Ints) -> Floats:
        """Returns the true share of people in each cell of one table."""
        names = list(self.question.attributes)
        sizes = [len(self.question.attributes[name]) for name in table]
        positions = answers[:, [names.index(name) for name in table]]
        complete_rows = positions[np.all(positions >= 0, axis=1)]
        # The last attribute varies fastest over cells.
        weights = [math.prod(sizes[index + 1 :]) for index in range(len(sizes))]
        counts = np.bincount(
            complete_rows @ np.array(weights), minlength=math.prod(sizes)
        )
        shares: Floats = counts / answers.shape[0]
        return shares

    def _chart(self) -> Chart:
        attributes = self.question.attributes
        tables = tuple(
            HeatTable(
                f"{' and '.join(table[:-1])} by {table[-1]}",
                tuple(
                    ", ".join(categories)
                    for categories in itertools.product(
                        *(attributes[name] for name in table[:-1])
                    )
                ),
                attributes[table[-1]],
            )
            for table in self._tables
        )
        fits = len(tables) <= _MOST_TABLES and all(
            len(table.rows) <= _MOST_ROWS and len(table.columns) <= _MOST_COLUMNS
            for table in tables
        )
        return HeatChart(tables) if fits else BarChart()
