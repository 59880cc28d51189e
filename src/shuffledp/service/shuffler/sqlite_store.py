"""The shuffler's store in one SQLite file: for one machine, without a database server.

A transaction is on the disk before it is reported (WAL, synchronous FULL). Freed pages are
overwritten with zeros (secure_delete), and the log is emptied after each close and delivery
and at each start (next time, if the disk is too full), so that neither file holds what was
forgotten. The file system may: it frees the blocks of the log without overwriting them, and
snapshots and backups keep them. Put the file on an encrypted disk, without snapshots.
"""

import asyncio
import json
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.database import OwnFile
from shuffledp.service.shuffler.record import (
    Attempts,
    Record,
    added,
    first_row,
    goes_on,
    nobody,
    read_row,
    write_attempts,
    write_state,
)
from shuffledp.service.shuffler.sqlite_tables import (
    drop_tables,
    keep_arrivals,
    known_marks,
    make_batch,
    make_tables,
)
from shuffledp.service.shuffler.store import (
    LAYOUT,
    Keep,
    Seal,
    full,
    moved,
    table_name,
)
from shuffledp.service.wire.task import Task

Result = TypeVar("Result")

# Pages of 4 KiB: a mark goes to a random page, which should be in memory, and should be
# copied from the log to its place once for many marks.
_CACHE = 16_384
_LOG = 16_384


