"""Statements that store what comes in in PostgreSQL, inside of its transactions."""

import asyncio
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.shuffler.keyed_digests import KEYED_DIGEST_SIZE
from shuffledp.service.shuffler.store import SelectArrivals, table_name
from shuffledp.service.wire.task import Task

_MARK = f"substr($1::bytea, place * {KEYED_DIGEST_SIZE} + 1, {KEYED_DIGEST_SIZE})"


async def store_arrivals(
    connection: Any, task: Task, marks: NDArray[np.uint8], keep: SelectArrivals
) -> tuple[int, ...] | None:
    """Stores messages that are kept, and their marks.

    Args:
        connection: In a transaction.
        task: Whose open step they are for.
        marks: As in `ShufflerStore.add`.
        keep: Decides.

    Returns:
        How many people they are of; None if nothing is kept.

    Raises:
        UniqueViolationError: If another process was first to store some of it.
    """
    name = table_name(task)
    # One value to and fro, not thousands.
    found = await connection.fetchval(
        f"""
        SELECT array_agg(place) FROM generate_series(0, $2::integer - 1) AS place
        WHERE EXISTS (SELECT 1 FROM marks_{name} WHERE mark = {_MARK})
        """,
        marks.tobytes(),
        len(marks),
    )
    known = np.zeros(len(marks), dtype=np.bool_)
    known[found or []] = True
    arrivals = await asyncio.to_thread(keep, known)
    if not len(arrivals.marks):
        return None
    # In increasing order, so that two processes never wait for each other.
    await connection.execute(
        f"""
        INSERT INTO marks_{name}
        SELECT {_MARK} FROM generate_series(0, $2::integer - 1) AS place
        """,
        arrivals.marks.tobytes(),
        len(arrivals.marks),
    )
    await connection.copy_records_to_table(
        f"messages_{name}",
        records=[(pile, c) for pile, c in enumerate(arrivals.piles) if c],
    )
    return arrivals.people
