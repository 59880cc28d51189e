"""A service in several processes behind one port."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
import postgres_server
import pytest
from live_services import PROCESSES
from shuffler_parties import Analyst, Parties, parties, upload
from starlette.applications import Starlette

from shuffledp.errors import DataError
from shuffledp_services.operator.worker_processes import run_workers
from shuffledp_services.shuffler.postgres_store import PostgresStore

pytest_plugins = ["store_fixtures"]
pytestmark = pytest.mark.slow


def _app(who: Parties, database: str) -> Starlette:
    return who.app(PostgresStore(database), Analyst(who))


def _nothing() -> Starlette:
    raise DataError("It cannot start.")


def _run(build: Callable[[], Starlette], pipe: Connection, log: Path) -> None:
    with log.open("w") as file:
        os.dup2(file.fileno(), 2)
    try:
        run_workers(
            build,
            number=2,
            host="127.0.0.1",
            port=0,
            started=pipe.send,
            metrics_port=None,
            log_format="text",
        )
    except DataError as error:
        pipe.send(f"failed: {error}")
    # What is heard then is that it came back by itself.
    pipe.send("ended")


def children_of(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    commands = {int(one): Path(f"/proc/{one}/cmdline").read_bytes() for one in found}
    return [one for one, command in commands.items() if b"spawn_main" in command]


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def database(postgres: postgres_server.Server) -> Iterator[str]:
    with postgres.lent() as address:
        yield address


def test_workers_share_a_port_come_back_and_end_with_their_parent(
    database: str, tmp_path: Path
) -> None:
    who, log = parties(), tmp_path / "log"
    here, there = PROCESSES.Pipe()
    build = partial(_app, who, database)
    parent = PROCESSES.Process(target=_run, args=(build, there, log))
    parent.start()

    def accepted(count: int) -> int:
        # Each on a connection of its own: whoever is idle takes it.
        body = upload(who.step(), who.tokens(count))
        answer = httpx.post(f"{url}{who.path('/reports')}", content=body)
        return int(answer.json()["accepted"])

    try:
        url = here.recv()
        pid = parent.pid or 0
        first = children_of(pid)
        begun = accepted(3) + accepted(4)
        os.kill(first[0], signal.SIGKILL)
        until(lambda: len(children_of(pid)) == 2 and first[0] not in children_of(pid))
        until(lambda: log.read_text().count("started\n") == 3)
        meanwhile = sum(accepted(1) for _ in range(10))
        with httpx.Client(base_url=url) as client:
            counted = who.order(client, "status").json()["people"]
        last = children_of(pid)
        asked = time.monotonic()
        parent.terminate()
        said = here.recv()
        parent.join(20)
        took = time.monotonic() - asked
    finally:
        parent.kill()
        parent.join()

    assert len(first) == 2
    assert (begun, meanwhile, sum(counted)) == (7, 10, 17)
    assert (said, parent.exitcode, took < 10) == ("ended", 0, True)
    assert not any(Path(f"/proc/{one}").exists() for one in last)
    lines = log.read_text().splitlines()
    assert lines.count("A worker ended: it is started again.") == 1
    assert lines.count("stopped") == 2


def test_workers_end_when_their_parent_is_killed(database: str, tmp_path: Path) -> None:
    here, there = PROCESSES.Pipe()
    build = partial(_app, parties(), database)
    parent = PROCESSES.Process(target=_run, args=(build, there, tmp_path / "log"))
    parent.start()
    here.recv()
    workers = children_of(parent.pid or 0)

    parent.kill()
    parent.join()

    until(lambda: not any(Path(f"/proc/{one}/exe").exists() for one in workers))


def test_a_worker_that_stands_still_is_killed_and_started_again(
    database: str, tmp_path: Path
) -> None:
    who, log = parties(), tmp_path / "log"
    here, there = PROCESSES.Pipe()
    build = partial(_app, who, database)
    parent = PROCESSES.Process(target=_run, args=(build, there, log))
    parent.start()

    try:
        url = here.recv()
        pid = parent.pid or 0
        # Its own first worker tends.
        until(lambda: log.read_text().count("started\n") == 2)
        both = children_of(pid)
        os.kill(both[0], signal.SIGSTOP)
        until(lambda: both[0] not in children_of(pid))
        until(lambda: log.read_text().count("started\n") == 3)
        body = upload(who.step(), who.tokens(9))
        accepted = httpx.post(f"{url}{who.path('/reports')}", content=body).json()
        now = children_of(pid)
    finally:
        parent.terminate()
        parent.join(20)
        parent.kill()

    assert both[1] in now
    assert len(now) == 2
    assert accepted["accepted"] == 9
    lines = log.read_text().splitlines()
    assert lines.count("A worker gives no sign of life: it is killed.") == 1


def test_what_keeps_a_worker_from_starting_is_said(tmp_path: Path) -> None:
    here, there = PROCESSES.Pipe()
    parent = PROCESSES.Process(target=_run, args=(_nothing, there, tmp_path / "log"))
    parent.start()

    said = [here.recv(), here.recv()]
    parent.join(20)

    assert said == ["failed: It cannot start.", "ended"]
