"""SQL statements that store accepted reports in PostgreSQL, run inside a transaction."""

import asyncio
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.shuffler.keyed_digests import KEYED_DIGEST_SIZE
from shuffledp_services.shuffler.store import SelectArrivals, table_name
from shuffledp_services.wire.task import Task

_DIGEST = f"substr($1::bytea, i * {KEYED_DIGEST_SIZE} + 1, {KEYED_DIGEST_SIZE})"


async def store_arrivals(
    connection: Any, task: Task, digests: NDArray[np.uint8], select: SelectArrivals
) -> tuple[int, ...] | None:
    """Stores the selected messages and their keyed digests.

    Args:
        connection: In a transaction.
        task: The task, whose step is open.
        digests: As in `ShufflerStore.add`.
        select: As in `ShufflerStore.add`.

    Returns:
        The counts of the stored reports; None if none was selected.

    Raises:
        UniqueViolationError: If another process stored one of the digests first.
    """
    name = table_name(task)
    # One value in each direction, not thousands.
    stored = await connection.fetchval(
        f"""
        SELECT array_agg(i) FROM generate_series(0, $2::integer - 1) AS i
        WHERE EXISTS (SELECT 1 FROM marks_{name} WHERE mark = {_DIGEST})
        """,
        digests.tobytes(),
        len(digests),
    )
    known = np.zeros(len(digests), dtype=np.bool_)
    known[stored or []] = True
    arrivals = await asyncio.to_thread(select, known)
    if not len(arrivals.keyed_digests):
        return None
    # Digests are in increasing order, so that two processes never deadlock.
    await connection.execute(
        f"""
        INSERT INTO marks_{name}
        SELECT {_DIGEST} FROM generate_series(0, $2::integer - 1) AS i
        """,
        arrivals.keyed_digests.tobytes(),
        len(arrivals.keyed_digests),
    )
    await connection.copy_records_to_table(
        f"messages_{name}",
        records=[(group, c) for group, c in enumerate(arrivals.groups) if c],
    )
    return arrivals.people
