"""Services that are killed at random times: reports that are lost, or counted twice.

    python tests/service/random_faults.py NUMBER

draws so many collections (agnostic, stratified, items; SQLite, PostgreSQL), kills their
services with SIGKILL again and again while they run, and prints what was counted.
"""

import asyncio
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

import numpy as np
import postgres_server
import pytest
from live_collection import (
    Case,
    People,
    estimate_of_items,
    estimate_of_one_value,
    items_epoch,
    one_value_epoch,
    people_of,
    published_values,
    task_for,
)
from live_services import Running, pair
from oracles.service_parties import LEVELS

# A step can be closed without a quarter of the people: what is lost shows in the result.
_MINIMUM, _PER_LEVEL = 15, 20
_MOST_KILLS, _MEAN_SECONDS = 8, 0.4
_CASES: tuple[Case, ...] = ("frequency", "stratified", "items")


@dataclass(frozen=True)
class Trial:
    """A collection, and the coins of whoever kills."""

    case: Case
    store: str
    seed: int


@dataclass(frozen=True)
class Found:
    """What became of it.

    Attributes:
        kills: How often a service died.
        lost: Confirmed reports that are not in the result.
        doubled: Reports that count more than once.
        wrong: What else is wrong; empty if the published numbers are those of the
            protocol in one process.
        seconds: That it took.
    """

    kills: int
    lost: int
    doubled: int
    wrong: str
    seconds: float

    @property
    def failed(self) -> bool:
        return bool(self.lost or self.doubled or self.wrong)


def drawn(number: int, stores: tuple[str, ...]) -> list[Trial]:
    """Trials of all kinds, in turn."""
    kinds = [(case, store) for store in stores for case in _CASES]
    return [Trial(*kinds[seed % len(kinds)], seed) for seed in range(number)]


def attempt(trial: Trial, folder: Path, database: str | None = None) -> Found:
    """Runs one collection.

    Args:
        trial: Which.
        folder: For both services' files.
        database: Address of a PostgreSQL server, if that is its store.
    """
    who, start = task_for(trial.case, _MINIMUM), time.monotonic()
    people = people_of(who, 1, _PER_LEVEL)
    shuffler, analyst = pair(who, folder, database=database)
    over = threading.Event()
    with shuffler, analyst:
        killing = threading.Thread(
            target=_kill, args=(trial.seed, over, shuffler, analyst)
        )
        killing.start()
        try:
            lost, doubled, wrong = asyncio.run(
                _collect(trial.case, shuffler, analyst, people)
            )
        except (Exception, pytest.fail.Exception) as error:
            lost, doubled, wrong = 0, 0, f"{type(error).__name__}: {error}"
        finally:
            over.set()
            killing.join()
    kills = shuffler.deaths + analyst.deaths
    return Found(kills, lost, doubled, wrong, time.monotonic() - start)


def _kill(seed: int, over: threading.Event, *services: Running) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(_MOST_KILLS):
        if over.wait(rng.exponential(_MEAN_SECONDS)):
            return
        services[rng.integers(len(services))].kill()


async def _collect(
    case: Case, shuffler: Running, analyst: Running, people: People
) -> tuple[int, int, str]:
    who = shuffler.setup.who
    if case == "items":
        plan, result = await items_epoch(shuffler, analyst, people)
        expected: Any = estimate_of_items(who, people, plan)
        sent = [people.levels.size]
    else:
        result = await one_value_epoch(shuffler, analyst, people, 1)
        expected = estimate_of_one_value(who, people, 1)
        sent = [_PER_LEVEL] * len(LEVELS)
    more = np.subtract(result["people"], sent)
    lost, doubled = int(-more[more < 0].sum()), int(more[more > 0].sum())
    same = published_values(result) == expected
    return lost, doubled, "" if same else "other numbers than in one process"


def main() -> None:
    """Prints the table; the exit status is 1 if anything was lost, doubled or wrong."""
    number, rows, totals = int(sys.argv[1]), Counter[str](), Counter[str]()
    with ExitStack() as stack:
        missing = postgres_server.missing()
        if missing is None:
            running = stack.enter_context(postgres_server.server())
        else:
            print(f"PostgreSQL is left out: {missing}.")
        stores = ("sqlite",) if missing else ("sqlite", "postgres")

        def one(trial: Trial) -> Found:
            address = running.new_database() if trial.store == "postgres" else None
            with tempfile.TemporaryDirectory() as folder:
                return attempt(trial, Path(folder), address)

        trials = drawn(number, stores)
        pool = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        for trial, found in zip(trials, pool.map(one, trials), strict=True):
            kind = f"{trial.case}, {trial.store}"
            rows[kind] += 1
            for name in ("kills", "lost", "doubled", "failed"):
                totals[f"{kind} {name}"] += int(getattr(found, name))
            if found.failed:
                print(f"{trial}: {found}", flush=True)
    print(
        f"{'collection':<24}{'times':>7}{'kills':>7}{'lost':>7}{'twice':>7}{'failed':>8}"
    )
    for kind, times in rows.items():
        kills, lost, doubled, failed = (
            totals[f"{kind} {name}"] for name in ("kills", "lost", "doubled", "failed")
        )
        print(f"{kind:<24}{times:>7}{kills:>7}{lost:>7}{doubled:>7}{failed:>8}")
    bad = sum(totals[f"{kind} failed"] for kind in rows)
    print(f"{sum(rows.values())} collections, {bad} failed")
    sys.exit(1 if bad or not rows else 0)


if __name__ == "__main__":
    main()
