"""A real Spark, and people in its frames, for tests."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")
if shutil.which("java") is None:
    pytest.skip("Needs Java 17, from the system.", allow_module_level=True)

from pyspark.sql import DataFrame, SparkSession

SECRET = bytes(range(32))
LEVELS = (0.5, 1.0, 2.0)
PEOPLE = 50_000


@contextmanager
def started(master: str = "local[2, 4]") -> Iterator[SparkSession]:
    # Workers run this very interpreter, and find what the tests find.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    session = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def table(count: int = PEOPLE, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(count),
            "name": [f"person {place}" for place in range(count)],
            "answer": rng.integers(0, 5, count),
            "amount": rng.random(count),
            "level": rng.choice(LEVELS, count),
        }
    )


def framed(spark: SparkSession, people: pl.DataFrame, parts: int = 6) -> DataFrame:
    return spark.createDataFrame(people.to_arrow()).repartition(parts)
