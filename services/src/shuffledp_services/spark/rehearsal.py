"""A simulated collection over frames, as `shuffledp estimate` runs in one process."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from shuffledp.accounting.account import account
from shuffledp.datasets.column_values import budgets_of
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomness import SystemRandom
from shuffledp.rehearsal.rehearsed import Rehearsed
from shuffledp.reports import ShuffledReports
from shuffledp.statistics.level_dependence import LevelGroups
from shuffledp.statistics.partial_rehearsal import (
    PartialRehearsal,
    PartitionedStatistic,
    Truth,
)
from shuffledp.statistics.questionnaire.protocol import Questionnaire
from shuffledp.statistics.rehearsal_stage import Stage
from shuffledp.statistics.statistic_catalog import STATISTICS, statistic_named
from shuffledp.statistics.summary import Summary
from shuffledp.tally import Tally
from shuffledp_services.spark.frame_columns import pieces, plain, series
from shuffledp_services.spark.frame_randomizer import FrameRandomizer, person_of
from shuffledp_services.spark.missing_values import refuse_missing
from shuffledp_services.spark.part_sums import summed, sums_of_parts
from shuffledp_services.spark.people import population
from shuffledp_services.spark.questionnaire_rehearsal import (
    AnswerColumnNames,
    rehearse_answers,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a frame.

    Attributes:
        person: The column of identities.
        value: The column of values.
        level: The column of local budgets in nats.
    """

    person: str
    value: str
    level: str


def rehearse(
    frame: "DataFrame",
    protocol: Any,
    *,
    person: str,
    value: str | Mapping[str, str],
    level: str,
    delta: float,
    names: tuple[str, ...] | None = None,
    confidence: float = 0.95,
    secret: bytes | None = None,
) -> Rehearsed:
    """Simulates a collection: guarantee, messages, estimate and comparison with the truth.

    >>> import shuffledp as sdp
    >>> from shuffledp_services import spark
    >>> columns = {"person": "person", "value": "answer", "level": "epsilon"}
    >>> result = spark.rehearse(  # doctest: +SKIP
    ...     frame, sdp.Frequency(17), delta=1e-6, **columns
    ... )
    >>> len(result.to_frame())  # doctest: +SKIP
    17

    Args:
        frame: A row per user.
        protocol: `Frequency`, `Mean`, `BinarySum`, or a `Questionnaire` of choices,
            numbers, distributions and means by group.
        person: The column that identifies users: distinct whole numbers, texts or bytes.
        value: The column of values, in the format of a table for `shuffledp estimate`. Of a
            questionnaire, the column of each question by its name: see `randomize`.
        level: The column of local budgets in nats, or of central targets.
        delta: The delta of the guarantee, in (0, 1).
        names: Names of the categories; by default values are whole numbers from 0. A
            questionnaire has names of its own.
        confidence: The coverage of the intervals, in (0, 1).
        secret: As for `randomize`; by default drawn from the operating system.

    Returns:
        The result of `shuffledp.rehearse`: it prints, and has `to_frame()`, `plot()` and
        `report(path)`.

    Raises:
        InvalidInputError: If a column or parameter is invalid, or the statistic cannot be
            counted in parts.
        DataError: If a value is missing, or outside the protocol's values.
    """
    if isinstance(protocol, Questionnaire):
        if names is not None:
            raise InvalidInputError(
                "Expected no names with a questionnaire: its questions have their own."
            )
        stage = Stage(
            SystemRandom(), mode="agnostic", delta=delta, confidence=confidence
        )
        answered = AnswerColumnNames(person, value, level)
        return Rehearsed(rehearse_answers(frame, protocol, answered, stage, secret))
    if not isinstance(value, str):
        raise InvalidInputError(
            "Expected the name of one column of values, got columns by question."
        )
    name = protocol.identity.record["statistic"]
    parts = divided(name).partial_rehearsal_of(protocol, names)
    stage = Stage(
        SystemRandom(), mode=protocol.mode, delta=delta, confidence=confidence
    )
    refuse_missing(frame, value, parts.known)
    columns = Columns(person, value, level)
    summary = rehearse_parts(
        frame, parts, columns, stage, secret=secret, source=f"column {value}"
    )
    return Rehearsed(summary)


