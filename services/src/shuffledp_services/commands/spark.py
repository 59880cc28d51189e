"""`--spark URL`: reading and counting of people on Apache Spark."""

import hashlib
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shuffledp.cli.waiting import working
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population

if TYPE_CHECKING:
    # They bring tables with them, which few commands read.
    from pyspark.sql import DataFrame, SparkSession

    from shuffledp.statistics.rehearsal_stage import Rehearsal, Stage
    from shuffledp.statistics.request import Request
    from shuffledp.statistics.summary import Summary
    from shuffledp_services.analyst.shard_opening import OpenShards

_PERSON, _LEVEL = "shuffledp person", "shuffledp level"
_BY_CHANCE = (
    "Each person's level was drawn by itself: shares are those asked for on average."
)


@contextmanager
def on_spark(url: str) -> "Iterator[SparkSession]":
    """Yields a session, which takes seconds to start, and stops it at the end."""
    # Not with the command: Spark alone takes a second to import.
    from shuffledp_services.spark.session import session

    # Entered by hand: the spinner ends when the session has started.
    with working("start Spark"):
        opened = session(url)
        spark = opened.__enter__()
    try:
        yield spark
    finally:
        opened.__exit__(None, None, None)


@contextmanager
def opening(url: str | None) -> "Iterator[OpenShards]":
    """Yields the function that opens an analyst's batches: on all cores, or on Spark."""
    from shuffledp_services.analyst.shard_opening import open_on_all_cores

    if url is None:
        yield open_on_all_cores
        return
    from shuffledp_services.spark.opening import OpenOnSpark
    from shuffledp_services.spark.session import session

    # Without a line of waiting: a service's error output is its log.
    with session(url) as spark:
        yield OpenOnSpark(spark)


def people_on_spark(url: str, path: str, column: str | None) -> Population:
    """Returns the population of a file that Spark reads and counts."""
    from shuffledp_services.spark.people import population
    from shuffledp_services.spark.spark_tables import read_lines, read_table

    with on_spark(url) as spark, working("read"):
        if column is None:
            if not path.endswith(".txt"):
                raise InvalidInputError(
                    "Expected --column with --spark, or a .txt with one number per line."
                )
            return population(read_lines(spark, path), "value")
        return population(read_table(spark, path), column)


def rehearsal_on_spark(
    spark: "SparkSession", statistic: str, request: "Request", path: str
) -> "Rehearsal":
    """Returns a rehearsal on a table that Spark reads in parts.

    Args:
        spark: A session.
        statistic: The name of the statistic.
        request: Columns, levels and parameters.
        path: The table.
    """
    from shuffledp_services.spark.missing_values import complete, texts_of
    from shuffledp_services.spark.rehearsal import Columns, divided, rehearse_parts
    from shuffledp_services.spark.spark_tables import read_table

    chosen = divided(statistic)
    request.need_columns()
    value = request.value or ""

    def rehearse(stage: "Stage") -> "Summary":
        table = _placed(read_table(spark, path))
        parts = chosen.partial_rehearsal(request, lambda: texts_of(table, value))
        requested: dict[str, Collection[str]] = {value: parts.known}
        if request.level is not None:
            requested[request.level] = ()
        frame, notes = complete(table, requested, drop=request.missing == "drop")
        if request.level is None:
            frame, notes = _dealt(frame, request, stage), (*notes, _BY_CHANCE)
        return rehearse_parts(
            frame,
            parts,
            Columns(_PERSON, value, request.level or _LEVEL),
            stage.noting(notes),
            secret=_secret(stage.seed),
            source=request.source,
            allowed=request.allowed,
        )

    return rehearse


def _placed(table: "DataFrame") -> "DataFrame":
    """Returns a table with a number for each row."""
    from pyspark.sql import functions

    # The number depends on partition and position. Spark divides a table that it reads
    # again in the same way, so that a row keeps its number.

    return table.withColumn(_PERSON, functions.monotonically_increasing_id())


def _dealt(frame: "DataFrame", request: "Request", stage: "Stage") -> "DataFrame":
    """Returns people with levels in the shares asked for, by a hash of their numbers."""
    from pyspark.sql import functions

    from shuffledp.statistics.rehearsed_collection import checked_shares

    epsilons, parts = checked_shares(request.shares or {})
    salt = int.from_bytes(_secret(stage.seed)[:8], "big") >> 1
    thrown = functions.xxhash64(functions.col(f"`{_PERSON}`"), functions.lit(salt))
    # The hash modulo 2^40, as a uniform number in [0, 1).
    side = functions.pmod(thrown, functions.lit(1 << 40)).cast("double") / float(
        1 << 40
    )
    level = functions.lit(float(epsilons[-1]))
    # From the last level backwards, so that the first bound above the number decides.
    for epsilon, end in reversed(
        list(zip(epsilons[:-1], parts.cumsum(), strict=False))
    ):
        level = functions.when(side < float(end), float(epsilon)).otherwise(level)
    return frame.withColumn(_LEVEL, level)


def _secret(seed: int | None) -> bytes:
    """Returns the secret of a simulation: random, unless there is a seed."""
    if seed is None:
        return os.urandom(32)
    return hashlib.sha256(f"shuffledp simulation {seed}".encode()).digest()
