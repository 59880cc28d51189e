"""The population and its guarantee, from a column of budgets."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.accounting.account import account as certified
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import MissingValueError
from shuffledp.population import Population
from shuffledp_services.spark.failures import translated_errors
from shuffledp_services.spark.frame_columns import pieces, plain, series
from shuffledp_services.spark.message_column import Countable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_BUDGET, _COUNT, _MISSING = "budget", "count", "missing"


def account(
    frame: "DataFrame", protocol: Countable, *, budget: str, **options: Any
) -> Guarantee:
    """Computes the guarantee of a collection for the users of a frame.

    >>> import shuffledp as sdp
    >>> from shuffledp_services import spark
    >>> guarantee = spark.account(  # doctest: +SKIP
    ...     frame, sdp.Frequency(17), budget="epsilon", delta=1e-6
    ... )
    >>> [level.epsilon_central for level in guarantee.levels]  # doctest: +SKIP
    [0.0191044, 0.0618954]

    Args:
        frame: A row per user.
        protocol: The protocol that runs on the devices.
        budget: The column of local budgets in nats.
        options: Further arguments of `shuffledp.account`: delta, epsilon, levels, ...

    Raises:
        ShuffledpError: As `population` and `shuffledp.account` do.
    """
    # Machines only count, exactly: the guarantee is that of one process, to the last digit.
    return certified(protocol, population(frame, budget), **options)


def population(frame: "DataFrame", budget: str) -> Population:
    """Counts the users at each local budget, for `shuffledp.account`.

    >>> from shuffledp_services import spark
    >>> spark.population(frame, "epsilon").num_users  # doctest: +SKIP
    10000

    Executors count, and return one number per budget, never a row per user.

    Args:
        frame: A row per user.
        budget: The column of local budgets in nats: numbers, or texts that are numbers.

    Raises:
        InvalidInputError: If there is no such column.
        DataError: If a text is not a number.
        MissingValueError: If a user has no budget.
        PopulationError: If the frame is empty, or a budget is out of range.
    """
    own = plain(frame, budget, contents="budgets").alias(_BUDGET)
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    schema = StructType(
        [
            StructField(_BUDGET, BinaryType(), nullable=False),
            StructField(_COUNT, BinaryType(), nullable=False),
            StructField(_MISSING, LongType(), nullable=False),
        ]
    )

    def packed(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        return _packed(batches, budget)

    counted = frame.select(own).groupBy(_BUDGET).count()
    budgets: list[np.ndarray] = [np.zeros(0)]
    counts: list[np.ndarray] = [np.zeros(0, np.int64)]
    missing = 0
    with translated_errors():
        # Rows on the driver are Python objects, so each holds many budgets. Part by part:
        # a hundred million distinct budgets are two columns of 0.8 GB.
        for row in counted.mapInArrow(packed, schema).toLocalIterator():
            missing += row[_MISSING]
            budgets.append(np.frombuffer(row[_BUDGET], "<f8"))
            counts.append(np.frombuffer(row[_COUNT], "<i8"))
    if missing:
        raise MissingValueError(
            f"Expected a budget in every row of column {budget!r}, found none in "
            f"{missing:,} of them."
        )
    return _merged(budgets, counts)


def _merged(budgets: list[np.ndarray], counts: list[np.ndarray]) -> Population:
    """Merges budgets of all parts into a population, and empties both lists."""
    # Emptied at once, because the parts may hold gigabytes.
    levels, people = np.concatenate(budgets), np.concatenate(counts)
    budgets.clear()
    counts.clear()
    order = np.argsort(levels)
    levels, people = levels[order], people[order]
    del order
    # A number may be written in two ways, such as 1 and 1.0: that is one budget.
    new = np.concatenate([[True], levels[1:] != levels[:-1]])
    if not new.all():
        first = np.flatnonzero(new)
        levels, people = levels[first], np.add.reduceat(people, first)
    return Population(levels, people)


def _packed(
    batches: Iterator["pa.RecordBatch"], name: str
) -> Iterator["pa.RecordBatch"]:
    """Yields many budgets and their counts as one row."""
    import pyarrow as pa

    from shuffledp.datasets.column_values import budgets_of
    from shuffledp.datasets.missing import WRITTEN, cleaned

    # Explicitly little-endian: executors and driver may be different machines.
    for batch in pieces(batches):
        column = cleaned(series(batch, _BUDGET, name), WRITTEN)
        known = column.is_not_null()
        counts = series(batch, _COUNT, _COUNT)
        budgets = budgets_of(column.filter(known))
        content = {
            _BUDGET: pa.array([budgets.astype("<f8").tobytes()], pa.binary()),
            _COUNT: pa.array(
                [counts.filter(known).to_numpy().astype("<i8").tobytes()], pa.binary()
            ),
            _MISSING: pa.array([int(counts.filter(~known).sum())], pa.int64()),
        }
        yield pa.RecordBatch.from_pydict(content)
