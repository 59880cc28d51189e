"""Services that are killed with SIGKILL: nothing is lost, doubled or published twice.

Some points are always tried, and all of them by `scripts/test --all`; `scripts/faults`
prints what became of them.
"""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import postgres_server
import pytest
from crash_points import Point, points, survive
from live_collection import Case
from random_faults import attempt, drawn, patience

pytest_plugins = ["store_fixtures"]

_ALWAYS = {
    "frequency, sqlite: shuffler after sending 1 + analyst after shard 1",
    "stratified, sqlite: shuffler after hand-over 1 + analyst opened 1",
    "stratified, postgres: shuffler in close 1",
    "dummies, sqlite: shuffler in close 2",
}


def marked(points: list[Point]) -> list[Any]:
    return [
        pytest.param(point, marks=() if str(point) in _ALWAYS else pytest.mark.slow)
        for point in points
    ]


_CASES: tuple[Case, ...] = ("frequency", "stratified", "items", "dummies")
_SQLITE = [point for case in _CASES for point in points(case, "sqlite")]
_POSTGRES = [point for case in _CASES[1:] for point in points(case, "postgres")]


@pytest.mark.slow
@pytest.mark.parametrize("point", marked(_SQLITE), ids=str)
def test_a_collection_survives_the_death_of_a_service(
    point: Point, tmp_path: Path
) -> None:
    survive(point, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("point", marked(_POSTGRES), ids=str)
def test_a_collection_in_postgres_survives_the_death_of_the_shuffler(
    point: Point, tmp_path: Path, postgres: postgres_server.Server
) -> None:
    survive(point, tmp_path, postgres.address)


def test_the_points_that_are_always_tried_are_points() -> None:
    assert {str(point) for point in _SQLITE + _POSTGRES} >= _ALWAYS


@pytest.mark.slow
@pytest.mark.parametrize("trials", [2, 6])
def test_nothing_is_lost_or_doubled_whenever_services_die(
    trials: int, tmp_path: Path, postgres: postgres_server.Server
) -> None:
    kills = 0
    for trial in drawn(trials, ("sqlite", "postgres")):
        folder = tmp_path / str(trial.seed)
        folder.mkdir()
        lent = postgres.lent() if trial.store == "postgres" else nullcontext()

        with lent as database, patience():
            found = attempt(trial, folder, database)

        assert not found.failed, found
        kills += found.deaths("shuffler", "analyst")

    # A collection takes seconds, and somebody is killed every 0.4 s or so.
    assert kills > 0


@pytest.mark.slow
@pytest.mark.parametrize("trials", [2, 6])
def test_nothing_is_lost_or_doubled_whenever_one_of_two_shufflers_dies(
    trials: int, tmp_path: Path, postgres: postgres_server.Server
) -> None:
    kills = 0
    for trial in drawn(trials, ("postgres",), workers=2):
        folder = tmp_path / str(trial.seed)
        folder.mkdir()

        with postgres.lent() as database, patience():
            found = attempt(trial, folder, database)

        assert not found.failed, found
        kills += found.deaths("shuffler")

    assert kills > 0


@pytest.mark.slow
@pytest.mark.parametrize(("store", "workers"), [("sqlite", 1), ("postgres", 2)])
def test_nothing_is_lost_or_doubled_whenever_a_shuffler_stands_still(
    store: str, workers: int, tmp_path: Path, postgres: postgres_server.Server
) -> None:
    disturbed = 0
    for trial in drawn(2, (store,), workers, freezes=True):
        folder = tmp_path / str(trial.seed)
        folder.mkdir()
        lent = postgres.lent() if trial.store == "postgres" else nullcontext()

        with lent as database, patience():
            found = attempt(trial, folder, database)

        assert not found.failed, found
        disturbed += found.frozen + found.deaths("shuffler")

    assert disturbed > 0
