"""Services that are killed at random times: reports that are lost, or counted twice.

    scripts/faults --random NUMBER [--workers 2] [--freezes] [FILE]

draws so many collections (`random_collections`; agnostic, stratified, targets; SQLite,
PostgreSQL), kills their services with SIGKILL again and again while they run, at any moment
and at drawn boundaries of their disks, and prints what was counted. What became of each is
added to the file; those that stand in it are counted from there, and not tried again. With
--freezes, processes of the shuffler are stopped, too (`random_freezes`). With
--workers, so many processes of the shuffler share a PostgreSQL database: every request goes
to any of them, some uploads to two at once, and each of them is killed.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from unittest import mock

import httpx
import live_collection
import numpy as np
import postgres_server
import pytest
import random_operator
from crash_points import (
    ANALYST_BOUNDARIES,
    DEADLINE,
    NEXT,
    RESUME,
    SHUFFLER_BOUNDARIES,
    SKIP,
)
from live_collection import Case, task_for
from live_services import Kill, Party, Running, pair
from random_collections import PLOTS, Account, Collection, Plot
from random_freezes import FREEZES, FreezeMonitor
from random_operator import Operator
from random_table import Outcome, Trial, read_outcomes, tables, write_outcome
from service_parties import LEVELS
from several_services import Either, Several
from witness import Witness

from shuffledp_services.http import http_client

# A step can be closed without a quarter of the people: what is lost shows in the result.
_MINIMUM = 15
_MOST_KILLS, _MEAN_SECONDS, _UP = 8, 0.6, 0.8
# Lives of a service that end at a boundary, should it get there.
_FATED, _MOST_OFTEN, _FROZEN = 5, 3, 2
_AT_A_TIME, _PATIENCE = 4, 600.0
_CASES: tuple[Case, ...] = ("frequency", "stratified", "items")
_BOUNDARIES: dict[Party, tuple[str, ...]] = {
    "shuffler": SHUFFLER_BOUNDARIES,
    "analyst": ANALYST_BOUNDARIES,
}
# Behind what only some operators ask for.
_SPECIAL: dict[Plot, str] = {
    "finished": NEXT,
    "skipped": SKIP,
    "deadline": DEADLINE,
    "lost": RESUME,
    "refused": SKIP,
    "unpaid": NEXT,
}


def drawn(
    number: int, stores: tuple[str, ...], workers: int = 1, *, freezes: bool = False
) -> list[Trial]:
    """Trials of all kinds, in turn: few of them are of many kinds, too."""
    kinds = [(case, store) for store in stores for case in _CASES]
    found = []
    for seed in range(number):
        turn, place = divmod(seed, len(PLOTS))
        case, store = kinds[(turn + place) % len(kinds)]
        found.append(Trial(case, store, PLOTS[place], seed, workers, freezes))
    return found


def attempt(trial: Trial, folder: Path, database: str | None = None) -> Outcome:
    """Runs one collection.

    Args:
        trial: Which.
        folder: For both services' files.
        database: Address of a PostgreSQL server, if that is its store.
    """
    start, rng = time.monotonic(), np.random.default_rng(trial.seed)
    # What is promised to everybody pays for one epoch, and for no second one.
    allowance = LEVELS if trial.plot == "unpaid" else (50.0,) * 3
    who = task_for(trial.case, _MINIMUM, allowance=allowance)
    kills = tuple(_fates(trial.plot, rng))
    if trial.freezes:
        kills = (*_freezes(rng), *kills)
    first, analyst = pair(
        who,
        folder,
        database=database,
        kills=kills,
        shuffler={"tend": 0.2},
        watched=trial.freezes,
    )
    shuffler: Running | Several = first
    network: Either | None = None
    if trial.workers > 1:
        own = [kill for kill in kills if kill.party == "shuffler"]
        shuffler = Several(first.setup, trial.workers, own, seed=trial.seed)
        network = Either(shuffler, trial.seed)
    services = (shuffler, analyst)
    killers, players, thaws = rng.spawn(3)
    monitor = (
        FreezeMonitor(shuffler.all, thaws)
        if isinstance(shuffler, Several)
        else FreezeMonitor([shuffler], None)
    )

    async def play() -> Account:
        witness = Witness(who, network)
        async with httpx.AsyncClient(transport=witness, timeout=10) as devices:
            collection = Collection(
                Operator(who, shuffler, analyst, witness=witness, devices=devices),
                lose=lambda: _lose(folder, database),
                rng=players,
            )
            with (
                monitor.watching(),
                _killing(killers, *services, freezes=trial.freezes),
            ):
                await collection.play(trial.plot)
            return await collection.account()

    with services[0], services[1]:
        try:
            account = asyncio.run(play())
        except (Exception, pytest.fail.Exception) as error:
            said = f"{type(error).__name__}: {error}"
            account = Account(0, 0, 0, 0, 0, said)
    killed = {service.setup.party: dict(service.killed) for service in services}
    took = time.monotonic() - start
    waits = tuple(monitor.waits), tuple(monitor.open_waits)
    return Outcome(trial, killed, account, took, monitor.frozen, *waits)


def _fates(plot: Plot, rng: np.random.Generator) -> Iterator[Kill]:
    """Where the first lives of both services end, if they get there."""
    for _ in range(_FATED):
        for party, boundaries in _BOUNDARIES.items():
            boundary = str(rng.choice(boundaries))
            yield Kill(party, boundary, int(rng.integers(1, _MOST_OFTEN + 1)))
        yield Kill("shuffler", _SPECIAL[plot])


def _freezes(rng: np.random.Generator) -> Iterator[Kill]:
    """Where the first lives of the shuffler stop, if they get there."""
    for boundary in rng.choice(FREEZES, _FROZEN, replace=False):
        yield Kill("shuffler", str(boundary), int(rng.integers(1, 3)), freezes=True)


@contextmanager
def _killing(
    rng: np.random.Generator, *services: Running | Several, freezes: bool
) -> Iterator[None]:
    """Kills at any moment inside of this, and stops the shuffler once with `freezes`."""
    over = threading.Event()
    frozen = int(rng.integers(_MOST_KILLS)) if freezes else _MOST_KILLS

    def kill() -> None:
        for number in range(_MOST_KILLS):
            if number == frozen:
                services[0].freeze()
            if over.wait(rng.exponential(_MEAN_SECONDS)):
                return
            victim = services[rng.integers(len(services))]
            if rng.random() < _UP:
                # One that never gets to anything would show little.
                victim.wait()
            victim.kill()

    killing = threading.Thread(target=kill)
    killing.start()
    try:
        yield
    finally:
        over.set()
        killing.join()


def _lose(folder: Path, database: str | None) -> None:
    """Takes away all that the shuffler kept."""
    for path in folder.glob("shuffler.db*"):
        path.unlink()
    if database is not None:
        quiet = "SET client_min_messages = warning"
        command = f"{quiet}; DROP SCHEMA public CASCADE; CREATE SCHEMA public"
        subprocess.run(["psql", "-q", database, "-c", command], check=True, timeout=60)


def main() -> None:
    """Prints the tables; the exit status is 1 if anything was lost, doubled or wrong."""
    asked = argparse.ArgumentParser()
    asked.add_argument("number", type=int)
    asked.add_argument("file", type=Path, nargs="?")
    asked.add_argument("--workers", type=int, default=1)
    asked.add_argument("--freezes", action="store_true")
    said = asked.parse_intermixed_args()
    number, file = said.number, said.file
    outcomes = read_outcomes(file)
    with ExitStack() as stack:
        missing = postgres_server.missing()
        if missing is None:
            server = stack.enter_context(postgres_server.server())
        else:
            print(f"PostgreSQL is left out: {missing}.")
        stores: tuple[str, ...] = ("sqlite",) if missing else ("sqlite", "postgres")
        if said.workers > 1:
            stores = stores[1:]
        trials = (
            drawn(number, stores, said.workers, freezes=said.freezes) if stores else []
        )
        stack.enter_context(patience())

        def one(trial: Trial) -> Outcome:
            lent = server.lent() if trial.store == "postgres" else nullcontext()
            with tempfile.TemporaryDirectory() as folder, lent as database:
                return attempt(trial, Path(folder), database)

        pool = stack.enter_context(ThreadPoolExecutor(_AT_A_TIME))
        left = [trial for trial in trials if trial.seed not in outcomes]
        for done in as_completed([pool.submit(one, trial) for trial in left]):
            outcome = done.result()
            outcomes[outcome.trial.seed] = outcome
            if outcome.failed:
                print(outcome, flush=True)
            if file is not None:
                with file.open("a") as lines:
                    lines.write(f"{write_outcome(outcome)}\n")
    found = [outcomes[trial.seed] for trial in trials]
    print(tables(found))
    sys.exit(1 if any(one.failed for one in found) or not found else 0)


@contextmanager
def patience() -> Iterator[None]:
    """Lets devices ask often, and everybody wait for long: a machine may be busy."""
    with (
        mock.patch.multiple(http_client, _LONGEST_PAUSE=0.2, ATTEMPTS=3_000),
        mock.patch.object(live_collection, "_PATIENCE", _PATIENCE),
        mock.patch.object(random_operator, "_PATIENCE", _PATIENCE),
    ):
        yield
