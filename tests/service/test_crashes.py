"""Services that are killed with SIGKILL: nothing is lost, doubled or published twice.

`scripts/faults` takes all points; here is a part of them, each boundary at least once.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="Needs the extra service.")

import postgres_server
from crash_points import Point, points, survive

_PART = [
    *points("frequency", "sqlite")[::3],
    *points("stratified", "sqlite")[1::6],
    *points("items", "sqlite")[15:33:6],
]


@pytest.fixture(scope="module")
def postgres() -> Iterator[postgres_server.Server]:
    missing = postgres_server.missing()
    if missing is not None:
        pytest.skip(missing)
    with postgres_server.server() as running:
        yield running


@pytest.mark.parametrize("point", _PART, ids=str)
def test_a_collection_survives_the_death_of_a_service(
    point: Point, tmp_path: Path
) -> None:
    survive(point, tmp_path)


@pytest.mark.parametrize("point", points("stratified", "postgres")[1::7], ids=str)
def test_a_collection_in_postgres_survives_the_death_of_the_shuffler(
    point: Point, tmp_path: Path, postgres: postgres_server.Server
) -> None:
    survive(point, tmp_path, postgres.address)
