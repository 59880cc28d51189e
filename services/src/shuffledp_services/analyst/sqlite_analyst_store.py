"""Analyst's store in one SQLite file, with sealed batches in folders beside it."""

import json
import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp_services.analyst.analyst_store import (
    EpochRecord,
    Former,
    read_record,
    read_state,
    waiting_batch,
    write_record,
    write_state,
)
from shuffledp_services.analyst.batch_folder import BatchFolder
from shuffledp_services.analyst.sealed_batch import SealedBatch, delete_batch
from shuffledp_services.collection.analyst_state import AnalystPhase, AnalystState
from shuffledp_services.monitoring.metrics import STORAGE_ERRORS
from shuffledp_services.storage.database import (
    ExclusiveDatabase,
    Layout,
    stored_task,
    write_probe,
)
from shuffledp_services.storage.new_files import sync_folder
from shuffledp_services.wire.batch import BatchHeader
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.task_reading import read_task

_LAYOUT = Layout(
    "analyst",
    version=4,
    tables=(
        "states (task TEXT PRIMARY KEY, digest BLOB NOT NULL, value TEXT NOT NULL)",
        "batches (task TEXT, batch_id BLOB, people TEXT NOT NULL, acknowledgement BLOB,"
        " PRIMARY KEY (task, batch_id))",
        "epochs (task TEXT, epoch INTEGER, value TEXT NOT NULL,"
        " PRIMARY KEY (task, epoch))",
        "formers (place INTEGER PRIMARY KEY, task TEXT NOT NULL, after INTEGER NOT NULL,"
        " value BLOB NOT NULL)",
    ),
)


