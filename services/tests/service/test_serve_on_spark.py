"""`serve analyst --spark`: a whole collection over HTTP, a worker of which is killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")

import live_collection
import spark_frames  # noqa: F401 - skips where Java is missing, and configures engines.
from live_collection import (
    estimate_of_one_value,
    fetched,
    one_value_epoch,
    people_of,
    task_for,
)
from live_services import Setup, pair
from service_parties import Parties, published_values

from shuffledp_services.operator.task_signatures import signature_file
from shuffledp_services.storage.key_files import ANALYST_FILE, TASK_FILE
from shuffledp_services.storage.new_files import write_new
from shuffledp_services.wire.parties import agreement

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@dataclass(frozen=True)
class Served:
    """An analyst that the command line started.

    Attributes:
        setup: Whose keys, and where it listens.
        log: What it writes on standard error.
        killed: Process ids of the engine's workers that were killed so far.
    """

    setup: Setup
    log: Path
    killed: list[int]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.setup.port}"

    @property
    def path(self) -> str:
        return f"{self.url}/tasks/{self.setup.who.task.identity}"


def written(who: Parties, folder: Path) -> Path:
    """The analyst's folder, once everybody has signed."""
    folder.mkdir()
    write_new(folder / TASK_FILE, who.task.to_json().decode())
    who.analyst.save(folder / ANALYST_FILE)
    for role, key in who.signing_keys.items():
        said = json.dumps(agreement(role, who.task, key))
        write_new(folder / signature_file(role), said)
    return folder


@contextmanager
def served(setup: Setup, folder: Path) -> Iterator[Served]:
    command = [
        *(sys.executable, "-m", "shuffledp", "serve", "analyst", str(folder)),
        *("--database", f"sqlite:///{setup.database}", "--port", str(setup.port)),
        *("--spark", "local[2]"),
    ]
    # Workers of the engine find what the tests find.
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    log = folder / "log.txt"
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=found)
    killed = list[int]()
    killing = threading.Thread(target=kill_a_worker, args=(process.pid, killed))
    killing.start()
    try:
        yield Served(setup, log, killed)
    finally:
        process.terminate()
        process.wait(timeout=60)
        killing.join(timeout=60)


def below(pid: int) -> Iterator[tuple[int, int]]:
    """All processes that one started, and theirs, with how deep they are."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield int(child), 1
            yield from ((one, deep + 1) for one, deep in below(int(child)))


def kill_a_worker(pid: int, killed: list[int]) -> None:
    """Kills the first worker that is given something to open, and adds it to `killed`.

    The engine's machine starts one process of Python, whose copies do the work: the copy
    that is there first reads the work, which takes seconds, for it imports the package.
    """
    while Path(f"/proc/{pid}").exists():
        with suppress(OSError):
            workers = [
                one
                for one, deep in below(pid)
                if deep == 3
                and b"pyspark.daemon" in Path(f"/proc/{one}/cmdline").read_bytes()
            ]
            if workers:
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])
                return
        time.sleep(0.02)


def test_what_is_published_is_what_one_process_finds_though_a_worker_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The engine takes long to start, and may be asked again.
    monkeypatch.setattr(live_collection, "_PATIENCE", 300.0)
    who = task_for("frequency")
    people = people_of(who, 1)
    shuffler, hers = pair(who, tmp_path)

    with served(hers.setup, written(who, tmp_path / "folder")) as analyst, shuffler:
        asyncio.run(fetched(analyst))
        result = asyncio.run(one_value_epoch(shuffler, analyst, people, 1))

    # Whether the engine gave up and was asked again, or started the worker again by
    # itself, depends on how busy the machine is.
    log = analyst.log.read_text()
    assert len(analyst.killed) == 1, log
    assert published_values(result) == estimate_of_one_value(who, people, 1)
