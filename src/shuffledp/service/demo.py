"""A whole collection on one machine: two services, thousands of simulated devices."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.randomness import SystemRandom
from shuffledp.service.agreement import (
    draw_keys,
    load_public_part,
    sign,
    signature_file,
)
from shuffledp.service.calls import UnreachableError
from shuffledp.service.creation import create_task
from shuffledp.service.device import Delivery, nothing, send
from shuffledp.service.enrolment import write_enrolment
from shuffledp.service.operate import operate_with
from shuffledp.service.secrets import SHUFFLER_FILE, TASK_FILE, ShufflerSecrets
from shuffledp.service.uploads import SimulatedPeople
from shuffledp.service.wire.canonical import from_text, to_text
from shuffledp.service.wire.command import Action
from shuffledp.service.wire.notice import Notice
from shuffledp.service.wire.parties import Role
from shuffledp.service.wire.question import Question
from shuffledp.service.wire.sealing import Suite
from shuffledp.service.wire.task import Task
from shuffledp.service.wire.tokens import TOKEN_SIZE
from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp.types import Floats

# The services need the others, as processes of their own.
for _module in ("httpx", "starlette", "uvicorn"):
    require(_module, extra="service", what="The demo")

import httpx  # noqa: E402

LEAST_PEOPLE = 100

_LEVELS, _CHOSEN = (0.5, 1.0, 2.0), (0.3, 0.4, 0.3)
_ANSWERS = {"by bike": 0.35, "by train": 0.3, "by car": 0.25, "on foot": 0.1}
_PATIENCE = 60.0


@dataclass(frozen=True)
class Demo:
    """A collection that is over; its services still run.

    Attributes:
        task: The task.
        shuffler: Its URL.
        analyst: Hers.
        truth: What share of the simulated people holds each answer, shape (4,).
        delivery: What became of their reports.
        result: What the analyst published.
    """

    task: Task
    shuffler: str
    analyst: str
    truth: Floats
    delivery: Delivery
    result: dict[str, Any]

    @property
    def dashboard(self) -> str:
        """Where people look at the result."""
        return f"{self.analyst}/tasks/{self.task.identity}/dashboard"


@contextmanager
def demo(
    folder: Path,
    *,
    num_users: int,
    progress: Callable[[int, int], None] = nothing,
    say: Callable[[str], None] = lambda _what: None,
) -> Iterator[Demo]:
    """Runs a collection, and keeps its services until the context ends.

    Args:
        folder: For keys and databases; the three parties get one folder each in it.
        num_users: How many people are simulated, at least `LEAST_PEOPLE`.
        progress: Is told how many reports are done, of how many.
        say: Is told what is being done.

    Raises:
        InvalidInputError: If there are too few people.
        UnreachableError: If a service does not start, or nothing is published in time.
    """
    if num_users < LEAST_PEOPLE:
        raise InvalidInputError(
            f"Expected at least {LEAST_PEOPLE} people, got {num_users}."
        )
    say("draw keys and agree")
    levels, values = _people(num_users)
    task, tokens = _agree(folder, num_users)
    secrets = ShufflerSecrets.load(folder / "shuffler" / SHUFFLER_FILE)
    say("start the shuffler and the analyst")
    ports = _free_ports(2)
    shuffler, analyst = (f"http://127.0.0.1:{port}" for port in ports)
    with (
        _service(folder, "analyst", ports[1], "--shuffler", shuffler),
        _service(folder, "shuffler", ports[0], "--analyst", analyst),
    ):
        for url in (shuffler, analyst):
            _wait(f"{url}/health")
        say("answer")
        delivery = asyncio.run(
            send(
                SimulatedPeople(values, levels, tokens),
                shuffler=shuffler,
                identity=task.identity,
                expected=task.digest,
                rng=SystemRandom(),
                progress=progress,
            )
        )
        say("shuffle, open and count")
        asyncio.run(operate_with(task, secrets, shuffler, Action.CLOSE))
        result = _wait(f"{analyst}/tasks/{task.identity}/epochs/1")
        truth = np.bincount(values, minlength=len(_ANSWERS)) / num_users
        yield Demo(task, shuffler, analyst, truth, delivery, result)


def _people(num_users: int) -> tuple[Floats, np.ndarray[Any, np.dtype[np.int64]]]:
    rng = np.random.default_rng()
    levels = rng.choice(np.array(_LEVELS), num_users, p=_CHOSEN)
    shares = list(_ANSWERS.values())
    return levels, rng.choice(len(shares), num_users, p=shares)


def _agree(folder: Path, num_users: int) -> tuple[Task, list[bytes]]:
    """Does what three parties do on their own machines, each in a folder of its own.

    Returns:
        The task, and the tokens that the enroller hands out.
    """
    own = {role: folder / role.value for role in Role}
    parts = {role: draw_keys(own[role], role, Suite.X25519)[1] for role in Role}
    # What is copied from folder to folder is what is sent between organizations.
    for role in (Role.SHUFFLER, Role.ENROLLER):
        _send(parts[role], own[Role.ANALYST])
    task = create_task(
        own[Role.ANALYST],
        name="How people get to work",
        notice=Notice(
            "The demonstration of shuffledp",
            "Nobody: all of it runs on this machine",
            "Invented people's answers are counted once, and nothing is kept.",
        ),
        question=Question("How do you get to work?", FrequencySurvey(tuple(_ANSWERS))),
        choices=_LEVELS,
        # Of 100 people, fewer than 10 choose a level with a chance below 1e-6.
        minimum=(num_users // 10,) * len(_LEVELS),
        promise=None,
        delta=1e-6,
        absent=None,
        epochs=10,
        shuffler_key=load_public_part(parts[Role.SHUFFLER], Role.SHUFFLER),
        enroller_key=load_public_part(parts[Role.ENROLLER], Role.ENROLLER),
    )
    for role in (Role.SHUFFLER, Role.ENROLLER):
        _send(own[Role.ANALYST] / TASK_FILE, own[role])
        sign(own[role], role)
    for role, other in permutations(Role, 2):
        _send(own[role] / signature_file(role), own[other])
    enroller, tokens = own[Role.ENROLLER], own[Role.ENROLLER] / "tokens.txt"
    roster = write_enrolment(enroller, task, 1, num_users, tokens, to_text)
    _send(roster, own[Role.SHUFFLER])
    lines = tokens.read_text().splitlines()
    return task, [from_text(line, TOKEN_SIZE, "a token") for line in lines]


def _send(file: Path, folder: Path) -> None:
    shutil.copy(file, folder / file.name)


@contextmanager
def _service(folder: Path, party: str, port: int, *more: str) -> Iterator[None]:
    """Runs one of the services as a process of its own."""
    own = folder / party
    command = [sys.executable, "-m", "shuffledp", "serve", party, str(own)]
    database = f"sqlite:///{(own / 'database').absolute()}"
    command += ["--database", database, "--port", str(port), *more]
    with (own / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_quiet()
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _quiet() -> dict[str, str]:
    # Two services on one machine need no more than one thread each for arithmetic.
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _wait(url: str) -> dict[str, Any]:
    """Returns what is there, as soon as something is there."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with suppress(httpx.TransportError):
            response = httpx.get(url, timeout=10.0, trust_env=False)
            if response.is_success:
                document: dict[str, Any] = response.json()
                return document
        time.sleep(0.1)
    raise UnreachableError(f"Expected an answer from {url}, got none.")
