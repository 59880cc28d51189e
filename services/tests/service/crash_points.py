"""Every durable boundary of both services, and what a crash there leaves of a collection.

    scripts/faults [text...]     all points, or those that name a text

prints one line per point: where a service was killed with SIGKILL, and what became of the
collection. The default tests take some of the points.
"""

import asyncio
import os
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import postgres_server
import pytest
from dummy_oracles import check_noisy_result
from live_collection import (
    Case,
    estimate_of_items,
    estimate_of_one_value,
    one_value_epoch,
    operate,
    people_of,
    planned_epoch,
    task_for,
)
from live_services import Kill, Party, Running, pair
from service_parties import published_values

from shuffledp_services.wire.command import Action

_UPLOAD = ("before upload", "in upload", "after upload")
_CLOSE = ("before close", "in close", "after close")
_HAND_OVER = (
    "before hand-over",
    "after sending",
    "after hand-over",
    "after forgetting",
)
_BATCH = ("after manifest", "after shard", "before batch", "after batch", "opened")
_PLAN = ("before plan", "after plan")
_RESULT = ("before result", "after result")
# Collections of choices, and then of what a plan says.
PLANNED: tuple[Case, ...] = ("items", "dummies")
# What an operator asks for, other than that a step is closed.
NEXT, SKIP, RESUME = "after next epoch", "after skipping", "after resuming"
DEADLINE = "after deadline"
SHUFFLER_BOUNDARIES = _UPLOAD + _CLOSE + _HAND_OVER
ANALYST_BOUNDARIES = _BATCH + _PLAN + _RESULT


@dataclass(frozen=True)
class Point:
    """A collection, and where it is interrupted.

    Attributes:
        case: What is collected: two epochs of one value, or one of a plan.
        store: Where the shuffler keeps reports: "sqlite" or "postgres".
        kills: One per party at most.
    """

    case: Case
    store: str
    kills: tuple[Kill, ...]

    def __str__(self) -> str:
        return f"{self.case}, {self.store}: {' + '.join(map(str, self.kills))}"


def _kills(case: Case) -> list[Kill]:
    """First and second time at every boundary that this collection reaches."""
    twice: list[tuple[Party, tuple[str, ...]]] = [
        ("shuffler", SHUFFLER_BOUNDARIES),
        ("analyst", _BATCH if case in PLANNED else _BATCH + _RESULT),
    ]
    once: list[tuple[Party, tuple[str, ...]]] = [
        ("analyst", _PLAN + _RESULT) if case in PLANNED else ("shuffler", (NEXT,))
    ]
    return [
        Kill(party, boundary, occurrence)
        for number, parties in ((2, twice), (1, once))
        for party, boundaries in parties
        for boundary in boundaries
        for occurrence in range(1, number + 1)
    ]


def _both() -> list[tuple[Kill, ...]]:
    """Both services, at boundaries that follow each other."""
    return [
        (Kill("shuffler", mine), Kill("analyst", hers))
        for mine, hers in (
            ("before hand-over", "before batch"),
            ("after sending", "after manifest"),
            ("after sending", "after shard"),
            ("before hand-over", "after batch"),
            ("after hand-over", "after batch"),
            ("after hand-over", "opened"),
            ("after forgetting", "before result"),
            ("after forgetting", "after result"),
        )
    ]


def points(case: Case, store: str) -> list[Point]:
    """All points of a collection; on PostgreSQL those of the shuffler alone."""
    kills = [(kill,) for kill in _kills(case)]
    if store == "postgres":
        shufflers = [one for one in kills if one[0].party == "shuffler"]
        return [Point(case, store, one) for one in shufflers]
    return [Point(case, store, one) for one in (*kills, *_both())]


def survive(point: Point, folder: Path, database: str | None = None) -> None:
    """Runs the collection through the crash.

    Args:
        point: Where the crash is.
        folder: For both services' files.
        database: Address of a PostgreSQL server, if that is the point's store.

    Raises:
        AssertionError: If something was lost, counted twice, or published wrongly; or if
            the point was not reached.
    """
    who = task_for(point.case)
    shuffler, analyst = pair(who, folder, database=database, kills=point.kills)
    with shuffler, analyst:
        asyncio.run(_collect(point, shuffler, analyst))
    died = Counter({"shuffler": shuffler.deaths, "analyst": analyst.deaths})
    assert +died == Counter(kill.party for kill in point.kills), "Not reached."
    if database is None:
        _nothing_is_left(folder)


async def _collect(point: Point, shuffler: Running, analyst: Running) -> None:
    who = shuffler.setup.who
    if point.case in PLANNED:
        people = people_of(who, 1)
        plan, result = await planned_epoch(shuffler, analyst, people)
        assert result["people"] == [people.levels.size]
        if point.case == "dummies":
            check_noisy_result(who, people, plan, result)
            return
        assert published_values(result) == estimate_of_items(who, people, plan)
        return
    for epoch in (1, 2):
        people = people_of(who, epoch)
        result = await one_value_epoch(shuffler, analyst, people, epoch)
        assert result["people"] == list(who.task.minimum)
        assert published_values(result) == estimate_of_one_value(who, people, epoch)
        if epoch == 1:
            await operate(shuffler, Action.NEXT, lambda status: status["epoch"] == 2)


def _nothing_is_left(folder: Path) -> None:
    """Neither party keeps a message of what is over."""
    database = sqlite3.connect(folder / "shuffler.db")
    tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    # Tables of a step are dropped with it.
    assert {table for (table,) in tables.fetchall()} == {"meta", "refusals", "task"}
    database.close()
    # Of batches nothing is left but the public lists of their messages' hashes.
    left = (folder / "analyst.db.batches").iterdir()
    assert {path.suffix for path in left} <= {".messages"}


def _outcome(point: Point, database: str | None) -> tuple[str, float]:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            survive(point, Path(folder), database)
        except (Exception, pytest.fail.Exception) as error:
            return (
                f"FAILED: {type(error).__name__}: {error}",
                time.perf_counter() - start,
            )
    return "complete, equal", time.perf_counter() - start


def main() -> None:
    """Prints the table; the exit status is 1 if a point failed."""
    cases: tuple[Case, ...] = ("frequency", "stratified", "items", "dummies")
    wanted, outcomes = sys.argv[1:], Counter[bool]()
    with ExitStack() as stack:
        found = [point for case in cases for point in points(case, "sqlite")]
        missing = postgres_server.missing()
        if missing is None:
            found += [point for case in cases for point in points(case, "postgres")]
            running = stack.enter_context(postgres_server.server())
        else:
            print(f"Points on PostgreSQL are left out: {missing}.")
        chosen = [
            point
            for point in found
            if not wanted or any(text in str(point) for text in wanted)
        ]
        pool = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        results = pool.map(
            lambda point: _outcome(
                point, running.new_database() if point.store == "postgres" else None
            ),
            chosen,
        )
        for point, (said, seconds) in zip(chosen, results, strict=True):
            print(f"{point!s:<82}{said:<18}{seconds:6.1f} s", flush=True)
            outcomes[said.startswith("FAILED")] += 1
    print(f"{outcomes.total()} points, {outcomes[True]} failed")
    sys.exit(1 if outcomes[True] or not outcomes else 0)
