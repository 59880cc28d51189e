"""The shuffler's store in PostgreSQL: for large collections, or where a server runs anyway.

Each task has tables of its own, emptied by TRUNCATE, which gives their files back at once;
deleted rows would stay in their pages until they are vacuumed, and longer. The write-ahead
log keeps every arrival, in its order and with the time of its transaction, until its
segments are recycled and overwritten; archives, replicas and backups keep it for good. So:
no archive, no logical replication, encrypted disks, and `log_statement` off.

A lost connection is replaced when the next one is needed. Until the server answers, uploads
are refused as STORAGE; one whose commit was under way may be on the disk nevertheless, and
its tokens are then refused as spent when it is sent again.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp.extras import require
from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.shuffler.store import (
    CHUNK,
    Keep,
    Record,
    Seal,
    full,
    moved,
    nobody,
    read_state,
    write_state,
)
from shuffledp.service.wire.task import Task
from shuffledp.service.wire.tokens import NONCE_SIZE

require("asyncpg", extra="service", what="A store in PostgreSQL")

import asyncpg  # type: ignore[import-untyped]  # noqa: E402

_CONNECTIONS = 4
_SECONDS = 60.0

# TimeoutError is an OSError.
_LOST = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError)


class PostgresStore:
    """A `ShufflerStore` in a database of its own, named by a postgresql:// address."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._pool: Any = None

    async def open(self) -> None:
        """As `ShufflerStore`."""
        try:
            self._pool = await asyncpg.create_pool(
                self._address,
                min_size=1,
                max_size=_CONNECTIONS,
                command_timeout=_SECONDS,
                # Whatever the server's default is: a receipt is for what is on the disk.
                server_settings={"synchronous_commit": "on"},
            )
            async with self._pool.acquire() as connection:
                await connection.execute(
                    "CREATE TABLE IF NOT EXISTS task (name text PRIMARY KEY,"
                    " state text NOT NULL, people text NOT NULL, refused text NOT NULL)"
                )
        except _LOST as error:
            # The address may hold a password: neither it nor the error's text is shown.
            kind = type(error).__name__
            raise DataError(
                f"Could not open the PostgreSQL database: {kind}."
            ) from None

    async def close(self) -> None:
        """As `ShufflerStore`."""
        if self._pool is not None:
            await self._pool.close()
        self._pool = None

    async def begin(self, state: ShufflerState) -> Record:
        """As `ShufflerStore`."""
        name = _name(state.task)
        async with self._transaction() as connection:
            for table in (
                f"spent_{name} (nonce bytea PRIMARY KEY)",
                f"messages_{name} (pile integer NOT NULL, content bytea NOT NULL)",
                f"batch_{name} (place integer PRIMARY KEY, content bytea NOT NULL)",
            ):
                await connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")
            for table in (f"messages_{name}", f"batch_{name}"):
                # Sealed messages cannot be compressed: do not try.
                await connection.execute(
                    f"ALTER TABLE {table} ALTER COLUMN content SET STORAGE EXTERNAL"
                )
            await connection.execute(
                "INSERT INTO task VALUES ($1, $2, $3, '{}') ON CONFLICT DO NOTHING",
                name,
                write_state(state),
                json.dumps(nobody(state)),
            )
            row = await connection.fetchrow("SELECT * FROM task WHERE name = $1", name)
        people = tuple(json.loads(row["people"]))
        refused = json.loads(row["refused"])
        return Record(read_state(row["state"], state.task), people, refused)

    async def add(
        self, state: ShufflerState, nonces: NDArray[np.uint8], keep: Keep
    ) -> tuple[NDArray[np.bool_], tuple[int, ...]]:
        """As `ShufflerStore`."""
        name = _name(state.task)
        async with self._transaction() as connection:
            people = await _people(connection, state)
            # One value to and fro, not thousands; the fresh nonces only if some are not.
            number, some = await connection.fetchrow(
                f"""
                WITH fresh AS (
                    INSERT INTO spent_{name}
                    SELECT substr($1::bytea, place * {NONCE_SIZE} + 1, {NONCE_SIZE})
                    FROM generate_series(0, $2::integer - 1) AS place
                    ON CONFLICT DO NOTHING RETURNING nonce
                )
                SELECT count(*),
                    CASE WHEN count(*) < $2 THEN string_agg(nonce, ''::bytea) END
                FROM fresh
                """,
                nonces.tobytes(),
                len(nonces),
            )
            fresh = np.ones(len(nonces), dtype=np.bool_)
            if number < len(nonces):
                # As texts of NumPy: equal ones of a fixed size have equal bytes.
                text = f"S{NONCE_SIZE}"
                known = np.frombuffer(some or b"", dtype=text)
                fresh = np.isin(nonces.view(text).ravel(), known)
            arrivals = await asyncio.to_thread(keep, fresh)
            await connection.copy_records_to_table(
                f"messages_{name}",
                records=[(pile, c) for pile, c in enumerate(arrivals.piles) if c],
            )
            people = tuple(a + b for a, b in zip(people, arrivals.people, strict=True))
            await _write(connection, state, people)
        return fresh, people

    async def fix(self, state: ShufflerState, seal: Seal) -> ShufflerState:
        """As `ShufflerStore`."""
        name = _name(state.task)
        async with self._transaction() as connection:
            people = await _people(connection, state)
            piles = [bytearray() for _ in range(state.step.groups)]
            rows = connection.cursor(f"SELECT * FROM messages_{name}", prefetch=8)
            async for pile, content in rows:
                piles[pile] += content
            after, batch = await asyncio.to_thread(seal, people, piles)
            await connection.execute(f"TRUNCATE messages_{name}, spent_{name}")
            await connection.copy_records_to_table(
                f"batch_{name}", records=_pieces(batch)
            )
            await _write(connection, after, people)
        return after

    async def batch(self, state: ShufflerState) -> AsyncIterator[bytes]:
        """As `ShufflerStore`."""
        select = f"SELECT content FROM batch_{_name(state.task)} WHERE place = $1"
        place = 0
        while True:
            with _guarded():
                content = await self._pool.fetchval(select, place)
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
            await connection.execute(f"TRUNCATE batch_{_name(before.task)}")
            await _write(connection, after, people)

    async def count_refused(self, task: Task, refused: dict[str, int]) -> None:
        """As `ShufflerStore`."""
        async with self._transaction() as connection:
            await connection.execute(
                "UPDATE task SET refused = $1 WHERE name = $2",
                json.dumps(refused),
                _name(task),
            )

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Any]:
        if self._pool is None:
            raise DataError("Expected an open store.")
        with _guarded():
            async with self._pool.acquire() as connection, connection.transaction():
                yield connection


@contextmanager
def _guarded() -> Iterator[None]:
    try:
        yield
    except _LOST:
        # Its text may quote a value, so it is not passed on.
        raise full() from None


async def _people(connection: Any, state: ShufflerState) -> tuple[int, ...]:
    people = await connection.fetchval(
        "SELECT people FROM task WHERE name = $1 AND state = $2 FOR UPDATE",
        _name(state.task),
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
        _name(state.task),
    )


def _pieces(batch: bytes) -> Iterator[tuple[int, memoryview]]:
    view = memoryview(batch)
    for place, start in enumerate(range(0, len(view), CHUNK)):
        yield place, view[start : start + CHUNK]


def _name(task: Task) -> str:
    # Base64url has characters that names of tables have not.
    return task.task_id.hex()
