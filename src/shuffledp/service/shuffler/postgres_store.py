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
from shuffledp.service.shuffler.postgres_arrivals import store_arrivals
from shuffledp.service.shuffler.postgres_batch import make_batch
from shuffledp.service.shuffler.postgres_presence import Presence
from shuffledp.service.shuffler.postgres_sessions import (
    LOST,
    Session,
    SharedDatabase,
    lock_step,
)
from shuffledp.service.shuffler.postgres_tables import (
    check_layout,
    check_lease,
    check_state,
    count,
    count_refused,
    counted,
    drop_tables,
    make_tables,
    people_of,
    refused_counts,
    replace_challenge,
    write,
)
from shuffledp.service.shuffler.store import SealBatch, SelectArrivals, table_name
from shuffledp.service.shuffler.task_record import (
    HandoverAttempts,
    TaskRecord,
    decode_row,
    encode_attempts,
    initial_row,
    is_same_step,
    sum_refusals,
    zero_counts,
)
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.task import Task

require("asyncpg", extra="service", what="A store in PostgreSQL")

import asyncpg  # type: ignore[import-untyped]  # noqa: E402


class PostgresStore:
    """A `ShufflerStore` in a database of its own, named by a postgresql:// address."""

    is_exclusive = False

    def __init__(self, address: str) -> None:
        self._address = address
        self._house: SharedDatabase | None = None
        self._read = dict[str, ShufflerState]()
        # What comes in, and all that is small; what ends a step, which may take long.
        self._arrivals: Session | None = None
        self._steps: Session | None = None
        self._presence: Presence | None = None

    async def open(self, tasks: Sequence[Task]) -> None:
        """As `ShufflerStore`."""
        self._house = SharedDatabase(self._address, tasks)
        self._arrivals = Session(self._house, writes=True)
        self._steps, self._presence = Session(self._house), Presence(self._house)
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
        for session in (self._arrivals, self._steps, self._presence):
            if session is not None:
                await session.close()
        self._arrivals = self._steps = self._presence = self._house = None

    async def check(self) -> None:
        """As `ShufflerStore`."""
        async with _opened(self._arrivals).transaction() as connection:
            await connection.execute("SELECT 1")

    async def load(
        self, state: ShufflerState, former: Task | None = None
    ) -> TaskRecord:
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
                row = (name, *initial_row(state))
                insert = "INSERT INTO task VALUES ($1, $2, $3, $4, $5, $6)"
                await connection.execute(insert, *row)
                await make_tables(connection, state)
            record = decode_row(
                row[1:],
                tasks,
                await refused_counts(connection, state.task),
                known=self._read.get(name),
            )
            self._read[name] = record.state
            more = await counted(connection, record.state)
        people = tuple(sum(each) for each in zip(record.people, *more, strict=True))
        return replace(record, people=people)

    async def add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: SelectArrivals
    ) -> tuple[int, ...]:
        """As `ShufflerStore`."""
        while True:
            try:
                return await self._add(state, marks, keep)
            except asyncpg.UniqueViolationError:
                # Another process was first: its marks are known the next time.
                continue

    async def _add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: SelectArrivals
    ) -> tuple[int, ...]:
        session = _opened(self._arrivals)
        async with session.transaction() as connection:
            await lock_step(connection, state.task, alone=False)
            await check_state(connection, state)
            people = await store_arrivals(connection, state.task, marks, keep)
            if people is not None:
                await count(connection, state, session.writer, people)
            more = await counted(connection, state)
        return tuple(sum(each) for each in zip(zero_counts(state), *more, strict=True))

    async def seal_batch(self, state: ShufflerState, seal: SealBatch) -> ShufflerState:
        """As `ShufflerStore`."""
        async with self._transaction() as connection:
            people = await people_of(connection, state)
            after = await make_batch(connection, state, people, seal)
            await write(connection, after, people)
        return after

    async def read_batch(
        self, state: ShufflerState, place: int
    ) -> AsyncIterator[bytes]:
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

    async def change_state(
        self,
        before: ShufflerState,
        after: ShufflerState,
        people: tuple[int, ...],
        *,
        lease: int | None = None,
    ) -> None:
        """As `ShufflerStore`."""
        async with self._transaction() as connection:
            await people_of(connection, before)
            if lease is not None:
                await check_lease(connection, before.task, lease)
            if is_same_step(before, after):
                # They are added up elsewhere until the step ends.
                people = zero_counts(after)
            else:
                await drop_tables(connection, before.task)
                await connection.execute(
                    "UPDATE task SET shown = $1 WHERE name = $2",
                    json.dumps(zero_counts(after)),
                    table_name(after.task),
                )
                await make_tables(connection, after)
            await write(connection, after, people)

    async def add_refusals(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """As `ShufflerStore`."""
        session = _opened(self._arrivals)
        async with session.transaction() as connection:
            await count_refused(connection, task, session.writer, more)
            return sum_refusals(await refused_counts(connection, task))

    async def publish_counts(
        self, state: ShufflerState, shown: tuple[int, ...]
    ) -> None:
        """As `ShufflerStore`."""
        await self._keep(state, "shown", json.dumps(shown))

    async def record_attempts(
        self, state: ShufflerState, attempts: HandoverAttempts, *, lease: int
    ) -> None:
        """As `ShufflerStore`."""
        await self._keep(state, "attempts", encode_attempts(attempts), lease=lease)

    async def replace_challenge(
        self, task: Task, named: bytes, following: bytes
    ) -> bool:
        """As `ShufflerStore`."""
        async with _opened(self._arrivals).transaction() as connection:
            return await replace_challenge(connection, task, named, following)

    def handover_lease(self, task: Task) -> AbstractAsyncContextManager[int]:
        """As `ShufflerStore`."""
        if self._house is None:
            raise _closed()
        return self._house.handover_lease(task)

    async def try_lead(self) -> bool:
        """As `ShufflerStore`."""
        if self._presence is None:
            raise _closed()
        with suppress(Refusal):
            return await self._presence.look()
        return False

    @property
    def clock_ahead(self) -> float:
        """As `ShufflerStore`."""
        return 0.0 if self._presence is None else self._presence.clock_ahead

    @property
    def has_leader(self) -> bool:
        """As `ShufflerStore`."""
        return self._presence is None or self._presence.tended

    async def _keep(
        self, state: ShufflerState, column: str, text: str, *, lease: int | None = None
    ) -> None:
        async with _opened(self._arrivals).transaction() as connection:
            await lock_step(connection, state.task, alone=False)
            await check_state(connection, state)
            if lease is not None:
                await check_lease(connection, state.task, lease)
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
