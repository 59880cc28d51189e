"""Statements about the tables of a store in PostgreSQL, inside of its transactions."""

import json
from typing import Any

from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.shuffler.postgres_batch import SEALED, make_table
from shuffledp.service.shuffler.postgres_sessions import LAYING_OUT, lock_step
from shuffledp.service.shuffler.store import (
    LAYOUT,
    STEP_TABLES,
    lease_conflict,
    state_conflict,
    table_name,
)
from shuffledp.service.shuffler.task_record import (
    HandoverAttempts,
    encode_attempts,
    encode_state,
    sum_refusals,
    zero_counts,
)
from shuffledp.service.wire.task import Task

# What several processes need, and one in a file does not.
_OF_PROCESSES = (
    "processes (name TEXT PRIMARY KEY, beat BIGINT NOT NULL)",
    "leases (name TEXT PRIMARY KEY, number BIGINT NOT NULL)",
)


async def check_layout(connection: Any) -> None:
    """Lays out an empty database.

    Raises:
        DataError: If it is another one's, or of another version.
    """
    # Of two processes that come at once, one lays it out.
    await connection.execute("SELECT pg_advisory_xact_lock($1, 0)", LAYING_OUT)
    known = await connection.fetchval("SELECT to_regclass('meta') IS NOT NULL")
    if known:
        row = await connection.fetchrow("SELECT owner, version FROM meta")
        LAYOUT.check(tuple(row or ("nobody", 0)))
    elif await connection.fetchval("SELECT to_regclass('task') IS NOT NULL"):
        LAYOUT.check(None)
    else:
        for statement in LAYOUT.first:
            await connection.execute(statement)
    for table in _OF_PROCESSES:
        await connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")


async def make_tables(connection: Any, state: ShufflerState) -> None:
    """Makes the tables of a step, if one begins."""
    if state.phase is ShufflerPhase.OPEN:
        name = table_name(state.task)
        await make_table(connection, f"marks_{name}", mark="bytea PRIMARY KEY")
        await make_table(
            connection, f"messages_{name}", pile="integer NOT NULL", content=SEALED
        )
        await make_table(
            connection,
            f"counts_{name}",
            writer="integer PRIMARY KEY",
            people="text NOT NULL",
        )


async def drop_tables(connection: Any, task: Task) -> None:
    """Forgets what a step collected, and its batch."""
    for table in STEP_TABLES:
        await connection.execute(f"DROP TABLE IF EXISTS {table}_{table_name(task)}")


async def check_state(connection: Any, state: ShufflerState) -> None:
    """Raises Refusal unless the task stands there."""
    kept = await connection.fetchval(
        "SELECT state FROM task WHERE name = $1", table_name(state.task)
    )
    if kept != encode_state(state):
        raise state_conflict()


async def check_lease(connection: Any, task: Task, lease: int) -> None:
    """Raises Refusal unless it is the last one; keeps others out of the transaction."""
    select = "SELECT number FROM leases WHERE name = $1 FOR SHARE"
    if await connection.fetchval(select, table_name(task)) != lease:
        raise lease_conflict()


async def people_of(connection: Any, state: ShufflerState) -> tuple[int, ...]:
    """Returns how many reported, once nothing comes in any more."""
    await lock_step(connection, state.task, alone=True)
    await check_state(connection, state)
    kept = await connection.fetchval(
        "SELECT people FROM task WHERE name = $1", table_name(state.task)
    )
    more = await counted(connection, state)
    return tuple(sum(each) for each in zip(json.loads(kept), *more, strict=True))


async def counted(connection: Any, state: ShufflerState) -> list[list[int]]:
    """Returns how many came through each process so far."""
    if not state.is_collecting:
        return []
    rows = await connection.fetch(f"SELECT people FROM counts_{table_name(state.task)}")
    return [json.loads(text) for (text,) in rows]


async def count(
    connection: Any, state: ShufflerState, writer: int, people: tuple[int, ...]
) -> None:
    """Adds to the numbers of a process; nobody else writes them."""
    counts = f"counts_{table_name(state.task)}"
    own = await connection.fetchval(
        f"SELECT people FROM {counts} WHERE writer = $1", writer
    )
    before = json.loads(own) if own else zero_counts(state)
    await connection.execute(
        f"INSERT INTO {counts} VALUES ($1, $2)"
        " ON CONFLICT (writer) DO UPDATE SET people = EXCLUDED.people",
        writer,
        json.dumps([a + b for a, b in zip(before, people, strict=True)]),
    )


async def write(connection: Any, state: ShufflerState, people: tuple[int, ...]) -> None:
    """Writes down where the task stands from now on."""
    await connection.execute(
        "UPDATE task SET state = $1, people = $2, attempts = $3 WHERE name = $4",
        encode_state(state),
        json.dumps(people),
        encode_attempts(HandoverAttempts()),
        table_name(state.task),
    )


async def count_refused(
    connection: Any, task: Task, writer: int, more: dict[str, int]
) -> None:
    """Adds to the numbers of refusals of a process; nobody else writes them."""
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


async def refused_counts(connection: Any, task: Task) -> list[str]:
    """Returns the numbers of refusals of each process, as JSON."""
    rows = await connection.fetch(
        "SELECT refused FROM refusals WHERE name = $1", table_name(task)
    )
    return [text for (text,) in rows]


async def replace_challenge(
    connection: Any, task: Task, named: bytes, following: bytes
) -> bool:
    """Replaces what the operator's next command names; returns whether it was `named`."""
    return bool(
        await connection.fetchval(
            "UPDATE task SET challenge = $1 WHERE name = $2 AND challenge = $3"
            " RETURNING true",
            following.hex(),
            table_name(task),
            named.hex(),
        )
    )
