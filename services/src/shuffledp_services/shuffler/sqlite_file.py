"""File of the shuffler's SQLite store, and the one thread that uses it.

A transaction is on the disk before it is reported (WAL, synchronous FULL). Freed pages are
overwritten with zeros (secure_delete), and the log is emptied after each close and delivery
and at each start (next time, if the disk is too full), so that neither file keeps deleted
data. The file system may keep them: it frees the blocks of the log without overwriting
them, and snapshots and backups copy them. Put the file on an encrypted disk, without
snapshots.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from shuffledp.errors import DataError
from shuffledp_services.shuffler.store import LAYOUT, storage_refusal
from shuffledp_services.storage.database import ExclusiveDatabase, write_probe

Result = TypeVar("Result")

# In pages of 4 KiB. A keyed digest goes to a random page, which should be in memory, and
# should be copied from the log to the file once for many digests.
_CACHE = 16_384
_LOG = 16_384


class SqliteFile:
    """Database in one file, used by a single thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread: ThreadPoolExecutor | None = None
        self._file: ExclusiveDatabase | None = None

    async def open(self) -> None:
        """Opens or creates the file, and empties its log.

        Raises:
            DataError: If it cannot be opened, is not a shuffler's, or is in use.
        """
        # SQLite connections stay in the thread that opened them.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        try:
            await self.run(self._open)
        except BaseException:
            self._thread.shutdown()
            self._thread = None
            raise

    async def close(self) -> None:
        """Closes the file, if it is open, and ends the thread."""
        if self._thread is not None:
            await self.run(self._close)
            self._thread.shutdown()
        self._thread = None

    async def check(self) -> None:
        """Raises Refusal unless the file can be written."""
        await self.run(self._check)

    async def run(self, function: Callable[[], Result]) -> Result:
        """Calls a function in the thread, and returns its result.

        Raises:
            DataError: If the file is not open.
        """
        if self._thread is None:
            raise DataError("Expected an open store.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    @property
    def connection(self) -> sqlite3.Connection:
        """The open database, for functions that run in the thread."""
        return self._open_file.connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yields the database in a transaction, for functions that run in the thread.

        Raises:
            Refusal: If the disk is full, or does not work.
        """
        try:
            with self._open_file.transaction() as database:
                yield database
        except (sqlite3.OperationalError, OSError) as error:
            raise storage_refusal() from error

    def empty_log(self) -> None:
        """Moves the log into the file; for functions that run in the thread."""
        # The change is durable already: a disk too full to move the log must not fail it.
        with suppress(sqlite3.OperationalError):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @property
    def _open_file(self) -> ExclusiveDatabase:
        if self._file is None:
            raise DataError("Expected an open store.")
        return self._file

    def _open(self) -> None:
        self._file = ExclusiveDatabase(
            self._path,
            LAYOUT,
            f"cache_size = {_CACHE}",
            f"wal_autocheckpoint = {_LOG}",
        )
        self.empty_log()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _check(self) -> None:
        with self.transaction() as database:
            write_probe(database, self._path)