class SqliteAnalystStore:
    """Store under one path, for one process at a time.

    Attributes:
        path: Database file; sealed batches are in a folder with the suffix ".batches".
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = BatchFolder(path.with_name(f"{path.name}.batches"))
        self._lock = threading.Lock()
        self.version = 0
        self._file: ExclusiveDatabase | None = None

    def open(self, tasks: Iterable[Task], formers: Iterable[Task] = ()) -> list[Task]:
        """Opens the database, and begins new tasks.

        Raises:
            DataError: If it is another database or in use, or it stores another task, or
                one that cannot be replaced in its current state.
        """
        tasks, before = list(tasks), {former.digest: former for former in formers}
        # First: beside another service's database no folder is made.
        self._file = ExclusiveDatabase(self.path, _LAYOUT)
        try:
            self._folder.make()
            begun = [t for t in tasks if self._begins(t, before.get(t.succeeds or b""))]
            self._delete_unnamed(tasks)
        except BaseException as error:
            self._file.abandon()
            self._file = None
            if isinstance(error, OSError):
                raise DataError(f"Could not open the database {self.path}.") from error
            raise
        return begun

    def close(self) -> None:
        """Closes the database."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def check(self) -> None:
        """Raises Refusal unless the database is usable."""
        try:
            with self._lock, self._open_file.transaction() as database:
                write_probe(database, self.path)
        except (OSError, sqlite3.Error) as error:
            raise Refusal(Reason.STORAGE, "Expected a usable database.") from error

    def check_room(self) -> None:
        """Raises Refusal unless there is room for the missing shards of begun batches."""
        try:
            with self._lock:
                self._folder.check_room()
        except OSError as error:
            raise Refusal(Reason.STORAGE, "Expected room for the batch.") from error

    def state(self, task: Task) -> AnalystState:
        """Returns the state of a task."""
        with self._lock:
            return self._state(task)

    def begin_batch(
        self, task: Task, header: BatchHeader, manifest: bytes
    ) -> SealedBatch | None:
        """Stores a manifest; deletes a begun batch of the same task with another one."""
        with self._lock:
            state = self._state(task)
            # Another request completed this batch meanwhile.
            if state.receive(header) is state:
                return None
            try:
                return self._folder.begin(task, header, manifest)
            except OSError as error:
                STORAGE_ERRORS.inc()
                raise Refusal(Reason.STORAGE, "Expected room for the batch.") from error

    def begun_batch(self, task: Task) -> SealedBatch | None:
        """Returns the batch whose shards are arriving; None if there is none."""
        return self._folder.begun(task)

    def receive(
        self, task: Task, batch: SealedBatch, acknowledged: bytes | None
    ) -> None:
        """Receives a batch with all its shards; a known one changes nothing."""
        header = batch.header
        people = json.dumps(header.people)
        row = (task.identity, header.batch_id, people, acknowledged)
        with self._lock:
            before = self._state(task)
            after = before.receive(header)
            if after is before:
                return
            try:
                # The batch is on the disk before the database names it.
                sync_folder(batch.folder)
                with self._open_file.transaction() as database:
                    database.execute("INSERT INTO batches VALUES (?, ?, ?, ?)", row)
                    self._write_state(after)
                    for epoch in before.skipped_before(header.epoch):
                        self._write_record(task, EpochRecord.skipped(task, epoch))
            except (OSError, sqlite3.Error) as error:
                STORAGE_ERRORS.inc()
                raise Refusal(Reason.STORAGE, "Expected room for the batch.") from error
            self._folder.received(task)

    def sealed(self, task: Task) -> SealedBatch:
        """Returns the batch that is to be counted."""
        with self._lock:
            state = self._state(task)
        if state.phase is not AnalystPhase.RECEIVED:
            raise DataError("Expected a batch that waits to be counted.")
        try:
            return SealedBatch.read(self._folder.sealed(state), task)
        except (OSError, Refusal) as error:
            raise DataError("Expected the batch as it was received.") from error

    def acknowledgement(self, task: Task, batch_id: bytes) -> bytes | None:
        """Returns a batch's signed acknowledgement; None if there is none (yet)."""
        with self._lock:
            row = self._open_database.execute(
                "SELECT acknowledgement FROM batches WHERE task = ? AND batch_id = ?",
                (task.identity, batch_id),
            ).fetchone()
        return None if row is None else row[0]

    def list_messages(self, state: AnalystState, listed: Iterable[bytes]) -> bytes:
        """Stores the public list of messages of the epoch that is being counted."""
        return self._folder.list_messages(state, listed)

    def messages(self, task: Task, epoch: int) -> Path:
        """Returns the file of this list, which exists if the epoch is published."""
        return self._folder.messages(task, epoch)

    def planned(self, state: AnalystState, acknowledged: bytes) -> None:
        """Stores a plan and its acknowledgement, and deletes the batch of choices."""
        with self._lock:
            with self._open_file.transaction() as database:
                self._write_state(state)
                database.execute(
                    "UPDATE batches SET acknowledgement = ? "
                    "WHERE task = ? AND batch_id = ?",
                    (acknowledged, state.task.identity, state.batch_id),
                )
            # Only after the database has dropped its name.
            delete_batch(self._folder.sealed(state))

    def finish(self, state: AnalystState, record: EpochRecord) -> None:
        """Stores the record of a finished epoch, and deletes its batch."""
        with self._lock:
            with self._open_file.transaction():
                self._write_state(state)
                self._write_record(state.task, record)
            # Only after the transaction that drops its name.
            delete_batch(self._folder.sealed(state))

    def epochs(self, task: Task) -> list[EpochRecord]:
        """Returns all epochs that are over, in order."""
        with self._lock:
            rows = self._open_database.execute(
                "SELECT epoch, value FROM epochs WHERE task = ? ORDER BY epoch",
                (task.identity,),
            ).fetchall()
        return [read_record(*row) for row in rows]

    def formers(self, task: Task) -> list[Former]:
        """Returns the tasks before this one, in order."""
        with self._lock:
            rows = self._open_database.execute(
                "SELECT value, after FROM formers WHERE task = ? ORDER BY place",
                (task.identity,),
            ).fetchall()
        return [Former(read_task(value), after) for value, after in rows]

    @property
    def _open_file(self) -> ExclusiveDatabase:
        if self._file is None:
            raise DataError("Expected the database to be open.")
        return self._file

    @property
    def _open_database(self) -> sqlite3.Connection:
        return self._open_file.connection

    def _begins(self, task: Task, former: Task | None) -> bool:
        """Begins a new task or replaces its predecessor; returns whether it replaced it."""
        row = self._open_database.execute(
            "SELECT digest FROM states WHERE task = ?", (task.identity,)
        ).fetchone()
        if row is None:
            if task.succeeds is not None:
                raise DataError(
                    f"Expected the database that keeps the former task {task.identity}: "
                    "what was spent is in it, and would be forgotten."
                )
            self._write_state(AnalystState.begin(task))
            return False
        stored = stored_task(row[0], (task,) if former is None else (task, former))
        if stored is task:
            return False
        before = self._state(stored)
        try:
            after = before.succeed(task)
        except Refusal as error:
            raise DataError(str(error)) from error
        with self._open_file.transaction() as database:
            self._write_state(after)
            database.execute(
                "INSERT INTO formers (task, after, value) VALUES (?, ?, ?)",
                (task.identity, after.over, stored.to_json()),
            )
            for epoch in range(before.over + 1, after.over + 1):
                skipped = EpochRecord.skipped(task, epoch, "Keys were replaced in it")
                self._write_record(task, skipped)
        return True

    def _state(self, task: Task) -> AnalystState:
        row = self._open_database.execute(
            "SELECT value FROM states WHERE task = ?", (task.identity,)
        ).fetchone()
        if row is None:
            raise DataError(f"Expected the task {task.identity} in the database.")
        return read_state(row[0], task)

    def _write_state(self, state: AnalystState) -> None:
        # The lock is held: readers of the new version wait for the new data.
        self.version += 1
        self._open_database.execute(
            "INSERT OR REPLACE INTO states VALUES (?, ?, ?)",
            (state.task.identity, state.task.digest, write_state(state)),
        )

    def _write_record(self, task: Task, record: EpochRecord) -> None:
        self.version += 1
        self._open_database.execute(
            "INSERT INTO epochs VALUES (?, ?, ?)",
            (task.identity, record.epoch, write_record(record)),
        )

    def _delete_unnamed(self, tasks: Iterable[Task]) -> None:
        rows = self._open_database.execute("SELECT task, value FROM states").fetchall()
        waiting = [
            (identity, batch_id)
            for identity, value in rows
            if (batch_id := waiting_batch(value)) is not None
        ]
        over = self._open_database.execute("SELECT task, epoch FROM epochs").fetchall()
        self._folder.delete_unnamed(waiting, over, map(self._state, tasks))
