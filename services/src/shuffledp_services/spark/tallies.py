"""Counts of the messages of a frame, part by part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.reports import ShuffledReports
from shuffledp.tally import Tally
from shuffledp_services.spark.failures import translated_errors
from shuffledp_services.spark.frame_columns import numbers, pieces, plain, type_of
from shuffledp_services.spark.frame_randomizer import LEVEL, MESSAGE
from shuffledp_services.spark.message_column import Countable, MessageColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_TALLY, _SUMS = "tally", 8


def tally(frame: "DataFrame", protocol: Countable) -> Tally:
    """Counts messages into the same tally that one process would have.

    >>> import secrets, shuffledp as sdp
    >>> from shuffledp_services import spark
    >>> columns = {"person": "person", "value": "answer", "level": "epsilon"}
    >>> messages = spark.randomize(  # doctest: +SKIP
    ...     frame, sdp.Frequency(17), secret=secrets.token_bytes(32), **columns
    ... )
    >>> spark.tally(messages, sdp.Frequency(17)).num_users  # doctest: +SKIP
    10000

    Args:
        frame: Shuffled messages, or those of a rehearsal, in the columns `level` and
            `message`, as `randomize` returns them.
        protocol: The protocol of the messages.

    Raises:
        InvalidInputError: If a column is missing or of another type, or the frame is
            empty. A message outside the protocol's range ends the job.
    """
    kind = type_of(frame, MESSAGE, contents="messages")
    from pyspark.sql import functions
    from pyspark.sql.types import BinaryType, StructField, StructType

    column = MessageColumn.of(protocol)
    if kind != column.type:
        raise InvalidInputError(
            f"Expected messages as {column.type.simpleString()}, got "
            f"{kind.simpleString()}."
        )
    columns = [functions.col(MESSAGE)]
    if column.levels:
        columns.append(plain(frame, LEVEL, contents="levels").alias(LEVEL))
    chosen = frame.select(*columns)
    schema = StructType([StructField(_TALLY, BinaryType(), nullable=False)])
    # Whole numbers: the order of parts does not change the sum, nor does a part that is
    # counted again because a machine was lost.
    parts = chosen.mapInArrow(_MessageCounting(protocol, column).run, schema)
    # Executors add up, too: thousands of parts with large tallies would fill the driver.
    sums = parts.repartition(_SUMS).mapInArrow(_added, schema)
    with translated_errors():
        tallies = [Tally.from_bytes(bytes(row[_TALLY])) for row in sums.collect()]
    if not tallies:
        raise InvalidInputError("Expected at least one message, got none.")
    return sum(tallies[1:], start=tallies[0])


def _added(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Yields the sum of tallies as one row."""
    total: Tally | None = None
    for batch in batches:
        for content in batch.column(_TALLY).to_pylist():
            part = Tally.from_bytes(content)
            total = part if total is None else total + part
    yield from _row_of(total)


def _row_of(total: Tally | None) -> Iterator["pa.RecordBatch"]:
    """Yields a tally as one row, and no row for None."""
    import pyarrow as pa

    if total is not None:
        content = pa.array([total.to_bytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([content], [_TALLY])


@dataclass(frozen=True)
class _MessageCounting:
    """The counting of messages by an executor; it is pickled into the job."""

    protocol: Countable
    column: MessageColumn

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yields one tally, or no row without messages."""
        total: Tally | None = None
        for batch in pieces(batches):
            part = self._counted(batch)
            total = part if total is None else total + part
        yield from _row_of(total)

    def _counted(self, batch: "pa.RecordBatch") -> Tally:
        messages = self.column.read(batch.column(MESSAGE))
        levels = None
        if self.column.levels:
            levels = level_array(np.ascontiguousarray(numbers(batch, LEVEL)))
        shuffled = ShuffledReports(
            self.protocol.identity, messages, levels, self.column.arrangement
        )
        return self.protocol.tally(shuffled)
