"""Tallies and truths of parts of a frame, added up by executors and then by the driver."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.tally import Tally
from shuffledp_services.spark.failures import translated_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_TALLY, _COUNTS, _SUMS = "tally", "counts", 8


def sums_of_parts(
    chosen: "DataFrame",
    run: Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]],
) -> tuple[Tally, NDArray[Any]]:
    """Returns the sums of the tallies and of the counts of all parts.

    Args:
        chosen: The columns that executors read.
        run: Yields what `summed` does; it is pickled into the job.

    Raises:
        InvalidInputError: If there are no people.
    """
    from pyspark.sql.types import BinaryType, StructField, StructType

    schema = StructType(
        [StructField(name, BinaryType(), nullable=False) for name in (_TALLY, _COUNTS)]
    )
    with translated_errors():
        parts = chosen.mapInArrow(run, schema)
        # Executors add up, too: the driver receives at most _SUMS rows.
        sums = parts.repartition(_SUMS).mapInArrow(_added, schema)
        rows = [(bytes(row[_TALLY]), bytes(row[_COUNTS])) for row in sums.collect()]
    return _total(rows)


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
    yield from summed(rows)


def summed(rows: Iterator[tuple[Tally, NDArray[Any]]]) -> Iterator["pa.RecordBatch"]:
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
