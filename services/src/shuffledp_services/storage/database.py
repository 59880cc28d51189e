"""Databases that one service uses at a time, marked with their owner and layout version.

A service caches its database in memory, so a second one on the same database would work
with stale data. A program with another layout cannot read the tables: a database names its
owner and the version of its layout, and all others are refused.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp_services.storage.database_locks import DatabaseLocks
from shuffledp_services.wire.task import Task

LEAST_FREE = 2**20
"""Free disk space that readiness requires, in bytes: room for some more reports."""


@dataclass(frozen=True)
class Layout:
    """Owner of a database, and the version of its tables that this program reads.

    Attributes:
        owner: "shuffler", "analyst" or "device".
        version: From 2; databases of 0.1.0 name none.
        tables: Initial tables, as in CREATE TABLE.
    """

    owner: str
    version: int
    tables: tuple[str, ...]

    @property
    def first(self) -> tuple[str, ...]:
        """Statements that initialize an empty database, in SQL of all dialects."""
        return (
            "CREATE TABLE meta (owner TEXT NOT NULL, version INTEGER NOT NULL)",
            f"INSERT INTO meta VALUES ('{self.owner}', {self.version})",
            *(f"CREATE TABLE {table}" for table in self.tables),
        )

    def check(self, stated: tuple[str, int] | None) -> None:
        """Raises DataError unless a database has this layout.

        Args:
            stated: Owner and version that it names; None if it has tables and names none.
        """
        if stated == (self.owner, self.version):
            return
        description = (
            "one of 0.1.0"
            if stated is None
            else "the {}'s of version {}".format(*stated)
        )
        raise DataError(
            f"Expected the {self.owner}'s database of version {self.version}, got "
            f"{description}: finish its tasks with the release that made it, and begin "
            "with a new database."
        )


class ExclusiveDatabase:
    """SQLite database locked by this process until it is closed, or the process ends."""

    def __init__(self, path: Path, layout: Layout, *settings: str) -> None:
        """Opens the database, or creates one that only this user can read.

        Args:
            path: File of the database; a lock file with the suffix ".lock" is beside it.
            layout: Layout that the database must have.
            settings: Pragmas in addition to those of every database.

        Raises:
            DataError: If it cannot be opened, has another layout, or is in use.
        """
        self.path = path
        try:
            self._locks = DatabaseLocks(path)
        except OSError as error:
            raise DataError(f"Could not open the database {path}.") from error
        try:
            # Transactions are begun explicitly: sqlite3's own rules would commit early.
            self.connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            self._locks.release_and_remove()
            raise DataError(f"Could not open the database {path}.") from error
        try:
            self._check(layout)
            # Deleted data is overwritten, and committed data is synced to the disk.
            for setting in (
                "journal_mode = WAL",
                "synchronous = FULL",
                "secure_delete = ON",
                *settings,
            ):
                self.connection.execute(f"PRAGMA {setting}")
        except sqlite3.Error as error:
            self.abandon()
            raise DataError(f"Could not open the database {path}.") from error
        except BaseException:
            self.abandon()
            raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yields the connection in a transaction, rolled back on any exception."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException:
            # A full disk may have ended the transaction already; one that stayed open
            # would let reads see data that is not on the disk.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Closes the database, and releases its locks."""
        self.connection.close()
        self._locks.release()

    def abandon(self) -> None:
        """Closes the database, and removes it if this object created it.

        For one that was opened, and cannot be used.
        """
        self.connection.close()
        self._locks.release_and_remove()

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


def write_probe(database: sqlite3.Connection, path: Path) -> None:
    """Writes a page in the caller's transaction without changing a row.

    Args:
        database: Connection in a transaction.
        path: File of the database.

    Raises:
        OSError: If less than `LEAST_FREE` bytes are free on the disk.
        sqlite3.Error: If nothing can be written.
    """
    disk = os.statvfs(path.parent)
    if disk.f_bavail * disk.f_frsize < LEAST_FREE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    # SQLite does not write a row that stays the same. Nothing else uses this pragma.
    [(number,)] = database.execute("PRAGMA user_version").fetchall()
    database.execute(f"PRAGMA user_version = {1 - number % 2}")


def stored_task(digest: bytes, tasks: tuple[Task, ...]) -> Task:
    """Returns the task that a database stores.

    Args:
        digest: Digest that the database names.
        tasks: The hosted task, and its predecessor if it has one.

    Raises:
        DataError: If it is neither of them: an unrelated task, or an earlier or later one
            in the succession.
    """
    for task in tasks:
        if task.digest == digest:
            return task
    raise DataError(
        f"Expected task {tasks[0].identity} as it was when it began, or a task that "
        f"succeeds the one in the database, {digest.hex()}: replaced keys are not taken "
        "back, and where they were replaced more than once, each task is served in turn."
    )
