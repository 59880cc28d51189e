"""A cluster of two executors, each a Java virtual machine, with one lost during work."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")

import pyspark
from pyspark.sql import SparkSession
from spark_frames import SECRET, framed, started, table

import shuffledp as sdp
from shuffledp.errors import DataError
from shuffledp.tally import Tally
from shuffledp_services import spark as frames

ATTEMPTS = 5

pytestmark = [
    pytest.mark.slow,
    pytest.mark.few_cases(0),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture
def cluster() -> Iterator[SparkSession]:
    # A task on a busy machine may fail for other reasons than the lost executor.
    more = {"spark.executor.memory": "512m", "spark.task.maxFailures": "12"}
    with started("local-cluster[2, 1, 1024]", **more) as session:
        own = (
            Path(pyspark.__file__).parent / "work" / session.sparkContext.applicationId
        )
        yield session
    # Logs of executors, which this kind of cluster keeps beside the engine.
    shutil.rmtree(own, ignore_errors=True)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def test_a_killed_executor_changes_nothing(
    cluster: SparkSession, tmp_path: Path
) -> None:
    protocol, frame = sdp.Frequency(5), framed(cluster, table(), parts=8)
    who: dict[str, Any] = {"person": "id", "value": "answer", "level": "level"}
    who["secret"] = SECRET
    expected = frames.tally(frames.randomize(frame, protocol, **who), protocol)
    killed = tmp_path / "killed"

    def dies_once(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            try:
                killed.touch(exist_ok=False)
            except FileExistsError:
                continue
            # Of a worker, which a process copied, which the executor started.
            os.kill(parent_of(os.getppid()), signal.SIGKILL)

    doomed = frame.mapInArrow(dies_once, frame.schema)

    def again() -> Tally:
        return frames.tally(frames.randomize(doomed, protocol, **who), protocol)

    found, causes = None, list[str]()
    while found is None and len(causes) < ATTEMPTS:
        try:
            found = again()
        except DataError as error:
            # On a busy machine the engine may give up instead. Then nothing was counted,
            # and the same work, done again, gives the same messages.
            causes.append(str(error.__context__))

    assert found == expected, "\n\n".join(causes)
    assert killed.exists()
