"""A whole collection over frames, as `shuffledp estimate` does it in one process."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.account import account
from shuffledp.datasets.table import budgets_of
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomness import SystemRandom
from shuffledp.report.rehearsed import Rehearsed
from shuffledp.report.summary import Summary
from shuffledp.reports import ShuffledReports
from shuffledp.scale.checks import refuse_missing
from shuffledp.scale.devices import Devices, person_of
from shuffledp.scale.failures import in_our_words
from shuffledp.scale.frames import pieces, plain, series
from shuffledp.scale.people import population
from shuffledp.statistics.level_dependence import LevelGroups
from shuffledp.statistics.parts import InParts, Parts, Truth
from shuffledp.statistics.rehearsal_stage import Stage
from shuffledp.statistics.statistic_catalog import statistic_named
from shuffledp.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


_TALLY, _COUNTS, _SUMS = "tally", "counts", 8


@dataclass(frozen=True)
class Columns:
    """Where everybody's values are.

    Attributes:
        person: What tells people apart.
        value: What they hold.
        level: Their local budgets in nats.
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
    """Rehearses a collection: people, certificate, messages, estimate, and the truth.

    >>> import shuffledp as sdp
    >>> from shuffledp import scale
    >>> columns = {"person": "person", "value": "answer", "level": "epsilon"}
    >>> result = scale.rehearse(  # doctest: +SKIP
    ...     frame, sdp.Frequency(17), delta=1e-6, **columns
    ... )
    >>> len(result.to_frame())  # doctest: +SKIP
    17

    Args:
        frame: A row per person.
        protocol: `Frequency`, `Mean` or `BinarySum`.
        person: The column that names her: whole numbers, texts or bytes, no two alike.
        value: The column of values, as a table of `shuffledp estimate` has them.
        level: The column of local budgets in nats.
        delta: At which the guarantee is stated, in (0, 1).
        names: Of the categories; by default values are whole numbers from 0.
        confidence: Of the intervals, in (0, 1).
        secret: As for `randomize`; by default drawn from the operating system.

    Returns:
        What `shuffledp.rehearse` returns, too: it prints, and has `to_frame()`, `plot()`
        and `report(path)`.

    Raises:
        InvalidInputError: If a column or parameter makes no sense, or the statistic is
            none that is counted in parts.
        DataError: If a value is missing, or none of the protocol's.
    """
    name = protocol.identity.record["statistic"]
    parts = divided(name).parts_of(protocol, names)
    stage = Stage(
        SystemRandom(), mode=protocol.mode, delta=delta, confidence=confidence
    )
    refuse_missing(frame, value, parts.known)
    columns = Columns(person, value, level)
    summary = rehearse_parts(
        frame, parts, columns, stage, secret=secret, source=f"column {value}"
    )
    return Rehearsed(summary)


def divided(name: str) -> InParts:
    """Returns a statistic whose people can be divided.

    Raises:
        InvalidInputError: If somebody who sees everybody deals them into groups.
    """
    statistic = statistic_named(name)
    if not isinstance(statistic, InParts):
        raise InvalidInputError(
            f"Expected frequency, mean or sum on Spark, got {name}: its people are dealt "
            "into groups by somebody who sees everybody."
        )
    return statistic


def rehearse_parts(
    frame: "DataFrame",
    parts: Parts,
    columns: Columns,
    stage: Stage,
    *,
    secret: bytes | None,
    source: str,
    allowed: tuple[float, ...] | None = None,
) -> Summary:
    """Rehearses a collection of people in parts.

    Args:
        frame: A row per person, with a value in every one.
        parts: What is run.
        columns: Where everybody's values are.
        stage: How it is summed up, and whom it tells how far it is.
        secret: As for `rehearse`.
        source: Where values come from, in words.
        allowed: The levels that may occur; None for any.

    Raises:
        UnknownLevelError: If somebody has another level.
    """
    protocol = parts.protocol
    stage.on_step("certify")
    people = population(frame, columns.level)
    if allowed is not None:
        Population.from_budgets(allowed).level_indices(people.epsilons)
    guarantee = account(protocol, people, delta=stage.delta)
    stage.on_step("randomize")
    devices = Devices.of(protocol, os.urandom(32) if secret is None else secret)
    work = _Part(devices, parts.truth, parts.groups(people), columns)
    with in_our_words():
        tally, counts = _collected(frame, work)
    stage.on_step("estimate")
    estimate = protocol.estimate(tally, people, **parts.asked)
    collection = parts.collected(people, guarantee, estimate, counts)
    said = stage.noting((), parts.warnings).circumstances(source, *parts.caveats)
    return parts.summarize(collection, said)


def _collected(frame: "DataFrame", work: "_Part") -> tuple[Tally, NDArray[Any]]:
    """Returns the sums of what all parts counted."""
    from pyspark.sql.types import BinaryType, StructField, StructType

    columns = work.columns
    chosen = frame.select(
        person_of(frame, columns.person).alias("person"),
        plain(frame, columns.value, what="values").alias("value"),
        plain(frame, columns.level, what="levels").alias("level"),
    )
    schema = StructType(
        [StructField(name, BinaryType(), nullable=False) for name in (_TALLY, _COUNTS)]
    )
    parts = chosen.mapInArrow(work.run, schema)
    sums = parts.repartition(_SUMS).mapInArrow(_added, schema)
    rows = [(bytes(row[_TALLY]), bytes(row[_COUNTS])) for row in sums.collect()]
    return _total(rows)


@dataclass(frozen=True)
class _Part:
    """What an executor does.

    Messages are counted where they are drawn, and never leave: from one step to the next
    everybody's values are there anyway, and the truth takes them, too.
    """

    devices: Devices
    truth: Truth
    groups: LevelGroups
    columns: Columns

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Gives one tally, and one truth, for a part with people."""
        rows = (self._counted(batch) for batch in pieces(batches))
        yield from _one(rows)

    def _counted(self, batch: "pa.RecordBatch") -> tuple[Tally, NDArray[Any]]:
        values = self.truth.values(series(batch, "value", self.columns.value))
        levels = budgets_of(series(batch, "level", self.columns.level))
        protocol, column = self.devices.protocol, self.devices.column
        messages = self.devices.messages(batch.column("person"), values, levels)
        seen = ShuffledReports(protocol.identity, messages, levels, column.arrangement)
        places = self.groups.group_indices(levels)
        counts = self.truth.count(values, places, self.groups.num_groups)
        return protocol.tally(seen), counts


def _added(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Gives the sums of several parts."""
    rows = (
        _read(tally, counts)
        for batch in batches
        for tally, counts in zip(
            batch.column(_TALLY).to_pylist(),
            batch.column(_COUNTS).to_pylist(),
            strict=True,
        )
    )
    yield from _one(rows)


def _one(rows: Iterator[tuple[Tally, NDArray[Any]]]) -> Iterator["pa.RecordBatch"]:
    """Gives the sums as one row; none for none."""
    import pyarrow as pa

    total: tuple[Tally, NDArray[Any]] | None = None
    for tally, counts in rows:
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
