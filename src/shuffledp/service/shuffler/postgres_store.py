"""The shuffler's store in PostgreSQL: for large collections, or where a server runs anyway.

The tables of a step are dropped with it: rows that are deleted would stay in their pages
until they are vacuumed, and longer. No statistics are gathered of them, which would copy
their values into the catalog. The write-ahead log keeps every arrival, in its order and
with the time of its transaction, until its segments are recycled and overwritten; archives,
replicas and backups keep it for good. So: no archive, no logical replication, encrypted
disks, and `log_statement` off.

Several processes may use a database at once (`postgres_sessions`). What comes in takes
turns within a process, and none between processes: each writes numbers of its own, which
are added up when they are read. A mark that two processes store at once is stored by the
first; the other one decides again with what is known then.

A connection that was lost is replaced when the next is needed. Until then uploads are
refused as STORAGE; one whose commit was under way may be on the disk nevertheless, and its
tokens are then refused as spent when it is sent again.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp.extras import require
from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.shuffler.marks import MARK_SIZE
from shuffledp.service.shuffler.postgres_batch import make_batch
from shuffledp.service.shuffler.postgres_sessions import (
    HAND_OVER,
    LOST,
    House,
    Session,
    lock_step,
)
from shuffledp.service.shuffler.postgres_tables import (
    check_layout,
    check_state,
    count,
    counted,
    make_tables,
    people_of,
    write,
)
from shuffledp.service.shuffler.record import (
    Attempts,
    Record,
    added,
    first_row,
    goes_on,
    nobody,
    read_row,
    write_attempts,
)
from shuffledp.service.shuffler.store import STEP_TABLES, Keep, Seal, table_name
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.task import Task

require("asyncpg", extra="service", what="A store in PostgreSQL")

import asyncpg  # type: ignore[import-untyped]  # noqa: E402

_MARK = f"substr($1::bytea, place * {MARK_SIZE} + 1, {MARK_SIZE})"


class PostgresStore:
    """A `ShufflerStore` in a database of its own, named by a postgresql:// address."""

    alone = False

    def __init__(self, address: str) -> None:
        self._address = address
        self._house: House | None = None
        self._read = dict[str, ShufflerState]()
        # What comes in, and all that is small; what ends a step, which may take long; and
        # the lock of the tender.
        self._arrivals: Session | None = None
        self._steps: Session | None = None
        self._tender: Session | None = None

    async def open(self, tasks: Sequence[Task]) -> None:
        """As `ShufflerStore`."""
        self._house = House(self._address, tasks)
        self._arrivals = Session(self._house, writes=True)
        self._steps, self._tender = Session(self._house), Session(self._house)
        try:
            await self._arrivals.connect()
            async with self._arrivals.transaction() as connection:
                await check_layout(connection)
        except LOST as error:
            await self.close()
            # The address may hold a password: neither it nor the error's text is shown.
            kind = type(error).__name__
            raise DataError(
                f"Could not open the PostgreSQL database: {kind}."
            ) from None
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """As `ShufflerStore`."""
        for session in (self._arrivals, self._steps, self._tender):
            if session is not None:
                await session.close()
        self._arrivals = self._steps = self._tender = self._house = None

    async def check(self) -> None:
        """As `ShufflerStore`."""
        async with _opened(self._arrivals).transaction() as connection:
            await connection.execute("SELECT 1")

    async def begin(self, state: ShufflerState, former: Task | None = None) -> Record:
        """As `ShufflerStore`."""
        tasks = (state.task,) if former is None else (state.task, former)
        name = table_name(state.task)
        async with _opened(self._arrivals).transaction() as connection:
            select = "SELECT * FROM task WHERE name = $1"
            known = await connection.fetchrow(select, name)
            # Another process may be changing it, or be the first to write it down.
            await lock_step(connection, state.task, alone=known is None)
            row = await connection.fetchrow(select, name)
            if row is None:
                row = (name, *first_row(state))
                insert = "INSERT INTO task VALUES ($1, $2, $3, $4, $5, $6)"
                await connection.execute(insert, *row)
                await make_tables(connection, state)
            refused = await connection.fetch(
                "SELECT refused FROM refusals WHERE name = $1", name
            )
            record = read_row(
                row[1:],
                tasks,
                [text for (text,) in refused],
                known=self._read.get(name),
            )
            self._read[name] = record.state
            more = await counted(connection, record.state)
        people = tuple(sum(each) for each in zip(record.people, *more, strict=True))
        return replace(record, people=people)

    async def add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: Keep
    ) -> tuple[int, ...]:
        """As `ShufflerStore`."""
        while True:
            try:
                return await self._add(state, marks, keep)
            except asyncpg.UniqueViolationError:
                # Another process was first: its marks are known the next time.
                continue

    async def _add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: Keep
    ) -> tuple[int, ...]:
        name, session = table_name(state.task), _opened(self._arrivals)
        async with session.transaction() as connection:
            await lock_step(connection, state.task, alone=False)
            await check_state(connection, state)
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
            if len(arrivals.marks):
                # In increasing order, so that two processes never wait for each other.
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
                await count(connection, state, session.writer, arrivals.people)
            more = await counted(connection, state)
        return tuple(sum(each) for each in zip(nobody(state), *more, strict=True))

    async def fix(self, state: ShufflerState, seal: Seal) -> ShufflerState:
        """As `ShufflerStore`."""
        async with self._transaction() as connection:
            people = await people_of(connection, state)
            after = await make_batch(connection, state, people, seal)
            await write(connection, after, people)
        return after

    async def batch(self, state: ShufflerState, place: int) -> AsyncIterator[bytes]:
        """As `ShufflerStore`."""
        select = (
            f"SELECT content FROM batch_{table_name(state.task)}"
            " WHERE shard = $1 AND piece = $2"
        )
        piece = 0
        while True:
            async with self._transaction() as connection:
                content = await connection.fetchval(select, place, piece)
            if content is None:
                return
            yield content
            piece += 1

    async def move(
        self, before: ShufflerState, after: ShufflerState, people: tuple[int, ...]
    ) -> None:
        """As `ShufflerStore`."""
        async with self._transaction() as connection:
            await people_of(connection, before)
            if goes_on(before, after):
                # They are added up elsewhere until the step ends.
                people = nobody(after)
            else:
                for table in STEP_TABLES:
                    name = f"{table}_{table_name(before.task)}"
                    await connection.execute(f"DROP TABLE IF EXISTS {name}")
                await connection.execute(
                    "UPDATE task SET shown = $1 WHERE name = $2",
                    json.dumps(nobody(after)),
                    table_name(after.task),
                )
                await make_tables(connection, after)
            await write(connection, after, people)

    async def count_refused(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """As `ShufflerStore`."""
        session, name = _opened(self._arrivals), table_name(task)
        select = "SELECT refused FROM refusals WHERE name = $1"
        async with session.transaction() as connection:
            own = await connection.fetchval(
                f"{select} AND writer = $2", name, session.writer
            )
            await connection.execute(
                "INSERT INTO refusals VALUES ($1, $2, $3)"
                " ON CONFLICT (name, writer) DO UPDATE SET refused = EXCLUDED.refused",
                name,
                session.writer,
                json.dumps(added([own or "{}", json.dumps(more)])),
            )
            return added([text for (text,) in await connection.fetch(select, name)])

    async def show(self, state: ShufflerState, shown: tuple[int, ...]) -> None:
        """As `ShufflerStore`."""
        await self._keep(state, "shown", json.dumps(shown))

    async def note(self, state: ShufflerState, attempts: Attempts) -> None:
        """As `ShufflerStore`."""
        await self._keep(state, "attempts", write_attempts(attempts))

    async def challenge(self, task: Task, named: bytes, following: bytes) -> bool:
        """As `ShufflerStore`."""
        async with _opened(self._arrivals).transaction() as connection:
            return bool(
                await connection.fetchval(
                    "UPDATE task SET challenge = $1 WHERE name = $2 AND challenge = $3"
                    " RETURNING true",
                    following.hex(),
                    table_name(task),
                    named.hex(),
                )
            )

    def handing_over(self, task: Task) -> AbstractAsyncContextManager[None]:
        """As `ShufflerStore`."""
        if self._house is None:
            raise _closed()
        return self._house.locked(HAND_OVER, task)

    async def tends(self) -> bool:
        """As `ShufflerStore`."""
        with suppress(Refusal):
            return await _opened(self._tender).tends()
        return False

    async def _keep(self, state: ShufflerState, column: str, text: str) -> None:
        async with _opened(self._arrivals).transaction() as connection:
            await lock_step(connection, state.task, alone=False)
            await check_state(connection, state)
            await connection.execute(
                f"UPDATE task SET {column} = $1 WHERE name = $2",
                text,
                table_name(state.task),
            )

    def _transaction(self) -> AbstractAsyncContextManager[Any]:
        return _opened(self._steps).transaction()


def _opened(session: Session | None) -> Session:
    if session is None:
        raise _closed()
    return session


def _closed() -> DataError:
    return DataError("Expected an open store.")