def divided(name: str) -> PartitionedStatistic:
    """Returns a statistic whose users can be counted in parts.

    Raises:
        InvalidInputError: If it needs all users at once.
    """
    statistic = statistic_named(name)
    if not isinstance(statistic, PartitionedStatistic):
        *names, last = (
            n
            for n in STATISTICS
            if isinstance(statistic_named(n), PartitionedStatistic)
        )
        raise InvalidInputError(
            f"Expected {', '.join(names)} or {last} on Spark, got {name}, which needs all "
            "people at once."
        )
    return statistic


def rehearse_parts(
    frame: "DataFrame",
    parts: PartialRehearsal,
    columns: Columns,
    stage: Stage,
    *,
    secret: bytes | None,
    source: str,
    allowed: tuple[float, ...] | None = None,
) -> Summary:
    """Simulates a collection of users in parts.

    Args:
        frame: A row per user, each with a value.
        parts: The statistic's protocol, truth and summary.
        columns: Names of the columns of the frame.
        stage: Settings of the summary, with a callback for progress.
        secret: As for `rehearse`.
        source: The origin of the values, as text for the summary.
        allowed: The levels that may occur; None for any.

    Raises:
        UnknownLevelError: If a user has another level.
    """
    protocol = parts.protocol
    stage.on_step("certify")
    people = population(frame, columns.level)
    if allowed is not None:
        # Called for its check: it raises on a level that is not allowed.
        Population.from_budgets(allowed).level_indices(people.epsilons)
    guarantee = account(protocol, people, delta=stage.delta)
    stage.on_step("randomize")
    # Without a secret, one is drawn once, on the driver: parts that the engine computes
    # again must draw the same messages.
    devices = FrameRandomizer.of(protocol, os.urandom(32) if secret is None else secret)
    work = _PartSimulation(devices, parts.truth, parts.groups(people), columns)
    tally, counts = _collected(frame, work)
    stage.on_step("estimate")
    estimate = protocol.estimate(tally, people, **parts.asked)
    collection = parts.collected(people, guarantee, estimate, counts)
    circumstances = stage.noting((), parts.warnings).circumstances(
        source, *parts.caveats
    )
    return parts.summarize(collection, circumstances)


def _collected(
    frame: "DataFrame", work: "_PartSimulation"
) -> tuple[Tally, NDArray[Any]]:
    """Returns the sums of the counts of all parts."""
    columns = work.columns
    chosen = frame.select(
        person_of(frame, columns.person).alias("person"),
        plain(frame, columns.value, contents="values").alias("value"),
        plain(frame, columns.level, contents="levels").alias("level"),
    )
    return sums_of_parts(chosen, work.run)


@dataclass(frozen=True)
class _PartSimulation:
    """The simulation of a part of the users by an executor; it is pickled into the job."""

    # Messages are counted where they are drawn, and never leave the executor: it holds
    # the users' values anyway, and the truth needs them, too.

    devices: FrameRandomizer
    truth: Truth
    groups: LevelGroups
    columns: Columns

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yields one tally and one truth, or no row without users."""
        rows = (self._counted(batch) for batch in pieces(batches))
        yield from summed(rows)

    def _counted(self, batch: "pa.RecordBatch") -> tuple[Tally, NDArray[Any]]:
        values = self.truth.values(series(batch, "value", self.columns.value))
        levels = budgets_of(series(batch, "level", self.columns.level))
        protocol, column = self.devices.protocol, self.devices.column
        messages = self.devices.messages(batch.column("person"), values, levels)
        # Counts do not depend on the order, so the messages need no shuffling.
        shuffled = ShuffledReports(
            protocol.identity, messages, levels, column.arrangement
        )
        group_indices = self.groups.group_indices(levels)
        counts = self.truth.count(values, group_indices, self.groups.num_groups)
        return protocol.tally(shuffled), counts
