"""Shuffler store in PostgreSQL: for large collections, or where a server runs anyway.

The tables of a step are dropped with it: deleted rows would stay in their pages until they
are vacuumed, and longer. Statistics of them are turned off, as they would copy values into
the catalog. The write-ahead log keeps every arrival, in its order and with the time of its
transaction, until its segments are recycled and overwritten; archives, replicas and backups
keep it for good. So: no archive, no logical replication, encrypted disks, and
`log_statement` off.

Several processes may use a database at once (`postgres_sessions`). Transactions with
arrivals are serialized within a process, but not between processes: each process writes a
count row of its own, and the rows are added up when they are read. If two processes store
the same keyed digest at once, the first one succeeds, and the other selects its arrivals
again.

A lost connection is replaced when it is needed next. Until then uploads are refused as
STORAGE. An upload whose commit was under way may be on the disk nevertheless; its tokens
are then refused as spent when it is sent again.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler import postgres_tables as tables
from shuffledp_services.shuffler.postgres_arrivals import store_arrivals
from shuffledp_services.shuffler.postgres_batch import create_batch
from shuffledp_services.shuffler.postgres_presence import Presence
from shuffledp_services.shuffler.postgres_sessions import (
    LOST,
    Session,
    SharedDatabase,
    lock_step,
)
from shuffledp_services.shuffler.store import (
    DrawDummies,
    SealBatch,
    SelectArrivals,
    table_name,
)
from shuffledp_services.shuffler.task_record import (
    HandoverAttempts,
    TaskRecord,
    decode_row,
    encode_attempts,
    initial_row,
    is_same_step,
    sum_refusals,
    zero_counts,
)
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.task import Task


class PostgresStore:
    """`ShufflerStore` in a database of its own, at a postgresql:// address."""

    is_exclusive = False

    def __init__(self, address: str) -> None:
        self._address = address
        self._database: SharedDatabase | None = None
        # The state of each task as read last: reading a plan again would take long.
        self._last_read = dict[str, ShufflerState]()
        # Arrivals and short transactions have one session; what ends a step may take
        # minutes, and has another.
        self._arrivals: Session | None = None
        self._steps: Session | None = None
        self._presence: Presence | None = None

    async def open(self, tasks: Sequence[Task]) -> None:
        """Connects three sessions, and creates or checks the layout."""
        self._database = SharedDatabase(self._address, tasks)
        self._arrivals = Session(self._database, writes=True)
        self._steps, self._presence = Session(self._database), Presence(self._database)
        try:
            await self._arrivals.connect()
            async with self._arrivals.transaction() as connection:
                await tables.ensure_layout(connection)
        except LOST as error:
            await self.close()
            # The address may hold a password, and so may the error's text: show neither.
            kind = type(error).__name__
            raise DataError(
                f"Could not open the PostgreSQL database: {kind}."
            ) from None
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Disconnects all sessions, which releases their locks."""
        for session in (self._arrivals, self._steps, self._presence):
            if session is not None:
                await session.close()
        self._arrivals = self._steps = self._presence = self._database = None

    async def check(self) -> None:
        """Reconnects if necessary; raises Refusal (STORAGE) if that fails."""
        async with _opened(self._arrivals).transaction() as connection:
            await connection.execute("SELECT 1")

    async def load(
        self, state: ShufflerState, former: Task | None = None
    ) -> TaskRecord:
        """Returns the record of a task, with the counts of all processes added up."""
        tasks = (state.task,) if former is None else (state.task, former)
        name = table_name(state.task)
        async with _opened(self._arrivals).transaction() as connection:
            select = "SELECT * FROM task WHERE name = $1"
            exists = await connection.fetchrow(select, name) is not None
            # Another process may be changing the row, or inserting it first.
            await lock_step(connection, state.task, alone=not exists)
            # Read again under the lock.
            row = await connection.fetchrow(select, name)
            if row is None:
                row = (name, *initial_row(state))
                insert = "INSERT INTO task VALUES ($1, $2, $3, $4, $5, $6)"
                await connection.execute(insert, *row)
                await tables.create_tables(connection, state)
            record = decode_row(
                row[1:],
                tasks,
                await tables.read_refusals(connection, state.task),
                known=self._last_read.get(name),
            )
            self._last_read[name] = record.state
            # Counts of the open step are in rows of their own until the close.
            more = await tables.read_process_counts(connection, record.state)
        people = tuple(sum(each) for each in zip(record.people, *more, strict=True))
        return replace(record, people=people)

    async def add(
        self, state: ShufflerState, digests: NDArray[np.uint8], select: SelectArrivals
    ) -> tuple[int, ...]:
        """Stores accepted reports; starts again if another process stored one first."""
        while True:
            try:
                return await self._add(state, digests, select)
            except asyncpg.UniqueViolationError:
                # Another process was first: its digests are visible the next time.
                continue

    async def _add(
        self, state: ShufflerState, digests: NDArray[np.uint8], select: SelectArrivals
    ) -> tuple[int, ...]:
        session = _opened(self._arrivals)
        async with session.transaction() as connection:
            await lock_step(connection, state.task, alone=False)
            await tables.check_state(connection, state)
            people = await store_arrivals(connection, state.task, digests, select)
            if people is not None:
                await tables.add_counts(connection, state, session.writer, people)
            more = await tables.read_process_counts(connection, state)
        return tuple(sum(each) for each in zip(zero_counts(state), *more, strict=True))

    async def seal_batch(
        self, state: ShufflerState, seal: SealBatch, draw: DrawDummies | None = None
    ) -> ShufflerState:
        """Replaces the messages by the sealed batch, in the session for long work."""
        async with self._transaction() as connection:
            people = await tables.lock_and_count(connection, state)
            after = await create_batch(connection, state, people, seal, draw)
            await tables.update_task_row(connection, after, people)
        return after

    async def read_batch(
        self, state: ShufflerState, index: int
    ) -> AsyncIterator[bytes]:
        """Yields the pieces of a shard, each in a transaction of its own."""
        select = (
            f"SELECT content FROM batch_{table_name(state.task)}"
            " WHERE shard = $1 AND piece = $2"
        )
        piece = 0
        while True:
            async with self._transaction() as connection:
                content = await connection.fetchval(select, index, piece)
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
        """Changes the state once all transactions under way have ended."""
        async with self._transaction() as connection:
            # Waits for arrivals under way, and keeps later ones out.
            await tables.lock_and_count(connection, before)
            if lease is not None:
                await tables.check_lease(connection, before.task, lease)
            if is_same_step(before, after):
                # The count rows of the processes hold the counts until the step ends.
                people = zero_counts(after)
            else:
                await tables.drop_tables(connection, before.task)
                await connection.execute(
                    "UPDATE task SET shown = $1 WHERE name = $2",
                    json.dumps(zero_counts(after)),
                    table_name(after.task),
                )
                await tables.create_tables(connection, after)
            await tables.update_task_row(connection, after, people)

    async def add_refusals(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """Adds refusal counts in the row of this process, and returns all sums."""
        session = _opened(self._arrivals)
        async with session.transaction() as connection:
            await tables.add_refusals(connection, task, session.writer, more)
            return sum_refusals(await tables.read_refusals(connection, task))

    async def publish_counts(
        self, state: ShufflerState, published: tuple[int, ...]
    ) -> None:
        """Stores the rounded report counts."""
        await self._update_column(state, "shown", json.dumps(published))

    async def record_attempts(
        self, state: ShufflerState, attempts: HandoverAttempts, *, lease: int
    ) -> None:
        """Stores the progress of the hand-over, under its lease."""
        text = encode_attempts(attempts)
        await self._update_column(state, "attempts", text, lease=lease)

    async def replace_challenge(
        self, task: Task, named: bytes, following: bytes
    ) -> bool:
        """Compares and swaps the challenge of the next command."""
        async with _opened(self._arrivals).transaction() as connection:
            return await tables.replace_challenge(connection, task, named, following)

    def handover_lease(self, task: Task) -> AbstractAsyncContextManager[int]:
        """Locks the hand-over of a task with a connection of its own."""
        if self._database is None:
            raise _closed()
        return self._database.handover_lease(task)

    async def try_lead(self) -> bool:
        """Returns whether this process is the leader; False if the database fails."""
        if self._presence is None:
            raise _closed()
        # Without the database this process cannot hold the leader lock.
        with suppress(Refusal):
            return await self._presence.try_lead()
        return False

    @property
    def clock_ahead(self) -> float:
        """Seconds that the server's clock is ahead of this machine's."""
        return 0.0 if self._presence is None else self._presence.clock_ahead

    @property
    def has_leader(self) -> bool:
        """Whether a live process was the leader at the last `try_lead`."""
        return self._presence is None or self._presence.has_leader

    async def _update_column(
        self, state: ShufflerState, column: str, text: str, *, lease: int | None = None
    ) -> None:
        async with _opened(self._arrivals).transaction() as connection:
            await lock_step(connection, state.task, alone=False)
            await tables.check_state(connection, state)
            if lease is not None:
                await tables.check_lease(connection, state.task, lease)
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
