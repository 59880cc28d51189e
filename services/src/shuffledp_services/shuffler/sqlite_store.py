"""Shuffler store in one SQLite file: for one machine, without a database server.

See `sqlite_file` for when deleted data are overwritten on the disk.
"""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler.sqlite_file import SqliteFile
from shuffledp_services.shuffler.sqlite_tables import (
    create_batch,
    create_tables,
    drop_tables,
    insert_arrivals,
    known_digests,
    read_counts,
    update_task_row,
)
from shuffledp_services.shuffler.store import (
    DrawDummies,
    SealBatch,
    SelectArrivals,
    lease_conflict,
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
from shuffledp_services.wire.task import Task


class SqliteStore:
    """`ShufflerStore` in a file, which one thread of its own reads and writes."""

    is_exclusive = True

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(path)
        self._handover_locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._leases = Counter[str]()

    async def open(self, tasks: Sequence[Task]) -> None:
        """Opens the file; `tasks` are not needed, as no other process can open it."""
        await self._file.open()

    async def close(self) -> None:
        """Closes the file and ends its thread."""
        await self._file.close()

    async def check(self) -> None:
        """Raises Refusal (STORAGE) unless the file can be written."""
        await self._file.check()

    async def load(
        self, state: ShufflerState, former: Task | None = None
    ) -> TaskRecord:
        """Returns the record of a task; creates it if there is none."""
        tasks = (state.task,) if former is None else (state.task, former)
        return await self._file.run(lambda: self._load(state, tasks))

    async def add(
        self, state: ShufflerState, digests: NDArray[np.uint8], select: SelectArrivals
    ) -> tuple[int, ...]:
        """Stores accepted reports; calls `select` once, in the transaction."""
        return await self._file.run(lambda: self._add(state, digests, select))

    async def seal_batch(
        self, state: ShufflerState, seal: SealBatch, draw: DrawDummies | None = None
    ) -> ShufflerState:
        """Replaces the messages by the sealed batch, and empties the log."""
        return await self._file.run(lambda: self._seal_batch(state, seal, draw))

    async def read_batch(
        self, state: ShufflerState, index: int
    ) -> AsyncIterator[bytes]:
        """Yields the pieces of a shard, each read by a query of its own."""
        select = (
            f"SELECT content FROM batch_{table_name(state.task)}"
            " WHERE shard = ? AND piece = ?"
        )
        piece = 0
        # Between two pieces the thread of the file is free for uploads.
        while row := await self._file.run(partial(self._row, select, index, piece)):
            yield row[0]
            piece += 1

    async def change_state(
        self,
        before: ShufflerState,
        after: ShufflerState,
        people: tuple[int, ...],
        *,
        lease: int | None = None,
    ) -> None:
        """Changes the state, and empties the log."""
        await self._file.run(lambda: self._change_state(before, after, people, lease))

    async def add_refusals(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """Adds refusal counts in the row of the only writer."""
        return await self._file.run(lambda: self._add_refusals(task, more))

    async def publish_counts(
        self, state: ShufflerState, published: tuple[int, ...]
    ) -> None:
        """Stores the rounded report counts."""
        text = json.dumps(published)
        await self._file.run(lambda: self._update_columns(state, shown=text))

    async def record_attempts(
        self, state: ShufflerState, attempts: HandoverAttempts, *, lease: int
    ) -> None:
        """Stores the progress of the hand-over, under its lease."""
        text = encode_attempts(attempts)
        await self._file.run(
            lambda: self._update_columns(state, lease=lease, attempts=text)
        )

    async def replace_challenge(
        self, task: Task, named: bytes, following: bytes
    ) -> bool:
        """Compares and swaps the challenge of the next command."""
        return await self._file.run(lambda: self._challenge(task, named, following))

    @asynccontextmanager
    async def handover_lease(self, task: Task) -> AsyncIterator[int]:
        """Locks the hand-over of a task within this process."""
        async with self._handover_locks[table_name(task)]:
            # Numbers in memory suffice: no other process has a lease, and none outlives
            # a restart.
            self._leases[table_name(task)] += 1
            yield self._leases[table_name(task)]

    async def try_lead(self) -> bool:
        """Returns True: there is no other process."""
        return True

    @property
    def clock_ahead(self) -> float:
        """0: the store reads no clock but this machine's."""
        return 0.0

    @property
    def has_leader(self) -> bool:
        """True: this process is always the leader."""
        return True

    def _load(self, state: ShufflerState, tasks: tuple[Task, ...]) -> TaskRecord:
        name = table_name(state.task)
        with self._file.transaction() as database:
            select = "SELECT * FROM task WHERE name = ?"
            _, *row = database.execute(select, (name,)).fetchone() or ("",)
            if not row:
                row = list(initial_row(state))
                insert = "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?)"
                database.execute(insert, (name, *row))
                create_tables(database, state)
            refused = self._refused(name)
        return decode_row(row, tasks, refused)

    def _add(
        self, state: ShufflerState, digests: NDArray[np.uint8], select: SelectArrivals
    ) -> tuple[int, ...]:
        with self._file.transaction() as database:
            people = read_counts(database, state)
            # In the transaction: no other arrival comes between check and insertion.
            arrivals = select(known_digests(database, state.task, digests))
            # Every report was refused: nothing to write.
            if not len(arrivals.keyed_digests):
                return people
            insert_arrivals(database, state.task, arrivals)
            people = tuple(a + b for a, b in zip(people, arrivals.people, strict=True))
            update_task_row(database, state, people)
        return people

    def _seal_batch(
        self, state: ShufflerState, seal: SealBatch, draw: DrawDummies | None
    ) -> ShufflerState:
        with self._file.transaction() as database:
            people = read_counts(database, state)
            after = create_batch(database, state, people, seal, draw)
            update_task_row(database, after, people)
        self._file.empty_log()
        return after

    def _check_lease(self, task: Task, lease: int | None) -> None:
        if lease is not None and lease != self._leases[table_name(task)]:
            raise lease_conflict()

    def _change_state(
        self,
        before: ShufflerState,
        after: ShufflerState,
        people: tuple[int, ...],
        lease: int | None,
    ) -> None:
        with self._file.transaction() as database:
            current = read_counts(database, before)
            self._check_lease(before.task, lease)
            if is_same_step(before, after):
                # Uploads may have been stored since the caller counted.
                people = current
            else:
                drop_tables(database, before.task)
                create_tables(database, after)
                database.execute(
                    "UPDATE task SET shown = ? WHERE name = ?",
                    (json.dumps(zero_counts(after)), table_name(after.task)),
                )
            update_task_row(database, after, people)
        self._file.empty_log()

    def _add_refusals(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        name = table_name(task)
        with self._file.transaction() as database:
            sums = sum_refusals([*self._refused(name), json.dumps(more)])
            database.execute(
                # Writer 0 is the only one.
                "INSERT OR REPLACE INTO refusals VALUES (?, 0, ?)",
                (name, json.dumps(sums)),
            )
        return sums

    def _refused(self, name: str) -> list[str]:
        select = "SELECT refused FROM refusals WHERE name = ?"
        return [text for (text,) in self._file.connection.execute(select, (name,))]

    def _update_columns(
        self, state: ShufflerState, *, lease: int | None = None, **columns: str
    ) -> None:
        with self._file.transaction() as database:
            # Refuses a change that starts from another state.
            read_counts(database, state)
            self._check_lease(state.task, lease)
            for column, text in columns.items():
                database.execute(
                    f"UPDATE task SET {column} = ? WHERE name = ?",
                    (text, table_name(state.task)),
                )

    def _challenge(self, task: Task, named: bytes, following: bytes) -> bool:
        with self._file.transaction() as database:
            # One statement: of two commands with one challenge, only one succeeds.
            change = "UPDATE task SET challenge = ? WHERE name = ? AND challenge = ?"
            values = (following.hex(), table_name(task), named.hex())
            return database.execute(change, values).rowcount == 1

    def _row(self, select: str, *values: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._file.connection.execute(
            select, values
        ).fetchone()
        return row
