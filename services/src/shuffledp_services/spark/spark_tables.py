"""Tables of users that the engine reads: separated text and Parquet."""

from pathlib import PurePath
from typing import TYPE_CHECKING

from shuffledp.datasets.table_files import separator_of
from shuffledp.datasets.table_kinds import PARQUET, SEPARATED
from shuffledp.errors import DataError
from shuffledp_services.spark.failures import translated_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_table(spark: "SparkSession", path: str) -> "DataFrame":
    """Reads a table; columns of separated text stay texts, as in `datasets.table_files`.

    Args:
        spark: A session.
        path: A file, or a folder of such files, that ends in .csv, .tsv, .txt, .parquet or
            .pq, on any storage of the engine, such as hdfs:// or s3a://.

    Raises:
        DataError: If the table is missing, empty, unreadable or of another kind.
    """
    kind = PurePath(path).suffix.lower()
    if kind not in SEPARATED + PARQUET:
        raise DataError(
            "Expected with --spark a table that ends in "
            f"{', '.join((SEPARATED + PARQUET)[:-1])} or {PARQUET[-1]}, got {path}."
        )
    with translated_errors(f"reads {path}"):
        if kind in PARQUET:
            return spark.read.parquet(path)
        first = spark.read.text(path).head()
        if first is None:
            raise DataError(f"Expected a header line in {path}, found an empty file.")
        default = "\t" if kind == ".tsv" else ","
        reader = spark.read.options(
            header=True,
            sep=separator_of(first[0], default, path),
            # Quotes are doubled, as other programs write them.
            escape='"',
            # A line with more or fewer values than the header ends the work.
            mode="FAILFAST",
            columnPruning=False,
        )
        table = reader.csv(path)
    # A byte order mark, which some programs write, would be a part of the first name.
    return table.toDF(*(name.lstrip("\ufeff").strip() for name in table.columns))


def read_lines(spark: "SparkSession", path: str) -> "DataFrame":
    """Reads a text with one number per line, as the column `value`.

    Raises:
        DataError: If the text is missing or unreadable.
    """
    with translated_errors(f"reads {path}"):
        return spark.read.text(path)
