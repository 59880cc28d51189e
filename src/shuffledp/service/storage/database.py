"""Databases that belong to one service at a time, and say what they are.

A service keeps in memory what its database says, so that a second one on the same database
would go on from what is no longer true. And whoever lays tables out in another way cannot
read these: a database names its owner and the version of its tables; others are refused.
"""

import errno
import fcntl
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.service.wire.task import Task


class DatabaseTakenError(DataError):
    """Another service has the database."""


LEAST_FREE = 2**20
"""Bytes that a disk must have free for a service to be ready: some reports more."""


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
            path: Of the database; beside it there will be a file of this name and
                ".lock".
            layout: What it must be.
            settings: Pragmas besides those of every database.

        Raises:
            DataError: If it cannot be opened, is no such database, or is in use.
        """
        self.path = path
        try:
            self._locks = _locked(path, layout)
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
            self._locks.close()
            raise DataError(f"Could not open the database {path}.") from error
        except BaseException:
            self._locks.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Gives the database in a transaction, which is undone if anything is raised."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException:
            # A full disk may have ended the transaction already; one that stayed open
            # would show as kept what is not on the disk.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Gives it back."""
        self.connection.close()
        self._locks.close()

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
    """Writes a page within the caller's transaction, which changes no row.

    Args:
        database: In a transaction.
        path: Of the database.

    Raises:
        OSError: If the disk is all but full.
        sqlite3.Error: If nothing can be written.
    """
    disk = os.statvfs(path.parent)
    if disk.f_bavail * disk.f_frsize < LEAST_FREE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    # A row that stays as it is would not be written. Nothing else uses this number.
    [(number,)] = database.execute("PRAGMA user_version").fetchall()
    database.execute(f"PRAGMA user_version = {1 - number % 2}")


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


def _locked(path: Path, layout: Layout) -> ExitStack:
    """Locks a database until the result is closed, or the process ends in any way."""
    # Within a process, whoever closes a file takes SQLite's own locks of it away: so the
    # first lock is that of another file. Somebody may remove that one, though, and the
    # next process would find a new one: so the second is that of the database itself.
    # Elsewhere than on Linux it would keep SQLite out as well.
    paths = [path.with_name(f"{path.name}.lock")]
    if sys.platform == "linux":
        paths.append(path)
    with ExitStack() as locks:
        for each in paths:
            file = os.open(each, os.O_CREAT | os.O_RDWR, 0o600)
            locks.callback(os.close, file)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise layout.taken from None
        return locks.pop_all()
