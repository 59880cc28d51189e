"""The shuffler's store in one SQLite file: for one machine, without a database server.

`sqlite_file` says what is on the disk, and when it is overwritten.
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

from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.shuffler.sqlite_file import SqliteFile
from shuffledp.service.shuffler.sqlite_tables import (
    drop_tables,
    keep_arrivals,
    known_marks,
    make_batch,
    make_tables,
    people_of,
    write,
)
from shuffledp.service.shuffler.store import (
    SealBatch,
    SelectArrivals,
    lease_conflict,
    table_name,
)
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
from shuffledp.service.wire.task import Task


class SqliteStore:
    """A `ShufflerStore` in a file; everything happens in one thread of its own."""

    is_exclusive = True

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(path)
        self._handing_over: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._leases = Counter[str]()

    async def open(self, tasks: Sequence[Task]) -> None:
        """As `ShufflerStore`."""
        await self._file.open()

    async def close(self) -> None:
        """As `ShufflerStore`."""
        await self._file.close()

    async def check(self) -> None:
        """As `ShufflerStore`."""
        await self._file.check()

    async def load(
        self, state: ShufflerState, former: Task | None = None
    ) -> TaskRecord:
        """As `ShufflerStore`."""
        tasks = (state.task,) if former is None else (state.task, former)
        return await self._file.run(lambda: self._begin(state, tasks))

    async def add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: SelectArrivals
    ) -> tuple[int, ...]:
        """As `ShufflerStore`."""
        return await self._file.run(lambda: self._add(state, marks, keep))

    async def seal_batch(self, state: ShufflerState, seal: SealBatch) -> ShufflerState:
        """As `ShufflerStore`."""
        return await self._file.run(lambda: self._fix(state, seal))

    async def read_batch(
        self, state: ShufflerState, place: int
    ) -> AsyncIterator[bytes]:
        """As `ShufflerStore`."""
        select = (
            f"SELECT content FROM batch_{table_name(state.task)}"
            " WHERE shard = ? AND piece = ?"
        )
        piece = 0
        while row := await self._file.run(partial(self._row, select, place, piece)):
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
        """As `ShufflerStore`."""
        await self._file.run(lambda: self._move(before, after, people, lease))

    async def add_refusals(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        """As `ShufflerStore`."""
        return await self._file.run(lambda: self._count_refused(task, more))

    async def publish_counts(
        self, state: ShufflerState, shown: tuple[int, ...]
    ) -> None:
        """As `ShufflerStore`."""
        await self._file.run(lambda: self._keep(state, shown=json.dumps(shown)))

    async def record_attempts(
        self, state: ShufflerState, attempts: HandoverAttempts, *, lease: int
    ) -> None:
        """As `ShufflerStore`."""
        text = encode_attempts(attempts)
        await self._file.run(lambda: self._keep(state, lease=lease, attempts=text))

    async def replace_challenge(
        self, task: Task, named: bytes, following: bytes
    ) -> bool:
        """As `ShufflerStore`."""
        return await self._file.run(lambda: self._challenge(task, named, following))

    @asynccontextmanager
    async def handover_lease(self, task: Task) -> AsyncIterator[int]:
        """As `ShufflerStore`."""
        async with self._handing_over[table_name(task)]:
            # Nobody else has one, and nobody keeps one over a restart.
            self._leases[table_name(task)] += 1
            yield self._leases[table_name(task)]

    async def try_lead(self) -> bool:
        """As `ShufflerStore`: there is no other process."""
        return True

    @property
    def clock_ahead(self) -> float:
        """As `ShufflerStore`: it is of this machine."""
        return 0.0

    @property
    def has_leader(self) -> bool:
        """As `ShufflerStore`."""
        return True

    def _begin(self, state: ShufflerState, tasks: tuple[Task, ...]) -> TaskRecord:
        name = table_name(state.task)
        with self._file.transaction() as database:
            select = "SELECT * FROM task WHERE name = ?"
            _, *row = database.execute(select, (name,)).fetchone() or ("",)
            if not row:
                row = list(initial_row(state))
                insert = "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?)"
                database.execute(insert, (name, *row))
                make_tables(database, state)
            refused = self._refused(name)
        return decode_row(row, tasks, refused)

    def _add(
        self, state: ShufflerState, marks: NDArray[np.uint8], keep: SelectArrivals
    ) -> tuple[int, ...]:
        with self._file.transaction() as database:
            people = people_of(database, state)
            arrivals = keep(known_marks(database, state.task, marks))
            if not len(arrivals.marks):
                return people
            keep_arrivals(database, state.task, arrivals)
            people = tuple(a + b for a, b in zip(people, arrivals.people, strict=True))
            write(database, state, people)
        return people

    def _fix(self, state: ShufflerState, seal: SealBatch) -> ShufflerState:
        with self._file.transaction() as database:
            people = people_of(database, state)
            after = make_batch(database, state, people, seal)
            write(database, after, people)
        self._file.empty_log()
        return after

    def _check_lease(self, task: Task, lease: int | None) -> None:
        if lease is not None and lease != self._leases[table_name(task)]:
            raise lease_conflict()

    def _move(
        self,
        before: ShufflerState,
        after: ShufflerState,
        people: tuple[int, ...],
        lease: int | None,
    ) -> None:
        with self._file.transaction() as database:
            known = people_of(database, before)
            self._check_lease(before.task, lease)
            if is_same_step(before, after):
                people = known
            else:
                drop_tables(database, before.task)
                make_tables(database, after)
                database.execute(
                    "UPDATE task SET shown = ? WHERE name = ?",
                    (json.dumps(zero_counts(after)), table_name(after.task)),
                )
            write(database, after, people)
        self._file.empty_log()

    def _count_refused(self, task: Task, more: dict[str, int]) -> dict[str, int]:
        name = table_name(task)
        with self._file.transaction() as database:
            known = sum_refusals([*self._refused(name), json.dumps(more)])
            database.execute(
                "INSERT OR REPLACE INTO refusals VALUES (?, 0, ?)",
                (name, json.dumps(known)),
            )
        return known

    def _refused(self, name: str) -> list[str]:
        select = "SELECT refused FROM refusals WHERE name = ?"
        return [text for (text,) in self._file.connection.execute(select, (name,))]

    def _keep(
        self, state: ShufflerState, *, lease: int | None = None, **columns: str
    ) -> None:
        with self._file.transaction() as database:
            people_of(database, state)
            self._check_lease(state.task, lease)
            for column, text in columns.items():
                database.execute(
                    f"UPDATE task SET {column} = ? WHERE name = ?",
                    (text, table_name(state.task)),
                )

    def _challenge(self, task: Task, named: bytes, following: bytes) -> bool:
        with self._file.transaction() as database:
            change = "UPDATE task SET challenge = ? WHERE name = ? AND challenge = ?"
            values = (following.hex(), table_name(task), named.hex())
            return database.execute(change, values).rowcount == 1

    def _row(self, select: str, *values: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._file.connection.execute(
            select, values
        ).fetchone()
        return row
