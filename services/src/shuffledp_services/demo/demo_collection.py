"""Demonstration of a collection: two services and simulated devices on one machine."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.randomness import SystemRandom
from shuffledp.types import Floats
from shuffledp_services.demo.local_parties import (
    ANSWERS,
    enrol,
    run_services,
    sign_task,
    simulate_users,
    wait_for,
)
from shuffledp_services.device.simulated_devices import Delivery, ignore_progress, send
from shuffledp_services.device.uploads import SimulatedPeople
from shuffledp_services.operator.shuffler_commands import operate_with
from shuffledp_services.storage.key_files import SHUFFLER_FILE, ShufflerSecrets
from shuffledp_services.wire.command import Action
from shuffledp_services.wire.task import Task


@dataclass(frozen=True)
class Demo:
    """Finished collection whose services still run.

    Attributes:
        task: Task of the three parties.
        shuffler: URL of the shuffler.
        analyst: URL of the analyst.
        truth: Share of the simulated users that holds each answer, shape (4,).
        delivery: Accepted and refused reports.
        result: Published result.
    """

    task: Task
    shuffler: str
    analyst: str
    truth: Floats
    delivery: Delivery
    result: dict[str, Any]

    @property
    def dashboard(self) -> str:
        """URL of the page that shows the result."""
        return f"{self.analyst}/tasks/{self.task.identity}/dashboard"


@contextmanager
def demo(
    folder: Path,
    *,
    num_users: int,
    progress: Callable[[int, int], None] = ignore_progress,
    say: Callable[[str], None] = lambda _step: None,
) -> Iterator[Demo]:
    """Runs a collection; its services run until the context ends.

    Args:
        folder: Folder for keys and databases, with one folder per party.
        num_users: Number of simulated users, at least `MIN_USERS`.
        progress: Called with the number of finished reports and of all reports.
        say: Called with a description of each step before it begins.

    Raises:
        InvalidInputError: If there are too few users.
        UnreachableError: If a service does not start, or no result is published in time.
    """
    say("draw keys and agree")
    task = sign_task(folder, num_users)
    levels, values = simulate_users(num_users)
    tokens = enrol(folder, task, epoch=1, count=num_users)
    secrets = ShufflerSecrets.load(folder / "shuffler" / SHUFFLER_FILE)
    say("start the shuffler and the analyst")
    with run_services(folder) as (shuffler, analyst):
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
        # Of these users alone: the shares they were drawn with differ by chance.
        truth = np.bincount(values, minlength=len(ANSWERS)) / num_users
        yield Demo(task, shuffler, analyst, truth, delivery, result)
