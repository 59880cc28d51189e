"""A whole collection on one machine: two services, thousands of simulated devices."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.extras import require
from shuffledp.randomness import SystemRandom
from shuffledp.service.demo.stage import (
    ANSWERS,
    agree,
    enrol,
    invented_people,
    services,
    wait_for,
)
from shuffledp.service.device.simulated_devices import Delivery, ignore_progress, send
from shuffledp.service.device.uploads import SimulatedPeople
from shuffledp.service.operator.shuffler_commands import operate_with
from shuffledp.service.storage.key_files import SHUFFLER_FILE, ShufflerSecrets
from shuffledp.service.wire.command import Action
from shuffledp.service.wire.task import Task
from shuffledp.types import Floats

# The services need the others, as processes of their own.
for _module in ("httpx", "starlette", "uvicorn"):
    require(_module, extra="service", what="The demo")


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
    progress: Callable[[int, int], None] = ignore_progress,
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
    say("draw keys and agree")
    task = agree(folder, num_users)
    levels, values = invented_people(num_users)
    tokens = enrol(folder, task, epoch=1, count=num_users)
    secrets = ShufflerSecrets.load(folder / "shuffler" / SHUFFLER_FILE)
    say("start the shuffler and the analyst")
    with services(folder) as (shuffler, analyst):
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
        result = wait_for(f"{analyst}/tasks/{task.identity}/epochs/1")
        truth = np.bincount(values, minlength=len(ANSWERS)) / num_users
        yield Demo(task, shuffler, analyst, truth, delivery, result)
