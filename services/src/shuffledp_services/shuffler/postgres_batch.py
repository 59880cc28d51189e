"""Creation of a batch in PostgreSQL, and of tables that leave no copies of their values.

Messages that are dealt to shards wait in a temporary table, which is not in the write-ahead
log, is dropped when its transaction ends, and is invisible to other connections.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from shuffledp_services.collection.shuffler_state import ShufflerState
from shuffledp_services.shuffler.shard_sorter import Piece, ShardSorter, pieces
from shuffledp_services.shuffler.store import (
    MANIFEST,
    DrawDummies,
    SealBatch,
    table_name,
)

SEALED = "bytea NOT NULL"
"""The type of sealed messages."""

_PIECE = {"shard": "integer NOT NULL", "piece": "integer NOT NULL", "content": SEALED}
_UNTOUCHED = "autovacuum_enabled = false, toast.autovacuum_enabled = false"


async def create_batch(
    connection: Any,
    state: ShufflerState,
    people: tuple[int, ...],
    seal: SealBatch,
    draw: DrawDummies | None = None,
) -> ShufflerState:
    """Replaces the messages of a step by its batch; returns the closed state.

    Args:
        connection: In a transaction that locks the step against arrivals.
        state: The open step.
        people: Its report counts.
        seal: Makes the manifest.
        draw: Draws the shuffler's dummies, where it adds some.
    """
    name = table_name(state.task)
    sorter = ShardSorter(state.step, people, draw)
    await _create_spill(connection)
    # A cursor, as the messages of a large step do not fit into memory.
    rows = connection.cursor(f"SELECT * FROM messages_{name}", prefetch=16)
    async for group, content in rows:
        if sorter.add(group, content):
            await _insert_pieces(connection, "spill", sorter.deal)
    await _insert_pieces(connection, "spill", sorter.deal)
    dummies = sorter.dummies()
    # In a thread: they are drawn, and sealed, piece by piece.
    while (content := await asyncio.to_thread(next, dummies, None)) is not None:
        if sorter.add(0, content):
            await _insert_pieces(connection, "spill", sorter.deal)
    await _insert_pieces(connection, "spill", sorter.deal)
    await connection.execute(f"DROP TABLE messages_{name}, marks_{name}, counts_{name}")
    await create_table(connection, f"batch_{name}", **_PIECE)
    # The primary key is how `read_batch` finds a piece without a sequential scan.
    await connection.execute(f"ALTER TABLE batch_{name} ADD PRIMARY KEY (shard, piece)")
    for index in sorter.shard_indices:
        spilled = await connection.fetch(
            "SELECT content FROM spill WHERE shard = $1", index
        )
        contents = [content for (content,) in spilled]
        sort = partial(sorter.sort, index, contents)
        await _insert_pieces(connection, f"batch_{name}", sort)
    shards = tuple(sorter.shards)
    after, manifest = await asyncio.to_thread(seal, people, sorter.bits, shards)
    in_pieces = partial(pieces, MANIFEST, manifest)
    await _insert_pieces(connection, f"batch_{name}", in_pieces)
    return after


async def create_table(connection: Any, name: str, **columns: str) -> None:
    """Creates a table whose values are copied nowhere else in the database."""
    declarations = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    await connection.execute(
        f"CREATE TABLE {name} ({declarations}) WITH ({_UNTOUCHED})"
    )
    # No statistics, even by a manual ANALYZE; and no attempt to compress ciphertext.
    changes = [f"ALTER {column} SET STATISTICS 0" for column in columns]
    changes += [
        f"ALTER {column} SET STORAGE EXTERNAL"
        for column, kind in columns.items()
        if kind is SEALED
    ]
    await connection.execute(f"ALTER TABLE {name} {', '.join(changes)}")


async def _create_spill(connection: Any) -> None:
    """Creates the temporary table of messages that are dealt to shards."""
    columns = ", ".join(f"{column} {kind}" for column, kind in _PIECE.items())
    await connection.execute(f"CREATE TEMP TABLE spill ({columns}) ON COMMIT DROP")
    await connection.execute("ALTER TABLE spill ALTER content SET STORAGE EXTERNAL")
    await connection.execute("CREATE INDEX ON spill (shard)")


async def _insert_pieces(
    connection: Any, table: str, make: Callable[[], Iterable[Piece]]
) -> None:
    """Makes pieces in a thread, as that takes long, and inserts them."""
    made = await asyncio.to_thread(lambda: list(make()))
    if made:
        await connection.copy_records_to_table(table, records=made)