class SqliteStore:
    """A `ShufflerStore` in a file; everything happens in one thread of its own."""

    alone = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handing_over: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._thread: ThreadPoolExecutor | None = None
        self._file: OwnFile | None = None

    async def open(self, tasks: Sequence[Task]) -> None:
        """As `ShufflerStore`."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        try:
            await self._run(self._open)
        except BaseException:
            self._thread.shutdown()
            self._thread = None
            raise

    async def close(self) -> None:
        """As `ShufflerStore`."""
        if self._thread is not None:
            await self._run(self._close)
            self._thread.shutdown()
        self._thread = None

    async def check(self) -> None:
        """As `ShufflerStore`."""
        await self._run(self._check)

    async def begin(self, state: ShufflerState, former: Task | None = None) -> Record:
        """As `ShufflerStore`."""
        tasks = (state.task,) if former is None else (state.task, former)
        return await self._run(lambda: self._begin(state, tasks))

    async def add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: Keep
    ) -> tuple[int, ...]:
        """As `ShufflerStore`."""
        return await self._run(lambda: self._add(state, marks, keep))

    async def fix(self, state: ShufflerState, seal: Seal) -> ShufflerState:
        """As `ShufflerStore`."""
        return await self._run(lambda: self._fix(state, seal))

    async def batch(self, state: ShufflerState, place: int) -> AsyncIterator[bytes]:
        """As `ShufflerStore`."""
        select = (
            f"SELECT content FROM batch_{table_name(state.task)}"
            " WHERE shard = ? AND piece = ?"
        )
        piece = 0
        while row := await self._run(partial(self._row, select, place, piece)):
            yield row[0]
            piece += 1

    async def move(
        self, before: ShufflerState, after: ShufflerState, people: tuple[int, ...]
    ) -> None:
        """As `ShufflerStore`."""
        await self._run(lambda: self._move(before, after, people))

    async def count_refused(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """As `ShufflerStore`."""
        return await self._run(lambda: self._count_refused(task, more))

    async def show(self, state: ShufflerState, shown: tuple[int, ...]) -> None:
        """As `ShufflerStore`."""
        await self._run(lambda: self._keep(state, shown=json.dumps(shown)))

    async def note(self, state: ShufflerState, attempts: Attempts) -> None:
        """As `ShufflerStore`."""
        await self._run(lambda: self._keep(state, attempts=write_attempts(attempts)))

    async def challenge(self, task: Task, named: bytes, following: bytes) -> bool:
        """As `ShufflerStore`."""
        return await self._run(lambda: self._challenge(task, named, following))

    def handing_over(self, task: Task) -> AbstractAsyncContextManager[None]:
        """As `ShufflerStore`."""
        return self._handing_over[table_name(task)]

    async def tends(self) -> bool:
        """As `ShufflerStore`: there is no other process."""
        return True

    async def _run(self, function: Callable[[], Result]) -> Result:
        if self._thread is None:
            raise DataError("Expected an open store.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def _open(self) -> None:
        self._file = OwnFile(
            self._path,
            LAYOUT,
            f"cache_size = {_CACHE}",
            f"wal_autocheckpoint = {_LOG}",
        )
        self._empty_log()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self, state: ShufflerState, tasks: tuple[Task, ...]) -> Record:
        name = table_name(state.task)
        with self._transaction() as database:
            select = "SELECT * FROM task WHERE name = ?"
            _, *row = database.execute(select, (name,)).fetchone() or ("",)
            if not row:
                row = list(first_row(state))
                insert = "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?)"
                database.execute(insert, (name, *row))
                make_tables(database, state)
            refused = self._refused(name)
        return read_row(row, tasks, refused)

    def _add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: Keep
    ) -> tuple[int, ...]:
        with self._transaction() as database:
            people = self._people(state)
            arrivals = keep(known_marks(database, state.task, marks))
            if not len(arrivals.marks):
                return people
            keep_arrivals(database, state.task, arrivals)
            people = tuple(a + b for a, b in zip(people, arrivals.people, strict=True))
            self._write(state, people)
        return people

    def _fix(self, state: ShufflerState, seal: Seal) -> ShufflerState:
        with self._transaction() as database:
            people = self._people(state)
            after = make_batch(database, state, people, seal)
            self._write(after, people)
        self._empty_log()
        return after

    def _move(
        self, before: ShufflerState, after: ShufflerState, people: tuple[int, ...]
    ) -> None:
        with self._transaction() as database:
            known = self._people(before)
            if goes_on(before, after):
                people = known
            else:
                drop_tables(database, before.task)
                make_tables(database, after)
                database.execute(
                    "UPDATE task SET shown = ? WHERE name = ?",
                    (json.dumps(nobody(after)), table_name(after.task)),
                )
            self._write(after, people)
        self._empty_log()

    def _count_refused(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        name = table_name(task)
        with self._transaction() as database:
            known = added([*self._refused(name), json.dumps(more)])
            database.execute(
                "INSERT OR REPLACE INTO refusals VALUES (?, 0, ?)",
                (name, json.dumps(known)),
            )
        return known

    def _refused(self, name: str) -> list[str]:
        select = "SELECT refused FROM refusals WHERE name = ?"
        return [text for (text,) in self._connection.execute(select, (name,))]

    def _keep(self, state: ShufflerState, **columns: str) -> None:
        with self._transaction() as database:
            self._people(state)
            for column, text in columns.items():
                database.execute(
                    f"UPDATE task SET {column} = ? WHERE name = ?",
                    (text, table_name(state.task)),
                )

    def _challenge(self, task: Task, named: bytes, following: bytes) -> bool:
        with self._transaction() as database:
            change = "UPDATE task SET challenge = ? WHERE name = ? AND challenge = ?"
            values = (following.hex(), table_name(task), named.hex())
            return database.execute(change, values).rowcount == 1

    def _check(self) -> None:
        with self._transaction():
            pass

    def _people(self, state: ShufflerState) -> tuple[int, ...]:
        row = self._row(
            "SELECT people FROM task WHERE name = ? AND state = ?",
            table_name(state.task),
            write_state(state),
        )
        if row is None:
            raise moved()
        return tuple(json.loads(row[0]))

    def _write(self, state: ShufflerState, people: tuple[int, ...]) -> None:
        self._connection.execute(
            "UPDATE task SET state = ?, people = ?, attempts = ? WHERE name = ?",
            (
                write_state(state),
                json.dumps(people),
                write_attempts(Attempts()),
                table_name(state.task),
            ),
        )

    def _row(self, select: str, *values: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._connection.execute(
            select, values
        ).fetchone()
        return row

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._file is None:
            raise DataError("Expected an open store.")
        return self._file.connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        database = self._connection
        try:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
        except BaseException as error:
            # A full disk may have ended the transaction already.
            if database.in_transaction:
                database.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError | OSError):
                raise full() from error
            raise

    def _empty_log(self) -> None:
        # The change is durable already: a disk too full to move the log must not fail it.
        with suppress(sqlite3.OperationalError):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
