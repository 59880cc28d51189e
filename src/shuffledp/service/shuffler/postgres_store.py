"""The shuffler's store in PostgreSQL: for large collections, or where a server runs anyway.

The tables of a step are dropped with it: rows that are deleted would stay in their pages
until they are vacuumed, and longer. No statistics are gathered of them, which would copy
their values into the catalog. The write-ahead log keeps every arrival, in its order and
with the time of its transaction, until its segments are recycled and overwritten; archives,
replicas and backups keep it for good. So: no archive, no logical replication, encrypted
disks, and `log_statement` off.

One connection does everything, and holds a lock for as long as it lives: whatever it writes
it writes as the only shuffler of the database. A lost one is replaced, and its lock taken
again, when the next is needed. Until then uploads are refused as STORAGE; one whose commit
was under way may be on the disk nevertheless, and its tokens are then refused as spent when
it is sent again.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp.extras import require
from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.database import DatabaseTakenError
from shuffledp.service.shuffler.marks import MARK_SIZE
from shuffledp.service.shuffler.store import (
    CHUNK,
    LAYOUT,
    STEP_TABLES,
    Keep,
    Record,
    Seal,
    full,
    goes_on,
    moved,
    nobody,
    read_state,
    table_name,
    write_state,
)
from shuffledp.service.wire.task import Task

require("asyncpg", extra="service", what="A store in PostgreSQL")

import asyncpg  # type: ignore[import-untyped]  # noqa: E402

_SECONDS = 60.0
# What is left of a connection that was lost holds its lock a little longer.
_LOCK_SECONDS = 5.0
# "shuffled", as a number that nobody else locks.
_LOCK = 0x73687566666C6564
_SETTINGS = {
    # Whatever the server's default is: a receipt is for what is on the disk.
    "synchronous_commit": "on",
    # A server that does not hear from us any more gives the lock back.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    # Tables without statistics are read through their index, however large they seem.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
_MARK = f"substr($1::bytea, place * {MARK_SIZE} + 1, {MARK_SIZE})"
_SEALED = "bytea NOT NULL"
_UNTOUCHED = "autovacuum_enabled = false, toast.autovacuum_enabled = false"

_log = logging.getLogger("shuffledp.service")

# TimeoutError is an OSError.
_LOST = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)


class PostgresStore:
    """A `ShufflerStore` in a database of its own, named by a postgresql:// address."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: Any = None
        self._open = False
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        """As `ShufflerStore`."""
        try:
            async with asyncio.timeout(_SECONDS):
                self._connection = await self._connected()
                async with self._connection.transaction():
                    await _check_layout(self._connection)
        except _LOST as error:
            await self.close()
            # The address may hold a password: neither it nor the error's text is shown.
            kind = type(error).__name__
            raise DataError(
                f"Could not open the PostgreSQL database: {kind}."
            ) from None
        except BaseException:
            await self.close()
            raise
        self._open = True

    async def close(self) -> None:
        """As `ShufflerStore`."""
        self._open = False
        if self._connection is not None:
            with suppress(*_LOST):
                await self._connection.close(timeout=_LOCK_SECONDS)
        self._connection = None

    async def check(self) -> None:
        """As `ShufflerStore`."""
        async with self._transaction() as connection:
            await connection.execute("SELECT 1")

    async def begin(self, state: ShufflerState, former: Task | None = None) -> Record:
        """As `ShufflerStore`."""
        tasks = (state.task,) if former is None else (state.task, former)
        name = table_name(state.task)
        async with self._transaction() as connection:
            select = "SELECT state, people, refused FROM task WHERE name = $1"
            row = await connection.fetchrow(select, name)
            if row is None:
                row = (write_state(state), json.dumps(nobody(state)), "{}")
                insert = "INSERT INTO task VALUES ($1, $2, $3, $4)"
                await connection.execute(insert, name, *row)
                await _make_tables(connection, state)
        kept, people, refused = row
        return Record(
            read_state(kept, *tasks), tuple(json.loads(people)), json.loads(refused)
        )

    async def add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: Keep
    ) -> tuple[int, ...]:
        """As `ShufflerStore`."""
        name = table_name(state.task)
        async with self._transaction() as connection:
            people = await _people(connection, state)
            # One value to and fro, not thousands.
            found = await connection.fetchval(
                f"""
                SELECT array_agg(place) FROM generate_series(0, $2::integer - 1) AS place
                WHERE EXISTS (SELECT 1 FROM marks_{name} WHERE mark = {_MARK})
                """,
                marks.tobytes(),
                len(marks),
            )
            known = np.zeros(len(marks), dtype=np.bool_)
            known[found or []] = True
            arrivals = await asyncio.to_thread(keep, known)
            if not len(arrivals.marks):
                return people
            await connection.execute(
                f"""
                INSERT INTO marks_{name}
                SELECT {_MARK} FROM generate_series(0, $2::integer - 1) AS place
                """,
                arrivals.marks.tobytes(),
                len(arrivals.marks),
            )
            await connection.copy_records_to_table(
                f"messages_{name}",
                records=[(pile, c) for pile, c in enumerate(arrivals.piles) if c],
            )
            people = tuple(a + b for a, b in zip(people, arrivals.people, strict=True))
            await _write(connection, state, people)
        return people

    async def fix(self, state: ShufflerState, seal: Seal) -> ShufflerState:
        """As `ShufflerStore`."""
        name = table_name(state.task)
        async with self._transaction() as connection:
            people = await _people(connection, state)
            piles = [bytearray() for _ in range(state.step.groups)]
            rows = connection.cursor(f"SELECT * FROM messages_{name}", prefetch=8)
            async for pile, content in rows:
                piles[pile] += content
            after, batch = await asyncio.to_thread(seal, people, piles)
            await connection.execute(f"DROP TABLE messages_{name}, marks_{name}")
            await _make_table(
                connection,
                f"batch_{name}",
                place="integer PRIMARY KEY",
                content=_SEALED,
            )
            await connection.copy_records_to_table(
                f"batch_{name}", records=_pieces(batch)
            )
            await _write(connection, after, people)
        return after

    async def batch(self, state: ShufflerState) -> AsyncIterator[bytes]:
        """As `ShufflerStore`."""
        select = f"SELECT content FROM batch_{table_name(state.task)} WHERE place = $1"
        place = 0
        while True:
            async with self._transaction() as connection:
                content = await connection.fetchval(select, place)
            if content is None:
                return
            yield content
            place += 1

    async def move(
        self, before: ShufflerState, after: ShufflerState, people: tuple[int, ...]
    ) -> None:
        """As `ShufflerStore`."""
        async with self._transaction() as connection:
            await _people(connection, before)
            if not goes_on(before, after):
                for table in STEP_TABLES:
                    name = f"{table}_{table_name(before.task)}"
                    await connection.execute(f"DROP TABLE IF EXISTS {name}")
                await _make_tables(connection, after)
            await _write(connection, after, people)

    async def count_refused(self, task: Task, refused: dict[str, int]) -> None:
        """As `ShufflerStore`."""
        async with self._transaction() as connection:
            await connection.execute(
                "UPDATE task SET refused = $1 WHERE name = $2",
                json.dumps(refused),
                table_name(task),
            )

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Any]:
        if not self._open:
            raise DataError("Expected an open store.")
        async with self._turn:
            with _guarded():
                if self._connection is None or self._connection.is_closed():
                    self._connection = await self._connected()
                try:
                    async with self._connection.transaction():
                        yield self._connection
                except (asyncpg.InterfaceError, OSError):
                    # Nobody knows what it is doing now.
                    self._connection.terminate()
                    raise

    async def _connected(self) -> Any:
        """Returns a new connection, which has the lock of the database.

        Raises:
            DataError: If another shuffler has it.
        """
        connection = await asyncpg.connect(
            self._address, command_timeout=_SECONDS, server_settings=_SETTINGS
        )
        try:
            async with connection.transaction():
                wait = int(1000 * _LOCK_SECONDS)
                await connection.execute(f"SET LOCAL lock_timeout = {wait}")
                await connection.execute(f"SELECT pg_advisory_lock({_LOCK})")
        except BaseException as error:
            connection.terminate()
            if isinstance(error, asyncpg.LockNotAvailableError):
                raise LAYOUT.taken from None
            raise
        return connection


