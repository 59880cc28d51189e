"""Signs of life, as a supervisor hears them."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_services import PROCESSES
from starlette.applications import Starlette

from shuffledp_services.monitoring.heartbeat import beating, notify_systemd
from shuffledp_services.monitoring.readiness import Readiness
from shuffledp_services.operator.server import run

_PATIENCE = 60.0


@contextmanager
def listening(address: str) -> Iterator[socket.socket]:
    """As systemd listens, for as long as a busy machine may take."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(address)
        receiver.settimeout(_PATIENCE)
        yield receiver


def test_a_state_is_sent_to_systemd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)

    with listening(address) as systemd:
        notify_systemd("READY=1")
        received = systemd.recv(100)

    assert received == b"READY=1"


def test_a_state_is_sent_to_an_abstract_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = f"shuffledp-test-{os.getpid()}"
    monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")

    with listening(f"\0{name}") as systemd:
        notify_systemd("WATCHDOG=1")
        received = systemd.recv(100)

    assert received == b"WATCHDOG=1"


@pytest.mark.parametrize("address", [None, "", "vsock:2:1", "/nobody/listens"])
def test_nothing_is_sent_where_nobody_listens(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    if address is not None:
        monkeypatch.setenv("NOTIFY_SOCKET", address)

    notify_systemd("READY=1")


def test_signs_of_life_come_from_the_loop_until_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shuffledp_services.monitoring.heartbeat._BEAT_SECONDS", 0.0)
    signs = list[int]()

    async def live() -> None:
        async with beating(lambda: signs.append(len(signs))):
            while len(signs) < 3:
                await asyncio.sleep(0)
        ended = len(signs)
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(signs) == ended

    asyncio.run(live())


def _serve(address: str) -> None:
    os.environ["NOTIFY_SOCKET"] = address
    app = Starlette()
    app.state.readiness = Readiness({})
    app.state.answer_plain = lambda _request: None
    run(app, host="127.0.0.1", port=0)


def test_a_service_says_that_it_is_ready_and_that_it_runs(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with listening(address) as systemd:
        process = PROCESSES.Process(target=_serve, args=(address,))
        process.start()
        try:
            before = list(iter(lambda: systemd.recv(100), b"READY=1"))
            after = systemd.recv(100)
        finally:
            process.kill()
            process.join()

    assert set(before) == {after} == {b"WATCHDOG=1"}
    assert process.exitcode == -signal.SIGKILL
