"""What operators see: readiness, metrics, logs; and that none of it tells of people."""

import asyncio
import json
import logging
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from analyst_parties import Service, serve
from analyst_parties import parties as analyst_parties
from live_services import PROCESSES, free_ports
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from shuffler_parties import Analyst, Client, Parties, parties, upload

from shuffledp.errors import DataError
from shuffledp_services.monitoring.event_log import Event, log_crash, log_event, logged
from shuffledp_services.monitoring.metrics import (
    MetricsSnapshot,
    TaskMetrics,
    serve_metrics,
)
from shuffledp_services.operator.server import run
from shuffledp_services.shuffler.sqlite_file import SqliteFile
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.storage.database import ExclusiveDatabase
from shuffledp_services.wire.canonical import to_text


def post(client: Client, who: Parties, count: int) -> httpx.Response:
    body = upload(who.step(), who.tokens(count))
    return client.post(who.path("/reports"), content=body)


def scraped(shown: MetricsSnapshot) -> str:
    registry = CollectorRegistry()
    registry.register(shown)
    return generate_latest(registry).decode()


def value(text: str, name: str, **labels: str) -> float:
    """One number of a scrape; 0 where it is not there yet."""
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if (sample.name, sample.labels) == (name, labels):
                return float(sample.value)
    return 0.0


# Readiness


