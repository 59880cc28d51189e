"""How a step's messages become a batch in PostgreSQL, and tables that tell nobody more.

What is dealt to shards waits in a temporary table: it is in no log, is gone with its
transaction, however that ends, and no other connection sees it.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from shuffledp.service.collection.shuffler_state import ShufflerState
from shuffledp.service.shuffler.shard_sorter import Piece, ShardSorter, pieces
from shuffledp.service.shuffler.store import MANIFEST, SealBatch, table_name

SEALED = "bytea NOT NULL"
"""The type of sealed messages."""

_PIECE = {"shard": "integer NOT NULL", "piece": "integer NOT NULL", "content": SEALED}
_UNTOUCHED = "autovacuum_enabled = false, toast.autovacuum_enabled = false"


async def make_batch(
    connection: Any, state: ShufflerState, people: tuple[int, ...], seal: SealBatch
) -> ShufflerState:
    """Replaces the messages of a step by its batch; returns the closed state.

    Args:
        connection: In a transaction in which nothing comes in any more.
        state: The open step.
        people: Who reported in it.
        seal: Makes the manifest.
    """
    name = table_name(state.task)
    sorting = ShardSorter(state.step, people)
    await _make_spill(connection)
    rows = connection.cursor(f"SELECT * FROM messages_{name}", prefetch=16)
    async for pile, content in rows:
        if sorting.add(pile, content):
            await _put(connection, "spill", sorting.deal)
    await _put(connection, "spill", sorting.deal)
    await connection.execute(f"DROP TABLE messages_{name}, marks_{name}, counts_{name}")
    await make_table(connection, f"batch_{name}", **_PIECE)
    await connection.execute(f"ALTER TABLE batch_{name} ADD PRIMARY KEY (shard, piece)")
    for place in sorting.places:
        spilled = await connection.fetch(
            "SELECT content FROM spill WHERE shard = $1", place
        )
        contents = [content for (content,) in spilled]
        sort = partial(sorting.sort, place, contents)
        await _put(connection, f"batch_{name}", sort)
    shards = tuple(sorting.shards)
    after, manifest = await asyncio.to_thread(seal, people, sorting.bits, shards)
    kept = partial(pieces, MANIFEST, manifest)
    await _put(connection, f"batch_{name}", kept)
    return after


async def make_table(connection: Any, name: str, **columns: str) -> None:
    """Makes a table whose values go nowhere else."""
    listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    await connection.execute(f"CREATE TABLE {name} ({listed}) WITH ({_UNTOUCHED})")
    # Nothing is gathered even if somebody asks for statistics by hand, and nobody tries to
    # compress what cannot be compressed.
    changes = [f"ALTER {column} SET STATISTICS 0" for column in columns]
    changes += [
        f"ALTER {column} SET STORAGE EXTERNAL"
        for column, kind in columns.items()
        if kind is SEALED
    ]
    await connection.execute(f"ALTER TABLE {name} {', '.join(changes)}")


async def _make_spill(connection: Any) -> None:
    """Makes a table that is in no log, and gone with its transaction, however it ends."""
    columns = ", ".join(f"{column} {kind}" for column, kind in _PIECE.items())
    await connection.execute(f"CREATE TEMP TABLE spill ({columns}) ON COMMIT DROP")
    await connection.execute("ALTER TABLE spill ALTER content SET STORAGE EXTERNAL")
    await connection.execute("CREATE INDEX ON spill (shard)")


async def _put(
    connection: Any, table: str, make: Callable[[], Iterable[Piece]]
) -> None:
    """Keeps pieces, which take a while to make."""
    made = await asyncio.to_thread(lambda: list(make()))
    if made:
        await connection.copy_records_to_table(table, records=made)
