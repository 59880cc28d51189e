"""Known answers to a question for an unlisted text: a column of texts."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.analyzer.consistent_estimate import ConsistentEstimate
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.statistics.charts import BarChart
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerCells,
    answer_rows,
    shares_of,
)
from shuffledp.statistics.questionnaire.texts.unlisted_strings_estimate import (
    UnlistedStringsEstimate,
)
from shuffledp.statistics.questionnaire.texts.unlisted_strings_question import (
    UnlistedStringsQuestion,
)
from shuffledp.statistics.summary_section import SummarySection


@dataclass(frozen=True, eq=False)
class StringTruth:
    """True numbers of an unlisted text.

    Attributes:
        counts: People who hold each text that has a code.
        num_users: How many people there are, those without an answer included.
    """

    counts: Mapping[str, int]
    num_users: int


@dataclass(frozen=True)
class StringColumns:
    """See `AnswerColumns`.

    Attributes:
        question: That is asked.
        columns: One.
    """

    question: UnlistedStringsQuestion
    columns: tuple[str, ...]
    can_skip = True
    texts = ()

    @staticmethod
    def usual_columns(question: UnlistedStringsQuestion) -> tuple[str, ...]:
        """Returns a column of the question's name."""
        return (question.name,)

    def read(self, cells: AnswerCells) -> NDArray[Any]:
        """Returns texts, None where there is none, shape (n,)."""
        (column,) = self.columns
        return cells.strings(column)

    def truth(self, answers: NDArray[Any]) -> StringTruth:
        """See `AnswerColumns`."""
        people = Counter(answers.tolist())
        # Others count as no answer: devices send nothing for them.
        _, fits = self.question.codes.encode(people)
        counts = {
            text: people[text]
            for text, has_code in zip(people, fits.tolist(), strict=True)
            if has_code
        }
        return StringTruth(counts, answers.size)

    def consistent(
        self, estimate: UnlistedStringsEstimate, truth: StringTruth
    ) -> ConsistentEstimate:
        """Returns possible numbers: see `AnswerColumns`."""
        del truth
        return estimate.consistent()

    def sections(
        self, estimate: Any, truth: StringTruth, confidence: float
    ) -> tuple[SummarySection, ...]:
        """Returns the share of people who hold each text that was found.

        Behind them are the texts that were missed, without an estimate: those of as many
        people as the search was made for, or else the most frequent text.
        """
        raw = estimate.raw if isinstance(estimate, ConsistentEstimate) else estimate
        assert isinstance(raw, UnlistedStringsEstimate)
        missed = sorted(
            (text for text in truth.counts if text not in set(raw.labels)),
            key=lambda text: (-truth.counts[text], text),
        )
        frequent = [text for text in missed if truth.counts[text] >= raw.least]
        if not raw.labels:
            frequent = frequent or missed[:1]
        names = [*raw.labels, *frequent]
        if not names:
            return ()
        value, error, interval = shares_of(estimate, confidence)
        rows = answer_rows(
            self.question.name,
            "share",
            names,
            (
                np.append(value, np.full(len(frequent), math.nan)),
                np.append(error, np.full(len(frequent), math.inf)),
                np.append(
                    interval, np.tile([-math.inf, math.inf], (len(frequent), 1)), axis=0
                ),
            ),
            [truth.counts.get(text, 0) / truth.num_users for text in names],
        )
        name = self.question.name
        title = f"{name}: {len(raw.labels):,} found"
        words = StatisticLabels(name, title, title, "text", "texts", SHARES)
        return (SummarySection(words, rows, BarChart()),)
