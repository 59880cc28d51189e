"""Counting messages of a frame, part by part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.reports import ShuffledReports
from shuffledp.scale.devices import LEVEL, MESSAGE
from shuffledp.scale.failures import in_our_words
from shuffledp.scale.frames import numbers, pieces, plain, type_of
from shuffledp.scale.messages import Countable, MessageColumn
from shuffledp.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_TALLY, _SUMS = "tally", 8


def tally(frame: "DataFrame", protocol: Countable) -> Tally:
    """Counts messages: the very tally that one process would have.

    >>> import secrets, shuffledp as sdp
    >>> from shuffledp import scale
    >>> columns = {"person": "person", "value": "answer", "level": "epsilon"}
    >>> messages = scale.randomize(  # doctest: +SKIP
    ...     frame, sdp.Frequency(17), secret=secrets.token_bytes(32), **columns
    ... )
    >>> scale.tally(messages, sdp.Frequency(17)).num_users  # doctest: +SKIP
    10000

    Every part of the frame is counted where it is, and the counts are added up; whole
    numbers, so that the order of parts does not matter, nor does one that was counted
    again because a machine was lost.

    Args:
        frame: Shuffled messages, or those of a rehearsal, in the columns `level` and
            `message`, as `randomize` gives them.
        protocol: Whose messages they are.

    Raises:
        InvalidInputError: If a column is missing or of another type, or there is nobody.
            A message that is none of the protocol's ends the job.
    """
    found = type_of(frame, MESSAGE, what="messages")
    from pyspark.sql import functions
    from pyspark.sql.types import BinaryType, StructField, StructType

    column = MessageColumn.of(protocol)
    if found != column.type:
        raise InvalidInputError(
            f"Expected messages as {column.type.simpleString()}, got "
            f"{found.simpleString()}."
        )
    columns = [functions.col(MESSAGE)]
    if column.levels:
        columns.append(plain(frame, LEVEL, what="levels").alias(LEVEL))
    chosen = frame.select(*columns)
    schema = StructType([StructField(_TALLY, BinaryType(), nullable=False)])
    parts = chosen.mapInArrow(_Counting(protocol, column).run, schema)
    # Machines add up, too: a tally of many numbers times thousands of parts is much.
    sums = parts.repartition(_SUMS).mapInArrow(_added, schema)
    with in_our_words():
        tallies = [Tally.from_bytes(bytes(row[_TALLY])) for row in sums.collect()]
    if not tallies:
        raise InvalidInputError("Expected at least one message, got none.")
    return sum(tallies[1:], start=tallies[0])


def _added(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Gives the sum of tallies."""
    total: Tally | None = None
    for batch in batches:
        for content in batch.column(_TALLY).to_pylist():
            part = Tally.from_bytes(content)
            total = part if total is None else total + part
    yield from _one(total)


def _one(total: Tally | None) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    if total is not None:
        content = pa.array([total.to_bytes()], pa.binary())
        yield pa.RecordBatch.from_arrays([content], [_TALLY])


@dataclass(frozen=True)
class _Counting:
    """What an executor does."""

    protocol: Countable
    column: MessageColumn

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Gives one tally for a part with messages."""
        total: Tally | None = None
        for batch in pieces(batches):
            part = self._counted(batch)
            total = part if total is None else total + part
        yield from _one(total)

    def _counted(self, batch: "pa.RecordBatch") -> Tally:
        messages = self.column.read(batch.column(MESSAGE))
        levels = None
        if self.column.levels:
            levels = level_array(np.ascontiguousarray(numbers(batch, LEVEL)))
        seen = ShuffledReports(
            self.protocol.identity, messages, levels, self.column.arrangement
        )
        return self.protocol.tally(seen)
