"""A database that cannot be opened leaves no file behind that was not there before."""

import fcntl
import sqlite3
from pathlib import Path

import pytest
from analyst_parties import parties

from shuffledp.errors import DataError
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.device.device_state import DeviceState
from shuffledp_services.storage.database import ExclusiveDatabase, Layout
from shuffledp_services.storage.database_locks import DatabaseLocks, DatabaseTakenError

LAYOUT = Layout("analyst", 2, ("numbers (value INTEGER)",))


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", ["folder", "text", "other layout"])
def test_what_is_no_database_gets_no_lock_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("no database")
    else:
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE other (value INTEGER)")

    with pytest.raises(DataError):
        ExclusiveDatabase(path, LAYOUT)

    assert files(tmp_path) == ["one.db"]


def test_a_new_database_that_cannot_be_filled_is_removed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Could not open the database"):
        ExclusiveDatabase(tmp_path / "one.db", Layout("analyst", 2, ("numbers (",)))

    assert files(tmp_path) == []


def test_a_new_database_without_a_folder_for_batches_is_removed(
    tmp_path: Path,
) -> None:
    (tmp_path / "one.db.batches").write_text("not a folder")
    store = SqliteAnalystStore(tmp_path / "one.db")

    with pytest.raises(DataError, match="Could not open the database"):
        store.open([parties().task])

    assert files(tmp_path) == ["one.db.batches"]


def test_a_new_state_of_a_device_without_a_secret_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_random_bytes(size: int) -> bytes:
        raise NotImplementedError

    monkeypatch.setattr("os.urandom", no_random_bytes)

    with pytest.raises(NotImplementedError):
        DeviceState(tmp_path / "state")

    assert files(tmp_path) == []


def test_a_database_that_was_there_stays_with_its_lock_file(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    ExclusiveDatabase(path, LAYOUT).close()
    before = path.read_bytes()

    with pytest.raises(DataError, match="got the analyst's of version 2"):
        ExclusiveDatabase(path, Layout("shuffler", 2, ()))

    assert files(tmp_path) == ["one.db", "one.db.lock"]
    assert path.read_bytes() == before


def test_a_lock_that_another_process_holds_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    first = ExclusiveDatabase(path, LAYOUT)

    with pytest.raises(DatabaseTakenError):
        ExclusiveDatabase(path, LAYOUT)

    assert {"one.db", "one.db.lock"} <= set(files(tmp_path))
    first.close()


def test_a_lock_file_that_is_removed_before_it_is_locked_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, flock = tmp_path / "one.db", fcntl.flock

    def removed(file: int, operation: int) -> None:
        # As another process does that could not open the database.
        (tmp_path / "one.db.lock").unlink()
        flock(file, operation)

    monkeypatch.setattr("fcntl.flock", removed)

    with pytest.raises(DatabaseTakenError):
        DatabaseLocks(path)

    assert files(tmp_path) == []
