"""A real Spark, and people in its frames, for tests."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")
if shutil.which("java") is None:
    pytest.skip("Needs Java 17, from the system.", allow_module_level=True)

import pyspark
from pyspark.sql import DataFrame, SparkSession

from shuffledp_services.spark.session import session

SECRET = bytes(range(32))
LEVELS = (0.5, 1.0, 2.0)
PEOPLE = 12_000

# Read by every engine that this process and its children start.
os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "spark_configuration")
# Nobody else's machine needs to find this driver.
CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
# Spark's own server of Spark Connect, over the same engine.
CONNECT = "sc://"
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_PATIENCE = 300.0


@contextmanager
def started(master: str = "local[2, 4]", **more: str) -> Iterator[SparkSession]:
    """A session, classic or through Spark Connect: every engine has the same frames."""
    # Workers run this very interpreter, and find what the tests find.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    if master == CONNECT:
        with _server() as url, session(url) as remote:
            yield remote
        return
    builder = SparkSession.builder.master(master)
    for name, value in {**CONFIGURATION, **more}.items():
        builder = builder.config(name, value)
    classic = builder.getOrCreate()
    classic.sparkContext.setLogLevel("OFF")
    yield classic
    classic.stop()


@contextmanager
def _server() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    named = [f"--conf={n}={value}" for n, value in {**CONFIGURATION, **address}.items()]
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    command = [str(submit), "--master", "local[2, 4]", *named, "--class", _SERVER]
    process = subprocess.Popen(
        [*command, "spark-internal"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


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
