"""Which processes of a shuffler run, and which of them tends.

Every process counts up a number of its own once a second. Another one that sees it stand
still for ten seconds ends its connections: the server rolls back what was under way, and
gives its locks to others. So a process that is frozen - while it tends, while it hands
over, inside of a transaction - holds nobody up for longer, wherever it runs. If it goes on
later, it finds its connections closed and connects again, as after any loss.

Seconds are those of the process that looks, while it looks: neither the server's clock nor
anybody's time of day matters, and who stood still itself has not seen others do so.
"""

import asyncio
import logging
from typing import Any

from shuffledp.service.shuffler.clock import seconds_ahead
from shuffledp.service.shuffler.postgres_sessions import TENDER, Session, SharedDatabase

_SILENT_SECONDS = 10.0
# Until it is said that nobody tends.
_NOTICED_SECONDS = 5.0
# A look that comes later counts as if it had come then.
_LONGEST_LOOK = 2.0

_BEAT = """
    INSERT INTO processes VALUES ($1, 0)
    ON CONFLICT (name) DO UPDATE SET beat = processes.beat + 1
    RETURNING extract(epoch FROM clock_timestamp())::float8
"""
_END = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE application_name = $1 AND datname = current_database()
"""
_TENDERS = """
    SELECT application_name, pid = pg_backend_pid() FROM pg_locks
    JOIN pg_stat_activity USING (pid)
    JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE pg_database.datname = current_database() AND locktype = 'advisory'
    AND granted AND objsubid = 2 AND classid = $1::bigint::oid AND objid = 0
"""

_log = logging.getLogger("shuffledp.service")


class Presence:
    """Shows that this process runs, watches the others, and tends if none of them does.

    Attributes:
        tended: Whether a process that gives signs of life tends, as seen last.
        clock_ahead: Seconds that the server's clock was ahead of this machine's, last.
    """

    def __init__(self, house: SharedDatabase) -> None:
        self.tended, self.clock_ahead = True, 0.0
        self._house, self._session = house, Session(house)
        # Of every other process: its number, and for how long that stood still.
        self._silent = dict[str, tuple[int, float]]()
        self._looked = float("-inf")

    async def close(self) -> None:
        """Disconnects, which lets another process tend."""
        await self._session.close()

    async def look(self) -> bool:
        """Gives a sign of life, and tells whether this process tends.

        Raises:
            Refusal: If the database cannot be used.
        """
        async with self._session.alone() as connection:
            clock = await connection.fetchval(_BEAT, self._house.process)
            self.clock_ahead = seconds_ahead(clock)
            await self._watch(connection)
            holder = await connection.fetchrow(_TENDERS, TENDER)
            # Locks are counted: it is asked for once, and held by the connection.
            tends = holder is not None and holder[1]
            if holder is None:
                take = "SELECT pg_try_advisory_lock($1, 0)"
                tends = bool(await connection.fetchval(take, TENDER))
        if tends or holder is None:
            self.tended = True
        else:
            _, silent = self._silent.get(holder[0], (0, _SILENT_SECONDS))
            self.tended = silent < _NOTICED_SECONDS
        return tends

    async def _watch(self, connection: Any) -> None:
        """Ends the connections of processes that stand still."""
        now = asyncio.get_running_loop().time()
        since, self._looked = min(now - self._looked, _LONGEST_LOOK), now
        before, self._silent = self._silent, {}
        others = await connection.fetch(
            "SELECT name, beat FROM processes WHERE name <> $1", self._house.process
        )
        for name, beat in others:
            last, silent = before.get(name, (None, 0.0))
            silent = silent + since if beat == last else 0.0
            self._silent[name] = beat, silent
            if silent >= _SILENT_SECONDS:
                await connection.execute("DELETE FROM processes WHERE name = $1", name)
                if await connection.fetchval(_END, name):
                    _log.error(
                        "A process of this shuffler gives no sign of life: "
                        "its connections to the database are ended."
                    )
