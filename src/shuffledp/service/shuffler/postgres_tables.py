"""Statements about the tables of a store in PostgreSQL, inside of its transactions."""

import json
from typing import Any

from shuffledp.service.collection.shuffler_state import ShufflerPhase, ShufflerState
from shuffledp.service.shuffler.postgres_batch import SEALED, make_table
from shuffledp.service.shuffler.postgres_sessions import LAYING_OUT, lock_step
from shuffledp.service.shuffler.record import (
    Attempts,
    nobody,
    write_attempts,
    write_state,
)
from shuffledp.service.shuffler.store import LAYOUT, moved, table_name


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


async def check_state(connection: Any, state: ShufflerState) -> None:
    """Raises Refusal unless the task stands there."""
    kept = await connection.fetchval(
        "SELECT state FROM task WHERE name = $1", table_name(state.task)
    )
    if kept != write_state(state):
        raise moved()


async def people_of(connection: Any, state: ShufflerState) -> tuple[int, ...]:
    """Returns who reported, once nothing comes in any more."""
    await lock_step(connection, state.task, alone=True)
    await check_state(connection, state)
    kept = await connection.fetchval(
        "SELECT people FROM task WHERE name = $1", table_name(state.task)
    )
    more = await counted(connection, state)
    return tuple(sum(each) for each in zip(json.loads(kept), *more, strict=True))


async def counted(connection: Any, state: ShufflerState) -> list[list[int]]:
    """Returns who came through each process so far."""
    if state.phase is not ShufflerPhase.OPEN:
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
    before = json.loads(own) if own else nobody(state)
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
        write_state(state),
        json.dumps(people),
        write_attempts(Attempts()),
        table_name(state.task),
    )
