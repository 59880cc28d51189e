"""Parties of a demonstration: their folders, service processes and simulated users."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import permutations
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.types import Floats, Ints
from shuffledp_services.http.http_client import UnreachableError
from shuffledp_services.operator.enrolment import write_enrolment
from shuffledp_services.operator.task_setup import create_task
from shuffledp_services.operator.task_signatures import (
    draw_keys,
    load_public_part,
    sign,
    signature_file,
)
from shuffledp_services.storage.key_files import TASK_FILE
from shuffledp_services.wire.invitation import Invitation
from shuffledp_services.wire.notice import Notice
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.task import Task

MIN_USERS = 100
LEVELS = (0.5, 1.0, 2.0)
ANSWERS = {"by bike": 0.35, "by train": 0.3, "by car": 0.25, "on foot": 0.1}

_LEVEL_PROBABILITIES = (0.3, 0.4, 0.3)
_TIMEOUT_SECONDS = 60.0


def simulate_users(num_users: int) -> tuple[Floats, Ints]:
    """Draws one privacy level and one answer per user, shapes (n,)."""
    # No privacy rests on these draws: devices randomize with `SystemRandom`.
    rng = np.random.default_rng()
    levels = rng.choice(np.array(LEVELS), num_users, p=_LEVEL_PROBABILITIES)
    shares = list(ANSWERS.values())
    return levels, rng.choice(len(shares), num_users, p=shares)


def sign_task(folder: Path, num_users: int) -> Task:
    """Draws keys for three parties and has them sign a task, each in a folder of its own.

    Args:
        folder: Folder that contains those of the parties.
        num_users: Expected number of users, at least `MIN_USERS`.

    Raises:
        InvalidInputError: If `num_users` is too small.
    """
    if num_users < MIN_USERS:
        raise InvalidInputError(
            f"Expected at least {MIN_USERS} people, got {num_users}."
        )
    own = {role: folder / role.value for role in Role}
    parts = {role: draw_keys(own[role], role, Suite.X25519)[1] for role in Role}
    # Real parties send each other exactly the files that are copied between folders.
    for role in (Role.SHUFFLER, Role.ENROLLER):
        _copy_to_folder(parts[role], own[Role.ANALYST])
    task = create_task(
        own[Role.ANALYST],
        name="How people get to work",
        notice=Notice(
            "The demonstration of shuffledp",
            "Nobody: all of it runs on this machine",
            "Invented people's answers are counted once, and nothing is kept.",
        ),
        question=Question("How do you get to work?", FrequencySurvey(tuple(ANSWERS))),
        choices=LEVELS,
        # Of 100 users, fewer than 10 choose a level with a probability below 1e-6.
        minimum=(num_users // 10,) * len(LEVELS),
        promise=None,
        delta=1e-6,
        absent=None,
        epochs=10,
        shuffler_key=load_public_part(parts[Role.SHUFFLER], Role.SHUFFLER),
        enroller_key=load_public_part(parts[Role.ENROLLER], Role.ENROLLER),
    )
    for role in (Role.SHUFFLER, Role.ENROLLER):
        _copy_to_folder(own[Role.ANALYST] / TASK_FILE, own[role])
        sign(own[role], role)
    for role, other in permutations(Role, 2):
        # Every party needs the signatures of all others.
        _copy_to_folder(own[role] / signature_file(role), own[other])
    return task


def enrol(folder: Path, task: Task, *, epoch: int, count: int) -> list[bytes]:
    """Writes the roster of an epoch for the shuffler; returns the tokens for users."""
    own = folder / Role.ENROLLER.value
    tokens = own / f"tokens-{epoch}.txt"
    roster = write_enrolment(own, task, epoch, count, tokens)
    _copy_to_folder(roster, folder / Role.SHUFFLER.value)
    lines = tokens.read_text().splitlines()
    return [Invitation.read(line).token for line in lines]


def _copy_to_folder(file: Path, folder: Path) -> None:
    shutil.copy(file, folder / file.name)


@contextmanager
def run_services(
    folder: Path,
    *,
    analyst_options: Sequence[str] = (),
    program: Sequence[str] = ("shuffledp",),
) -> Iterator[tuple[str, str]]:
    """Runs both services, each as a process of its own, until the context ends.

    Args:
        folder: Folder that contains those of the parties.
        analyst_options: Further options of the analyst's command.
        program: Module to run, and its arguments before those of `shuffledp`.

    Yields:
        The URLs of the shuffler and of the analyst.

    Raises:
        UnreachableError: If a service does not start.
    """
    ports = _free_ports(2)
    shuffler, analyst = (f"http://127.0.0.1:{port}" for port in ports)
    # The dashboard shows the progress of the shuffler.
    options = ("--shuffler", shuffler, *analyst_options)
    with (
        _service(folder, "analyst", options, port=ports[1], program=program),
        _service(
            folder, "shuffler", ("--analyst", analyst), port=ports[0], program=program
        ),
    ):
        for url in (shuffler, analyst):
            wait_for(f"{url}/health")
        yield shuffler, analyst


@contextmanager
def _service(
    folder: Path,
    party: str,
    options: Sequence[str],
    *,
    port: int,
    program: Sequence[str],
) -> Iterator[None]:
    own = folder / party
    command = [sys.executable, "-m", *program, "serve", party, str(own)]
    database = f"sqlite:///{(own / 'database').absolute()}"
    command += ["--database", database, "--port", str(port), *options]
    # Not a pipe: one that is not read fills up, and blocks the service.
    with (own / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=_service_environment(),
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            # A service that does not stop would outlive the demonstration.
            process.kill()
            process.wait()


def _service_environment() -> dict[str, str]:
    # Both services share the cores: threads of BLAS would only compete for them.
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        # All are bound before one is closed: otherwise a port could come up twice.
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [sock.getsockname()[1] for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()


def wait_for(url: str) -> dict[str, Any]:
    """Requests a URL until it succeeds, and returns its JSON document."""
    end = time.monotonic() + _TIMEOUT_SECONDS
    while time.monotonic() < end:
        # No connection while the service starts, and no success before it publishes.
        with suppress(httpx.TransportError):
            response = httpx.get(url, timeout=10.0, trust_env=False)
            if response.is_success:
                document: dict[str, Any] = response.json()
                return document
        time.sleep(0.1)
    raise UnreachableError(f"Expected an answer from {url}, got none.")
