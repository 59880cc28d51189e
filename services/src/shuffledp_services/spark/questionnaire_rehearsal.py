"""A simulated collection of a questionnaire over frames, whose truths are counts."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.account import account
from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.reports import ShuffledReports
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.questionnaire.rehearsal import WORDS
from shuffledp.statistics.questionnaire.rehearsed.answer_columns import (
    AnswerColumns,
    CountedColumns,
)
from shuffledp.statistics.questionnaire.rehearsed.column_kinds import columns_of
from shuffledp.statistics.questionnaire.rehearsed.questionnaire_summary import (
    summary_of,
)
from shuffledp.statistics.rehearsal_stage import Stage
from shuffledp.statistics.summary import Summary
from shuffledp.tally import Tally
from shuffledp_services.spark.frame_columns import numbers, pieces, plain
from shuffledp_services.spark.frame_randomizer import FrameRandomizer, person_of
from shuffledp_services.spark.part_sums import summed, sums_of_parts
from shuffledp_services.spark.people import population

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class AnswerColumnNames:
    """Names of the columns of a frame.

    Attributes:
        person: The column of identities.
        value: The column of each question, by its name.
        level: The column of central targets.
    """

    person: str
    value: str | Mapping[str, str]
    level: str


def rehearse_answers(
    frame: "DataFrame",
    asked: Questionnaire,
    columns: AnswerColumnNames,
    stage: Stage,
    secret: bytes | None,
) -> Summary:
    """Simulates a collection of answers in parts.

    Args:
        frame: A row per user.
        asked: The questionnaire that devices run.
        columns: Names of the columns of the frame.
        stage: Settings of the summary.
        secret: As for `rehearse`.

    Raises:
        InvalidInputError: If the truth of a question cannot be counted in parts, or as of
            `randomize`.
    """
    answered = counted_columns(asked)
    # Without a secret, one is drawn once, on the driver: parts that the engine computes
    # again must draw the same messages.
    devices = FrameRandomizer.of(asked, os.urandom(32) if secret is None else secret)
    chosen = frame.select(
        person_of(frame, columns.person).alias("person"),
        *(
            plain(frame, column, contents="values").alias(name)
            for name, column in devices.value_columns(columns.value).items()
        ),
        plain(frame, columns.level, contents="levels").alias("level"),
    )
    people = population(frame, columns.level)
    guarantee = account(asked, people, delta=stage.delta)
    tally, counts = sums_of_parts(chosen, _AnswerSimulation(devices, answered).run)
    return summary_of(
        WORDS,
        asked,
        answered,
        {
            name: each.counted_truth(part)
            for (name, each), part in zip(
                answered.items(), _split(counts, answered), strict=True
            )
        },
        (guarantee, f"Reports of {asked.report_size:,} messages."),
        (tally, people),
        stage=stage,
        source=f"columns of {len(answered)} questions",
    )


def counted_columns(asked: Questionnaire) -> dict[str, CountedColumns]:
    """Returns how the truth of each question is counted, by its name.

    Raises:
        InvalidInputError: If that of one needs all answers at once.
    """
    counted: dict[str, CountedColumns] = {}
    read: tuple[AnswerColumns, ...] = columns_of(asked.questions, {})
    for question, each in zip(asked.questions, read, strict=True):
        if not isinstance(each, CountedColumns):
            raise InvalidInputError(
                "Expected choices, numbers, distributions and means by group on Spark, "
                f"got {type(question).__name__} {question.name!r}: rehearse it in one "
                "process."
            )
        counted[question.name] = each
    return counted


@dataclass(frozen=True)
class _AnswerSimulation:
    """The simulation of a part of the users by an executor; it is pickled into the job."""

    devices: FrameRandomizer
    answered: Mapping[str, CountedColumns]

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yields one tally and one truth, or no row without users."""
        yield from summed(self._counted(batch) for batch in pieces(batches))

    def _counted(self, batch: "pa.RecordBatch") -> tuple[Tally, NDArray[Any]]:
        values = self.devices.values(batch)
        levels = level_array(numbers(batch, "level"))
        protocol, column = self.devices.protocol, self.devices.column
        # Checks all answers, before they are counted.
        messages = self.devices.messages(batch.column("person"), values, levels)
        # Counts do not depend on the order, so the messages need no shuffling.
        shuffled = ShuffledReports(
            protocol.identity,
            messages,
            levels if column.levels else None,
            column.arrangement,
        )
        assert isinstance(values, Mapping)
        counts = [each.count(values[name]) for name, each in self.answered.items()]
        return protocol.tally(shuffled), np.concatenate(counts)


def _split(
    counts: NDArray[Any], answered: Mapping[str, CountedColumns]
) -> list[NDArray[Any]]:
    """Returns the counts of each question."""
    sizes = [each.num_counts for each in answered.values()]
    return np.split(counts, np.cumsum(sizes)[:-1])
