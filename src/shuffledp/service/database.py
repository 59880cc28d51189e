"""Databases that belong to one service at a time, and say what they are.

A service keeps in memory what its database says, so that a second one on the same database
would go on from what is no longer true. And whoever lays tables out in another way cannot
read these: a database names its owner and the version of its tables; others are refused.
"""

import fcntl
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.service.wire.task import Task


class DatabaseTakenError(DataError):
    """Another service has the database."""


@dataclass(frozen=True)
class Layout:
    """What a database is for, and which version of its tables this program reads.

    Attributes:
        owner: "shuffler" or "analyst".
        version: From 2; databases of 0.1.0 name none.
        tables: Which are there from the beginning, as they are created.
    """

    owner: str
    version: int
    tables: tuple[str, ...]

    @property
    def first(self) -> tuple[str, ...]:
        """What makes an empty database one of this layout, in SQL of all kinds."""
        return (
            "CREATE TABLE meta (owner TEXT NOT NULL, version INTEGER NOT NULL)",
            f"INSERT INTO meta VALUES ('{self.owner}', {self.version})",
            *(f"CREATE TABLE {table}" for table in self.tables),
        )

    def check(self, found: tuple[str, int] | None) -> None:
        """Raises DataError unless a database is of this layout.

        Args:
            found: Owner and version that it names; None if it has tables and names none.
        """
        if found == (self.owner, self.version):
            return
        got = (
            "one of 0.1.0" if found is None else "the {}'s of version {}".format(*found)
        )
        raise DataError(
            f"Expected the {self.owner}'s database of version {self.version}, got {got}: "
            "finish its tasks with the release that made it, and begin with a new database."
        )

    @property
    def taken(self) -> "DatabaseTakenError":
        """What is raised if another service has the database."""
        return DatabaseTakenError(
            f"Expected a database that no other service uses: another {self.owner} has it."
        )


class OwnFile:
    """An SQLite database that is this process's until it is closed, or the process ends."""

    def __init__(self, path: Path, layout: Layout, *settings: str) -> None:
        """Opens it, or makes a new one that this user alone can read.

        Args:
            path: Of the database; its lock is in a file of this name and ".lock".
            layout: What it must be.
            settings: Pragmas besides those of every database.

        Raises:
            DataError: If it cannot be opened, is no such database, or is in use.
        """
        self.path = path
        try:
            self._lock = _locked(path, layout)
        except OSError as error:
            raise DataError(f"Could not open the database {path}.") from error
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            # Transactions are begun by hand: the module's own rules would commit early.
            self.connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False
            )
            try:
                self._check(layout)
                # What is deleted is overwritten, and what was written is on the disk.
                for setting in (
                    "journal_mode = WAL",
                    "synchronous = FULL",
                    "secure_delete = ON",
                    *settings,
                ):
                    self.connection.execute(f"PRAGMA {setting}")
            except BaseException:
                self.connection.close()
                raise
        except (OSError, sqlite3.Error) as error:
            os.close(self._lock)
            raise DataError(f"Could not open the database {path}.") from error
        except BaseException:
            os.close(self._lock)
            raise

    def close(self) -> None:
        """Gives it back."""
        self.connection.close()
        os.close(self._lock)

    def _check(self, layout: Layout) -> None:
        tables = self.connection.execute("SELECT name FROM sqlite_master").fetchall()
        if not tables:
            for statement in ("BEGIN", *layout.first, "COMMIT"):
                self.connection.execute(statement)
        elif ("meta",) in tables:
            row = self.connection.execute("SELECT owner, version FROM meta").fetchone()
            layout.check(row)
        else:
            layout.check(None)


def the_kept(digest: bytes, tasks: tuple[Task, ...]) -> Task:
    """Returns the task that a database keeps.

    Args:
        digest: That it names.
        tasks: The one that is hosted, and the one before, if there is one.

    Raises:
        DataError: If it is neither: another task, or an earlier or later one of its line.
    """
    for task in tasks:
        if task.digest == digest:
            return task
    raise DataError(
        f"Expected task {tasks[0].identity} as it was when it began, or a task that "
        f"succeeds the one in the database, {digest.hex()}: replaced keys are not taken "
        "back, and where they were replaced more than once, each task is served in turn."
    )


def _locked(path: Path, layout: Layout) -> int:
    # A file of its own: whoever opens and closes the database itself takes its locks away
    # from this process. The system gives it back when the process ends, however it ends.
    lock = os.open(path.with_name(f"{path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise layout.taken from None
    return lock
