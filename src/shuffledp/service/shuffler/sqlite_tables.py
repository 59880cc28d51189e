"""Statements about the tables of a step in SQLite, inside of its transactions."""

import json
import sqlite3

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.shuffler.keyed_digests import KEYED_DIGEST_SIZE
from shuffledp.service.shuffler.shard_sorter import ShardSorter, pieces
from shuffledp.service.shuffler.store import (
    MANIFEST,
    STEP_TABLES,
    Arrivals,
    SealBatch,
    state_conflict,
    table_name,
)
from shuffledp.service.shuffler.task_record import (
    HandoverAttempts,
    encode_attempts,
    encode_state,
)
from shuffledp.service.wire.task import Task

# One statement over one blob: thousands of small ones would give the interpreter's lock
# away, and wait for it, thousands of times.
_EACH = """WITH RECURSIVE each(place) AS (
    SELECT 0 WHERE ?2 > 0 UNION ALL SELECT place + 1 FROM each WHERE place + 1 < ?2
)"""
_MARK = f"substr(?1, place * {KEYED_DIGEST_SIZE} + 1, {KEYED_DIGEST_SIZE})"


def make_tables(database: sqlite3.Connection, state: ShufflerState) -> None:
    """Makes the tables of a step, if one begins."""
    if state.phase is ShufflerPhase.OPEN:
        name = table_name(state.task)
        for table in (
            f"marks_{name} (mark BLOB PRIMARY KEY) WITHOUT ROWID",
            f"messages_{name} (pile INTEGER NOT NULL, content BLOB NOT NULL)",
        ):
            database.execute(f"CREATE TABLE {table}")


def drop_tables(database: sqlite3.Connection, task: Task) -> None:
    """Forgets what a step collected, and its batch."""
    for table in STEP_TABLES:
        database.execute(f"DROP TABLE IF EXISTS {table}_{table_name(task)}")


def people_of(database: sqlite3.Connection, state: ShufflerState) -> tuple[int, ...]:
    """Returns how many reported in a step.

    Raises:
        Refusal: If the task stands elsewhere.
    """
    row = database.execute(
        "SELECT people FROM task WHERE name = ? AND state = ?",
        (table_name(state.task), encode_state(state)),
    ).fetchone()
    if row is None:
        raise state_conflict()
    return tuple(json.loads(row[0]))


def write(
    database: sqlite3.Connection, state: ShufflerState, people: tuple[int, ...]
) -> None:
    """Writes down where the task stands from now on."""
    database.execute(
        "UPDATE task SET state = ?, people = ?, attempts = ? WHERE name = ?",
        (
            encode_state(state),
            json.dumps(people),
            encode_attempts(HandoverAttempts()),
            table_name(state.task),
        ),
    )


def known_marks(
    database: sqlite3.Connection, task: Task, marks: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Returns which of k keyed digests are stored, shape (k,)."""
    found = database.execute(
        f"{_EACH} SELECT place FROM each WHERE EXISTS"
        f" (SELECT 1 FROM marks_{table_name(task)} WHERE mark = {_MARK})",
        (marks.tobytes(), len(marks)),
    ).fetchall()
    known = np.zeros(len(marks), dtype=np.bool_)
    known[[place for (place,) in found]] = True
    return known


def keep_arrivals(database: sqlite3.Connection, task: Task, arrivals: Arrivals) -> None:
    """Stores messages that came in, and their marks."""
    name = table_name(task)
    database.execute(
        f"{_EACH} INSERT INTO marks_{name} SELECT {_MARK} FROM each",
        (arrivals.marks.tobytes(), len(arrivals.marks)),
    )
    database.executemany(
        f"INSERT INTO messages_{name} VALUES (?, ?)",
        ((pile, c) for pile, c in enumerate(arrivals.piles) if c),
    )


def make_batch(
    database: sqlite3.Connection,
    state: ShufflerState,
    people: tuple[int, ...],
    seal: SealBatch,
) -> ShufflerState:
    """Replaces the messages of a step by its batch; returns the closed state.

    Args:
        database: In a transaction.
        state: The open step.
        people: Who reported in it.
        seal: Makes the manifest.
    """
    name = table_name(state.task)
    keep = f"INSERT INTO batch_{name} VALUES (?, ?, ?)"
    of_shard = f"FROM batch_{name} WHERE shard = ?"
    database.execute(
        f"CREATE TABLE batch_{name} (shard INTEGER NOT NULL,"
        " piece INTEGER NOT NULL, content BLOB NOT NULL,"
        " PRIMARY KEY (shard, piece))"
    )
    sorting = ShardSorter(state.step, people)
    for pile, content in database.execute(f"SELECT * FROM messages_{name}"):
        if sorting.add(pile, content):
            database.executemany(keep, sorting.deal())
    database.executemany(keep, sorting.deal())
    database.execute(f"DROP TABLE messages_{name}")
    database.execute(f"DROP TABLE marks_{name}")
    for place in sorting.places:
        rows = database.execute(f"SELECT content {of_shard}", (place,))
        spilled = [content for (content,) in rows]
        # The pages of what was dealt to it take what is sorted.
        database.execute(f"DELETE {of_shard}", (place,))
        database.executemany(keep, sorting.sort(place, spilled))
    after, manifest = seal(people, sorting.bits, tuple(sorting.shards))
    database.executemany(keep, pieces(MANIFEST, manifest))
    return after
