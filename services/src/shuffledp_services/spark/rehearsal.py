"""A simulated collection over frames, as `shuffledp estimate` runs in one process."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
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
from shuffledp.statistics.rehearsal_stage import Stage
from shuffledp.statistics.statistic_catalog import STATISTICS, statistic_named
from shuffledp.statistics.summary import Summary
from shuffledp.tally import Tally
from shuffledp_services.spark.failures import translated_errors
from shuffledp_services.spark.frame_columns import pieces, plain, series
from shuffledp_services.spark.frame_randomizer import FrameRandomizer, person_of
from shuffledp_services.spark.missing_values import refuse_missing
from shuffledp_services.spark.people import population

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


_TALLY, _COUNTS, _SUMS = "tally", "counts", 8


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
    value: str,
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
        protocol: `Frequency`, `Mean` or `BinarySum`.
        person: The column that identifies users: distinct whole numbers, texts or bytes.
        value: The column of values, in the format of a table for `shuffledp estimate`.
        level: The column of local budgets in nats.
        delta: The delta of the guarantee, in (0, 1).
        names: Names of the categories; by default values are whole numbers from 0.
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
    with translated_errors():
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
    from pyspark.sql.types import BinaryType, StructField, StructType

    columns = work.columns
    chosen = frame.select(
        person_of(frame, columns.person).alias("person"),
        plain(frame, columns.value, contents="values").alias("value"),
        plain(frame, columns.level, contents="levels").alias("level"),
    )
    schema = StructType(
        [StructField(name, BinaryType(), nullable=False) for name in (_TALLY, _COUNTS)]
    )
    parts = chosen.mapInArrow(work.run, schema)
    # Executors add up, too: the driver receives at most _SUMS rows.
    sums = parts.repartition(_SUMS).mapInArrow(_added, schema)
    rows = [(bytes(row[_TALLY]), bytes(row[_COUNTS])) for row in sums.collect()]
    return _total(rows)


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
        yield from _summed(rows)

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


def _added(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Yields the sums of several parts as one row."""
    rows = (
        _read(tally, counts)
        for batch in batches
        for tally, counts in zip(
            batch.column(_TALLY).to_pylist(),
            batch.column(_COUNTS).to_pylist(),
            strict=True,
        )
    )
    yield from _summed(rows)


def _summed(rows: Iterator[tuple[Tally, NDArray[Any]]]) -> Iterator["pa.RecordBatch"]:
    """Yields the sums as one row, and no row without parts."""
    import pyarrow as pa

    total: tuple[Tally, NDArray[Any]] | None = None
    for tally, counts in rows:
        # Python integers (dtype object) do not overflow, however many users there are.
        total = (
            (tally, counts)
            if total is None
            else (total[0] + tally, total[1].astype(object) + counts.astype(object))
        )
    if total is not None:
        content = (total[0].to_bytes(), json.dumps(total[1].tolist()).encode())
        yield pa.RecordBatch.from_arrays(
            [pa.array([part], pa.binary()) for part in content], [_TALLY, _COUNTS]
        )


def _total(rows: list[tuple[bytes, bytes]]) -> tuple[Tally, NDArray[Any]]:
    if not rows:
        raise InvalidInputError("Expected at least one person, got none.")
    read = [_read(*row) for row in rows]
    counts = np.sum([part for _, part in read], axis=0)
    return sum((tally for tally, _ in read[1:]), start=read[0][0]), counts


def _read(tally: bytes, counts: bytes) -> tuple[Tally, NDArray[Any]]:
    return Tally.from_bytes(tally), np.array(json.loads(counts), dtype=object)
