"""Stores of the shuffler as fixtures: `pytest_plugins = ["store_fixtures"]`.

PYTEST_DONT_REWRITE: several modules name it, and nothing is asserted here.
"""

from collections.abc import Iterator
from pathlib import Path

import postgres_server
import pytest
from shuffler_parties import StoreMaker

from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.shuffler.sqlite_store import SqliteStore


@pytest.fixture(scope="module")
def postgres() -> Iterator[postgres_server.Server]:
    """A server of its own for each module."""
    missing = postgres_server.missing()
    if missing is not None:
        pytest.skip(missing)
    with postgres_server.server() as running:
        yield running


@pytest.fixture
def sqlite_store(tmp_path: Path) -> SqliteStore:
    """A new file."""
    return SqliteStore(tmp_path / "shuffler.db")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> StoreMaker:
    """Opens the same database again and again."""
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / "shuffler.db")
    running = request.getfixturevalue("postgres")
    return lambda: PostgresStore(running.address)
