"""SQL statements on the tables of a step in SQLite, run inside a transaction."""

import json
import sqlite3

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.shuffler.keyed_digests import KEYED_DIGEST_SIZE
from shuffledp_services.shuffler.shard_sorter import ShardSorter, pieces
from shuffledp_services.shuffler.store import (
    MANIFEST,
    STEP_TABLES,
    Arrivals,
    DrawDummies,
    SealBatch,
    state_conflict,
    table_name,
)
from shuffledp_services.shuffler.task_record import (
    HandoverAttempts,
    encode_attempts,
    encode_state,
)
from shuffledp_services.wire.task import Task

# One statement over one blob of all digests: thousands of small statements would release
# and reacquire the interpreter's lock thousands of times.
_EACH = """WITH RECURSIVE each(i) AS (
    SELECT 0 WHERE ?2 > 0 UNION ALL SELECT i + 1 FROM each WHERE i + 1 < ?2
)"""
_DIGEST = f"substr(?1, i * {KEYED_DIGEST_SIZE} + 1, {KEYED_DIGEST_SIZE})"


def create_tables(database: sqlite3.Connection, state: ShufflerState) -> None:
    """Creates the tables of a step, if one begins."""
    if state.phase is ShufflerPhase.OPEN:
        name = table_name(state.task)
        for table in (
            # Without row numbers, which would tell the order of arrival.
            f"marks_{name} (mark BLOB PRIMARY KEY) WITHOUT ROWID",
            f"messages_{name} (pile INTEGER NOT NULL, content BLOB NOT NULL)",
        ):
            database.execute(f"CREATE TABLE {table}")


def drop_tables(database: sqlite3.Connection, task: Task) -> None:
    """Drops all tables of a step: its reports, digests and batch."""
    for table in STEP_TABLES:
        database.execute(f"DROP TABLE IF EXISTS {table}_{table_name(task)}")


def read_counts(database: sqlite3.Connection, state: ShufflerState) -> tuple[int, ...]:
    """Returns the report counts of a step.

    Raises:
        Refusal: If `state` is not the current state.
    """
    row = database.execute(
        "SELECT people FROM task WHERE name = ? AND state = ?",
        (table_name(state.task), encode_state(state)),
    ).fetchone()
    if row is None:
        raise state_conflict()
    return tuple(json.loads(row[0]))


def update_task_row(
    database: sqlite3.Connection, state: ShufflerState, people: tuple[int, ...]
) -> None:
    """Updates state and counts of a task, and resets its hand-over attempts."""
    database.execute(
        "UPDATE task SET state = ?, people = ?, attempts = ? WHERE name = ?",
        (
            encode_state(state),
            json.dumps(people),
            encode_attempts(HandoverAttempts()),
            table_name(state.task),
        ),
    )


def known_digests(
    database: sqlite3.Connection, task: Task, digests: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Returns which of k keyed digests are stored, shape (k,)."""
    rows = database.execute(
        f"{_EACH} SELECT i FROM each WHERE EXISTS"
        f" (SELECT 1 FROM marks_{table_name(task)} WHERE mark = {_DIGEST})",
        (digests.tobytes(), len(digests)),
    ).fetchall()
    known = np.zeros(len(digests), dtype=np.bool_)
    known[[index for (index,) in rows]] = True
    return known


def insert_arrivals(
    database: sqlite3.Connection, task: Task, arrivals: Arrivals
) -> None:
    """Inserts accepted messages and their keyed digests."""
    name = table_name(task)
    database.execute(
        f"{_EACH} INSERT INTO marks_{name} SELECT {_DIGEST} FROM each",
        (arrivals.keyed_digests.tobytes(), len(arrivals.keyed_digests)),
    )
    database.executemany(
        f"INSERT INTO messages_{name} VALUES (?, ?)",
        ((group, c) for group, c in enumerate(arrivals.groups) if c),
    )


def create_batch(
    database: sqlite3.Connection,
    state: ShufflerState,
    people: tuple[int, ...],
    seal: SealBatch,
    draw: DrawDummies | None = None,
) -> ShufflerState:
    """Replaces the messages of a step by its batch; returns the closed state.

    Args:
        database: In a transaction.
        state: The open step.
        people: Its report counts.
        seal: Makes the manifest.
        draw: Draws the shuffler's dummies, where it adds some.
    """
    name = table_name(state.task)
    insert = f"INSERT INTO batch_{name} VALUES (?, ?, ?)"
    of_shard = f"FROM batch_{name} WHERE shard = ?"
    database.execute(
        f"CREATE TABLE batch_{name} (shard INTEGER NOT NULL,"
        " piece INTEGER NOT NULL, content BLOB NOT NULL,"
        " PRIMARY KEY (shard, piece))"
    )
    sorter = ShardSorter(state.step, people, draw)
    for group, content in database.execute(f"SELECT * FROM messages_{name}"):
        if sorter.add(group, content):
            database.executemany(insert, sorter.deal())
    database.executemany(insert, sorter.deal())
    for content in sorter.dummies():
        if sorter.add(0, content):
            database.executemany(insert, sorter.deal())
    database.executemany(insert, sorter.deal())
    # Freed before the shards are written, which reuse the pages.
    database.execute(f"DROP TABLE messages_{name}")
    database.execute(f"DROP TABLE marks_{name}")
    for index in sorter.shard_indices:
        rows = database.execute(f"SELECT content {of_shard}", (index,))
        spilled = [content for (content,) in rows]
        # Deleted first, so that the sorted pieces reuse the pages of the unsorted ones.
        database.execute(f"DELETE {of_shard}", (index,))
        database.executemany(insert, sorter.sort(index, spilled))
    after, manifest = seal(people, sorter.bits, tuple(sorter.shards))
    database.executemany(insert, pieces(MANIFEST, manifest))
    return after
