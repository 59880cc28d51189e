"""SQL statements on the tables of a store in PostgreSQL, run inside a transaction."""

import json
from typing import Any

from shuffledp_services.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp_services.shuffler.postgres_batch import SEALED, create_table
from shuffledp_services.shuffler.postgres_sessions import LAYOUT_CREATION, lock_step
from shuffledp_services.shuffler.store import (
    LAYOUT,
    STEP_TABLES,
    lease_conflict,
    state_conflict,
    table_name,
)
from shuffledp_services.shuffler.task_record import (
    HandoverAttempts,
    encode_attempts,
    encode_state,
    sum_refusals,
    zero_counts,
)
from shuffledp_services.wire.task import Task

# Needed by several processes, but not by a store in a file.
_PROCESS_TABLES = (
    "processes (name TEXT PRIMARY KEY, beat BIGINT NOT NULL)",
    "leases (name TEXT PRIMARY KEY, number BIGINT NOT NULL)",
)


async def ensure_layout(connection: Any) -> None:
    """Creates the layout of an empty database; checks that of another.

    Raises:
        DataError: If the database belongs to another program, or is of another version.
    """
    # Serializes two processes that start at once.
    await connection.execute("SELECT pg_advisory_xact_lock($1, 0)", LAYOUT_CREATION)
    has_meta = await connection.fetchval("SELECT to_regclass('meta') IS NOT NULL")
    if has_meta:
        row = await connection.fetchrow("SELECT owner, version FROM meta")
        LAYOUT.check(tuple(row or ("nobody", 0)))
    # A database of 0.1.0 has a table of tasks, and none that names its owner.
    elif await connection.fetchval("SELECT to_regclass('task') IS NOT NULL"):
        LAYOUT.check(None)
    else:
        for statement in LAYOUT.first:
            await connection.execute(statement)
    for table in _PROCESS_TABLES:
        await connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")


async def create_tables(connection: Any, state: ShufflerState) -> None:
    """Creates the tables of a step, if one begins."""
    if state.phase is ShufflerPhase.OPEN:
        name = table_name(state.task)
        await create_table(connection, f"marks_{name}", mark="bytea PRIMARY KEY")
        await create_table(
            connection, f"messages_{name}", pile="integer NOT NULL", content=SEALED
        )
        await create_table(
            connection,
            f"counts_{name}",
            writer="integer PRIMARY KEY",
            people="text NOT NULL",
        )


async def drop_tables(connection: Any, task: Task) -> None:
    """Drops all tables of a step: its reports, digests, counts and batch."""
    for table in STEP_TABLES:
        await connection.execute(f"DROP TABLE IF EXISTS {table}_{table_name(task)}")


async def check_state(connection: Any, state: ShufflerState) -> None:
    """Raises Refusal unless `state` is the current state."""
    current = await connection.fetchval(
        "SELECT state FROM task WHERE name = $1", table_name(state.task)
    )
    # Another process may have changed the state since it was read.
    if current != encode_state(state):
        raise state_conflict()


async def check_lease(connection: Any, task: Task, lease: int) -> None:
    """Raises Refusal unless `lease` is the latest lease."""
    # The row lock keeps others from taking the lease until the transaction ends.
    select = "SELECT number FROM leases WHERE name = $1 FOR SHARE"
    if await connection.fetchval(select, table_name(task)) != lease:
        raise lease_conflict()


async def lock_and_count(connection: Any, state: ShufflerState) -> tuple[int, ...]:
    """Locks the step against arrivals, and returns its report counts."""
    # Waits for transactions of arrivals that have begun, so that none is missing below.
    await lock_step(connection, state.task, alone=True)
    await check_state(connection, state)
    at_close = await connection.fetchval(
        "SELECT people FROM task WHERE name = $1", table_name(state.task)
    )
    more = await read_process_counts(connection, state)
    columns = zip(json.loads(at_close), *more, strict=True)
    return tuple(sum(column) for column in columns)


async def read_process_counts(connection: Any, state: ShufflerState) -> list[list[int]]:
    """Returns the report counts of each process so far."""
    # The close has moved the counts to the task's row, and dropped their table.
    if not state.is_collecting:
        return []
    rows = await connection.fetch(f"SELECT people FROM counts_{table_name(state.task)}")
    return [json.loads(text) for (text,) in rows]


async def add_counts(
    connection: Any, state: ShufflerState, writer: int, people: tuple[int, ...]
) -> None:
    """Adds to the report counts of this process, the only writer of its row."""
    counts = f"counts_{table_name(state.task)}"
    own = await connection.fetchval(
        f"SELECT people FROM {counts} WHERE writer = $1", writer
    )
    before = json.loads(own) if own else zero_counts(state)
    await connection.execute(
        # Read and written separately: no other connection writes this row.
        f"INSERT INTO {counts} VALUES ($1, $2)"
        " ON CONFLICT (writer) DO UPDATE SET people = EXCLUDED.people",
        writer,
        json.dumps([a + b for a, b in zip(before, people, strict=True)]),
    )


async def update_task_row(
    connection: Any, state: ShufflerState, people: tuple[int, ...]
) -> None:
    """Updates state and counts of a task, and resets its hand-over attempts."""
    await connection.execute(
        "UPDATE task SET state = $1, people = $2, attempts = $3 WHERE name = $4",
        encode_state(state),
        json.dumps(people),
        encode_attempts(HandoverAttempts()),
        table_name(state.task),
    )


async def add_refusals(
    connection: Any, task: Task, writer: int, more: dict[str, int]
) -> None:
    """Adds to the refusal counts of this process, the only writer of its row."""
    own = await connection.fetchval(
        "SELECT refused FROM refusals WHERE name = $1 AND writer = $2",
        table_name(task),
        writer,
    )
    await connection.execute(
        "INSERT INTO refusals VALUES ($1, $2, $3)"
        " ON CONFLICT (name, writer) DO UPDATE SET refused = EXCLUDED.refused",
        table_name(task),
        writer,
        json.dumps(sum_refusals([own or "{}", json.dumps(more)])),
    )


async def read_refusals(connection: Any, task: Task) -> list[str]:
    """Returns the refusal counts of each process, as JSON."""
    rows = await connection.fetch(
        "SELECT refused FROM refusals WHERE name = $1", table_name(task)
    )
    return [text for (text,) in rows]


async def replace_challenge(
    connection: Any, task: Task, named: bytes, following: bytes
) -> bool:
    """Compares and swaps a challenge; returns whether `named` was the current one."""
    return bool(
        await connection.fetchval(
            # Compared inside the statement: of two equal commands at once, one
            # succeeds.
            "UPDATE task SET challenge = $1 WHERE name = $2 AND challenge = $3"
            " RETURNING true",
            following.hex(),
            table_name(task),
            named.hex(),
        )
    )