@pytest.mark.parametrize("error", [sqlite3.OperationalError, ValueError])
def test_a_shuffler_is_ready_while_its_database_can_be_used(
    error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp_services.shuffler.shuffler_app._TEND_SECONDS", 0.01)
    who = parties()
    app = who.app(SqliteStore(tmp_path / "db"), Analyst(who))
    answers = []

    with Client(app) as client:
        answers.append(client.get("/ready"))
        monkeypatch.setattr(SqliteFile, "_check", _broken(error))
        time.sleep(0.2)
        answers.append(client.get("/ready"))
        alive = client.get("/health").status_code
        monkeypatch.setattr(SqliteFile, "_check", lambda _file: None)
        time.sleep(0.1)
        again = client.get("/ready").status_code
        app.state.readiness.reason = "stopping"
        answers.append(client.get("/ready"))
        # What stops does not become ready again.
        time.sleep(0.1)
        answers.append(client.get("/ready"))

    assert [answer.status_code for answer in answers] == [200, 503, 503, 503]
    assert answers[0].json() == {
        "status": "ready",
        "tasks": 1,
        "page": answers[0].json()["page"],
    }
    assert answers[0].json()["page"] in ("built", "not-built")
    assert answers[1].json()["reason"] == "the database cannot be used"
    assert answers[2].json()["reason"] == answers[3].json()["reason"] == "stopping"
    assert alive == again == 200


def _broken(error: type[Exception]) -> Callable[[SqliteFile], None]:
    def check(file: SqliteFile) -> None:
        with file.transaction():
            raise error("disk I/O error")

    return check


def test_an_analyst_is_ready_while_her_database_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp_services.analyst.analyst_app._LOOK_SECONDS", 0.01)
    transaction = ExclusiveDatabase.transaction

    @contextmanager
    def broken(_file: ExclusiveDatabase) -> Iterator[sqlite3.Connection]:
        raise sqlite3.OperationalError("disk I/O error")
        yield

    async def scenario(service: Service) -> list[httpx.Response]:
        answers = []
        for each, code in ((transaction, 200), (broken, 503), (transaction, 200)):
            monkeypatch.setattr(ExclusiveDatabase, "transaction", each)
            for _ in range(1_000):
                answer = await service.client.get("/ready")
                if answer.status_code == code:
                    break
                await asyncio.sleep(0.01)
            answers.append(answer)
        return answers

    answers = serve(tmp_path, analyst_parties(), scenario)

    assert [answer.status_code for answer in answers] == [200, 503, 200]
    assert answers[1].json()["reason"] == "the database cannot be used"


def test_services_are_not_ready_before_they_are_opened_nor_afterwards(
    tmp_path: Path,
) -> None:
    who, analyst = parties(), analyst_parties()
    app = who.app(SqliteStore(tmp_path / "db"), Analyst(who))

    before = app.state.readiness.reason
    with Client(app):
        during = app.state.readiness.reason
    after = app.state.readiness.reason

    async def ready(service: Service) -> httpx.Response:
        return await service.client.get("/ready")

    answer = serve(tmp_path, analyst, ready)

    assert (before, during, after) == ("starting", None, "stopping")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")


# Metrics


def test_one_upload_makes_no_difference_to_metrics_and_ten_do(tmp_path: Path) -> None:
    who, shown = parties(minimum=40), MetricsSnapshot()

    with Client(who.app(SqliteStore(tmp_path / "db"), Analyst(who))) as client:

        def scrape() -> str:
            shown.refresh([])
            return scraped(shown)

        def requests() -> float:
            labels = {"route": "post_reports", "status": "2xx"}
            return value(scrape(), "shuffledp_requests_total", **labels)

        # The process counts for all tests: it is brought to a multiple of ten.
        start = requests()
        while requests() == start:
            assert post(client, who, 1).status_code == 200
        before = [scrape()]
        for _ in range(4):
            post(client, who, 1)
            before.append(scrape())
        public = client.get("/metrics").status_code
        for _ in range(10):
            post(client, who, 1)
        after = requests()

    seen = [_samples(text) for text in before]
    changes = {name: len({each.get(name) for each in seen}) - 1 for name in seen[-1]}
    moved = {name for name, count in changes.items() if count}
    # Commits, of each length, may be elsewhere between two tens, and pass one once.
    assert all(name.startswith("shuffledp_commit") for name in moved)
    assert all(changes[name] == 1 for name in moved)
    assert all(value % 10 == 0 for value in _numbers_of_people(before[-1]))
    assert after == start + 20
    assert public == 404


def _samples(text: str) -> dict[str, float]:
    return {
        f"{sample.name}{sorted(sample.labels.items())}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _numbers_of_people(text: str) -> list[float]:
    return [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if family.name in ("shuffledp_requests", "shuffledp_commit_seconds")
    ]


def test_metrics_name_tasks_batches_refusals_and_nothing_of_people(
    tmp_path: Path,
) -> None:
    who, shown = parties(minimum=2), MetricsSnapshot()
    shown.refresh([])
    before = scraped(shown)

    app = who.app(SqliteStore(tmp_path / "db"), Analyst(who))
    with Client(app) as client:
        post(client, who, 7)
        client.post(who.path("/reports"), content=b"nonsense")
        who.order(client, "close")
        while client.get(who.path()).json()["phase"] != "delivered":
            time.sleep(0.01)
        shown.refresh(client._wait(app.state.task_metrics()))
    text = scraped(shown)

    def more(name: str, **labels: str) -> float:
        return value(text, name, **labels) - value(before, name, **labels)

    task = who.task.identity
    assert more("shuffledp_events_total", event="closed") == 1
    assert more("shuffledp_events_total", event="handed-over") == 1
    assert more("shuffledp_requests_refused_total", reason="malformed") == 1
    assert more("shuffledp_reports_refused_total", task=task, reason="malformed") == 1
    assert more("shuffledp_task_epoch", task=task) == 1
    place = {"task": task, "stage": "answer", "phase": "delivered"}
    assert more("shuffledp_task_phase", **place) == 1
    labels = {
        label
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        for label in sample.labels
    }
    allowed = {"route", "status", "le", "task", "reason", "stage", "phase", "event"}
    assert labels <= allowed | {"kind"}


async def no_tasks() -> list[TaskMetrics]:
    return []


def test_a_port_of_metrics_that_is_taken_is_named() -> None:
    async def begin(port: int) -> None:
        async with serve_metrics(port, no_tasks):
            pass

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DataError, match=f"127.0.0.1:{port}"):
            asyncio.run(begin(port))


# Logs


def test_lines_are_json_whatever_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    state = parties().step()

    with logged("json"):
        log_event(Event.REFUSED, state, reason="too-few-people")
        try:
            raise ValueError("level 0.5, token 77")
        except ValueError as error:
            log_crash(error)
            logging.getLogger("asyncio").error("never got %s", 77, exc_info=True)
        logging.getLogger("shuffledp_services").warning("Two\nlines.")

    refused, crashed, foreign, note = map(
        json.loads, capsys.readouterr().err.splitlines()
    )
    assert refused == {
        "time": refused["time"],
        "level": "info",
        "event": "refused",
        "task": state.task.identity,
        "epoch": 1,
        "stage": "answer",
        "reason": "too-few-people",
        "message": refused["message"],
    }
    time.strptime(refused["time"], "%Y-%m-%dT%H:%M:%SZ")
    assert (crashed["event"], crashed["kind"]) == ("crashed", "ValueError")
    assert crashed["place"].rpartition(":")[0] == __file__
    assert foreign["message"] == "ValueError in asyncio"
    assert note["message"] == "Two\nlines."
    assert "77" not in f"{crashed['message']}{foreign}"


def test_lines_for_people_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with logged("text"):
        log_event(Event.STARTED)
        logging.getLogger("shuffledp_services").warning("Two\nlines.")
    log_event(Event.STOPPED)

    assert capsys.readouterr().err == "started\nTwo lines.\n"


def get(url: str) -> httpx.Response:
    """On a connection of its own: the service may be closing the last one."""
    return httpx.get(url, trust_env=False)


def _serve(who: Parties, folder: Path, ports: tuple[int, int]) -> None:
    with (folder / "log").open("w") as log:
        os.dup2(log.fileno(), 2)
    app = who.app(SqliteStore(folder / "db"), Analyst(who))
    with logged("json"):
        run(app, host="127.0.0.1", port=ports[0], metrics_port=ports[1])


def test_a_service_tells_its_operator_what_happened_and_nobody_who_came(
    tmp_path: Path,
) -> None:
    who = parties(minimum=1)
    tokens = who.tokens(3)
    public, private = free_ports(2)
    process = PROCESSES.Process(target=_serve, args=(who, tmp_path, (public, private)))
    process.start()
    url, end = f"http://127.0.0.1:{public}", time.monotonic() + 30
    try:
        while time.monotonic() < end:
            with suppress(httpx.TransportError):
                if get(f"{url}/ready").status_code == 200:
                    break
            time.sleep(0.02)
        body, path = upload(who.step(), tokens), f"{url}{who.path()}"
        taken = httpx.post(f"{path}/reports", content=body, trust_env=False)
        with httpx.Client(base_url=url, trust_env=False) as client:
            who.order(client, "close")
        while get(path).json()["phase"] != "delivered":
            time.sleep(0.02)
        scrape = get(f"http://127.0.0.1:{private}/metrics")
        begun = time.monotonic()
        os.kill(process.pid or 0, signal.SIGTERM)
        process.join(20)
        seconds = time.monotonic() - begun
    finally:
        process.kill()

    said = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    events = [line["event"] for line in said if line["level"] == "info"]
    assert taken.status_code == 200
    assert value(scrape.text, "shuffledp_task_epoch", task=who.task.identity) == 1
    assert events == ["enrolled", "started", "closed", "handed-over", "stopped"]
    # It ends by the signal itself, once everything is closed.
    assert (process.exitcode, seconds < 10) == (-signal.SIGTERM, True)
    secrets = [form for t in tokens for form in (t.hex(), to_text(t))]
    everything = (tmp_path / "log").read_text()
    assert not [one for one in (*secrets, "127.0.0.1") if one in everything]