@contextmanager
def _guarded() -> Iterator[None]:
    try:
        yield
    except DatabaseTakenError as error:
        _log.error("%s", error)
        raise full() from None
    except _LOST:
        # Its text may quote a value, so it is not passed on.
        raise full() from None


async def _check_layout(connection: Any) -> None:
    known = await connection.fetchval("SELECT to_regclass('meta') IS NOT NULL")
    if known:
        row = await connection.fetchrow("SELECT owner, version FROM meta")
        LAYOUT.check(tuple(row or ("nobody", 0)))
    elif await connection.fetchval("SELECT to_regclass('task') IS NOT NULL"):
        LAYOUT.check(None)
    else:
        for statement in LAYOUT.first:
            await connection.execute(statement)


async def _make_tables(connection: Any, state: ShufflerState) -> None:
    """Makes the tables of a step, if one begins."""
    if state.phase is ShufflerPhase.OPEN:
        name = table_name(state.task)
        await _make_table(connection, f"marks_{name}", mark="bytea PRIMARY KEY")
        await _make_table(
            connection, f"messages_{name}", pile="integer NOT NULL", content=_SEALED
        )


async def _make_table(connection: Any, name: str, **columns: str) -> None:
    """Makes a table whose values go nowhere else."""
    listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    await connection.execute(f"CREATE TABLE {name} ({listed}) WITH ({_UNTOUCHED})")
    # Nothing is gathered even if somebody asks for statistics by hand, and nobody tries to
    # compress what cannot be compressed.
    changes = [f"ALTER {column} SET STATISTICS 0" for column in columns]
    changes += [
        f"ALTER {column} SET STORAGE EXTERNAL"
        for column, kind in columns.items()
        if kind is _SEALED
    ]
    await connection.execute(f"ALTER TABLE {name} {', '.join(changes)}")


async def _people(connection: Any, state: ShufflerState) -> tuple[int, ...]:
    people = await connection.fetchval(
        "SELECT people FROM task WHERE name = $1 AND state = $2 FOR UPDATE",
        table_name(state.task),
        write_state(state),
    )
    if people is None:
        raise moved()
    return tuple(json.loads(people))


async def _write(
    connection: Any, state: ShufflerState, people: tuple[int, ...]
) -> None:
    await connection.execute(
        "UPDATE task SET state = $1, people = $2 WHERE name = $3",
        write_state(state),
        json.dumps(people),
        table_name(state.task),
    )


def _pieces(batch: bytes) -> Iterator[tuple[int, memoryview]]:
    view = memoryview(batch)
    for place, start in enumerate(range(0, len(view), CHUNK)):
        yield place, view[start : start + CHUNK]
