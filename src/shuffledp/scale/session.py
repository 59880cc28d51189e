"""A session of Spark for a command: begun quietly, and ended with it."""

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
# Where engines listen that were not told where.
_PORTS = {"spark": 7077, "sc": 15002}
_CONNECT_SECONDS = 10.0
_OF_CONNECT = "SPARK_CONNECT_MODE_ENABLED"


@contextmanager
def session(url: str) -> Iterator["SparkSession"]:
    """Begins a session, and stops it at the end.

    Args:
        url: `local[*]` or another master of Spark, such as `spark://host:7077`; or
            `sc://host:15002`, a server of Spark Connect.

    Raises:
        InvalidInputError: If there is no Spark at this URL, or no Java here.
        MissingExtraError: If pyspark is missing.
    """
    for module in ("pyspark", "pyarrow", "pandas"):
        require(module, extra="spark", what="--spark")
    if not _URL.fullmatch(url):
        raise InvalidInputError(
            f"Expected --spark local[*], spark://HOST:PORT or sc://HOST:PORT, got {url!r}."
        )
    _check_reached(url)
    with _kind_forgotten():
        try:
            with _nothing_on_stderr():
                found = _begun(url)
        except Exception as error:
            # An engine says why in dozens of lines, and in several kinds of errors.
            raise InvalidInputError(
                f"Expected Spark at {url!r}, which needs Java 17 here unless it is sc://, "
                f"got {type(error).__name__}."
            ) from None
        try:
            yield found
        finally:
            with _nothing_on_stderr():
                found.stop()


@contextmanager
def _kind_forgotten() -> Iterator[None]:
    """Lets sessions of another kind begin later, here and in processes begun from here.

    PySpark notes in the environment that a session is of Spark Connect, and never forgets.
    """
    before = os.environ.get(_OF_CONNECT)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_OF_CONNECT, None)


def _check_reached(url: str) -> None:
    """Raises InvalidInputError if nobody listens: the engine would try for minutes."""
    scheme, _, rest = url.partition("://")
    if scheme not in _PORTS:
        return
    for address in rest.split("/")[0].split(","):
        try:
            parts = urlsplit(f"//{address}")
            place = parts.hostname or "", parts.port or _PORTS[scheme]
            socket.create_connection(place, _CONNECT_SECONDS).close()
        except (OSError, ValueError):
            continue
        return
    raise InvalidInputError(f"Expected Spark at {url!r}, got no answer from there.")


def _begun(url: str) -> "SparkSession":
    from pyspark.sql import SparkSession

    if url.startswith("sc://"):
        return SparkSession.builder.remote(url).getOrCreate()
    if url.startswith("local"):
        # Workers are this very interpreter, and find what it finds.
        os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(url).appName("shuffledp")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if url.startswith("local"):
        # Nobody else's machine needs to find this driver.
        quiet |= dict.fromkeys(
            ("spark.driver.bindAddress", "spark.driver.host"), "127.0.0.1"
        )
    for name, value in quiet.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


@contextmanager
def _nothing_on_stderr() -> Iterator[None]:
    """Lets what is begun here, the engine's own machine, write to nowhere.

    It logs before anybody can tell it not to, and its workers print tracebacks of what the
    driver says in one line.
    """
    sys.stderr.flush()
    own, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)
        os.close(nowhere)
