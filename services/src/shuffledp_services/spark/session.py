"""A Spark session for a command: started without log output, stopped at the end."""

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shuffledp.errors import InvalidInputError
from shuffledp.extras import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_URL = re.compile(r"local(\[.+\]|-cluster\[.+\])?|yarn|(spark|k8s|sc)://.+")
# Default ports of a Spark master and of a Spark Connect server.
_PORTS = {"spark": 7077, "sc": 15002}
_CONNECT_SECONDS = 10.0
_OF_CONNECT = "SPARK_CONNECT_MODE_ENABLED"


@contextmanager
def session(url: str) -> Iterator["SparkSession"]:
    """Starts a session, and stops it at the end.

    Args:
        url: `local[*]` or another master of Spark, such as `spark://host:7077`; or
            `sc://host:15002`, a server of Spark Connect.

    Raises:
        InvalidInputError: If no Spark answers at this URL, or Java is missing.
        MissingExtraError: If pyspark is missing.
    """
    for module in ("pyspark", "pyarrow", "pandas"):
        require(
            module, extra="spark", what="--spark", distribution="shuffledp-services"
        )
    if not _URL.fullmatch(url):
        raise InvalidInputError(
            f"Expected --spark local[*], spark://HOST:PORT or sc://HOST:PORT, got {url!r}."
        )
    _check_reached(url)
    with _restored_environment():
        try:
            with _silent_stderr():
                spark = _started(url)
        except Exception as error:
            # An engine explains in dozens of lines, and with errors of several classes.
            raise InvalidInputError(
                f"Expected Spark at {url!r}, which needs Java 17 here unless it is sc://, "
                f"got {type(error).__name__}."
            ) from None
        try:
            yield spark
        finally:
            with _silent_stderr():
                spark.stop()


@contextmanager
def _restored_environment() -> Iterator[None]:
    """Restores the environment, so that later sessions may be of another kind."""
    # PySpark sets this variable for a session of Spark Connect, and never removes it.
    # Child processes would inherit it.
    before = os.environ.get(_OF_CONNECT)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_OF_CONNECT, None)


def _check_reached(url: str) -> None:
    """Raises InvalidInputError unless a server accepts connections."""
    # Otherwise the engine itself would try for minutes.
    scheme, _, addresses = url.partition("://")
    if scheme not in _PORTS:
        return
    # A URL of Spark may list several masters, separated by commas: any of them will do.
    for address in addresses.split("/")[0].split(","):
        try:
            parts = urlsplit(f"//{address}")
            host_port = parts.hostname or "", parts.port or _PORTS[scheme]
            socket.create_connection(host_port, _CONNECT_SECONDS).close()
        except (OSError, ValueError):
            continue
        return
    raise InvalidInputError(f"Expected Spark at {url!r}, got no answer from there.")


def _started(url: str) -> "SparkSession":
    from pyspark.sql import SparkSession

    if url.startswith("sc://"):
        return SparkSession.builder.remote(url).getOrCreate()
    if url.startswith("local"):
        # Workers run this interpreter, and so import the same packages.
        os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(url).appName("shuffledp")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if url.startswith("local"):
        # On this machine only, so the driver listens on the loopback address alone.
        quiet |= dict.fromkeys(
            ("spark.driver.bindAddress", "spark.driver.host"), "127.0.0.1"
        )
    for name, value in quiet.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Discards stderr, also that of processes that start meanwhile."""
    # The Java virtual machine logs before its log level can be set, and workers print the
    # tracebacks of errors that the driver reports in one line. Both inherit descriptor 2.
    sys.stderr.flush()
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)
