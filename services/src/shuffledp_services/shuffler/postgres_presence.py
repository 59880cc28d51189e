"""Liveness of a shuffler's processes, and the election of their leader.

Each process increments a number of its own once a second. A process that sees another's
number unchanged for ten seconds ends the other's connections: the server rolls back their
transactions and releases their locks. So a process that freezes as leader, in a hand-over,
or inside a transaction delays the others for no longer, on whichever machine it runs. If
it resumes later, it finds its connections closed, and connects again as after any loss.

Seconds are those of the observing process, counted only while it observes: the server's
clock and the time of day do not matter, and a process that was frozen itself does not
mistake its own pause for another's.
"""

import asyncio
import logging
from typing import Any

from shuffledp_services.shuffler.clock import seconds_ahead
from shuffledp_services.shuffler.postgres_sessions import (
    LEADER,
    Session,
    SharedDatabase,
)

# Silence after which the connections of a process are ended.
_SILENT_SECONDS = 10.0
# Silence after which the service reports that there is no leader.
_NOTICED_SECONDS = 5.0
# A longer interval between observations counts as this long: this process may have been
# frozen itself.
_MAX_INTERVAL = 2.0

_BEAT = """
    INSERT INTO processes VALUES ($1, 0)
    ON CONFLICT (name) DO UPDATE SET beat = processes.beat + 1
    RETURNING extract(epoch FROM clock_timestamp())::float8
"""
_END = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE application_name = $1 AND datname = current_database()
"""
_LEADERS = """
    SELECT application_name, pid = pg_backend_pid() FROM pg_locks
    JOIN pg_stat_activity USING (pid)
    JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE pg_database.datname = current_database() AND locktype = 'advisory'
    AND granted AND objsubid = 2 AND classid = $1::bigint::oid AND objid = 0
"""

_log = logging.getLogger("shuffledp_services")


class Presence:
    """Heartbeat of this process, observation of the others, and leader election.

    Attributes:
        has_leader: Whether a live process was the leader at the last `try_lead`.
        clock_ahead: Seconds that the server's clock was ahead of this machine's then.
    """

    def __init__(self, database: SharedDatabase) -> None:
        self.has_leader, self.clock_ahead = True, 0.0
        self._database, self._session = database, Session(database)
        # By name of another process: its number, and seconds for which it did not change.
        self._silent = dict[str, tuple[int, float]]()
        self._observed_at = float("-inf")

    async def close(self) -> None:
        """Disconnects, which lets another process become the leader."""
        await self._session.close()

    async def try_lead(self) -> bool:
        """Sends a heartbeat, and returns whether this process is the leader.

        Raises:
            Refusal: If the database cannot be used.
        """
        async with self._session.alone() as connection:
            # The same query returns the server's clock.
            clock = await connection.fetchval(_BEAT, self._database.process)
            self.clock_ahead = seconds_ahead(clock)
            await self._end_frozen_processes(connection)
            holder = await connection.fetchrow(_LEADERS, LEADER)
            # Advisory locks are counted: take it only once, for the connection's lifetime.
            leads = holder is not None and holder[1]
            if holder is None:
                take = "SELECT pg_try_advisory_lock($1, 0)"
                leads = bool(await connection.fetchval(take, LEADER))
        if leads or holder is None:
            self.has_leader = True
        else:
            _, silent = self._silent.get(holder[0], (0, _SILENT_SECONDS))
            self.has_leader = silent < _NOTICED_SECONDS
        return leads

    async def _end_frozen_processes(self, connection: Any) -> None:
        """Ends the connections of processes whose number stopped changing."""
        now = asyncio.get_running_loop().time()
        since, self._observed_at = min(now - self._observed_at, _MAX_INTERVAL), now
        before, self._silent = self._silent, {}
        others = await connection.fetch(
            "SELECT name, beat FROM processes WHERE name <> $1", self._database.process
        )
        for name, beat in others:
            last, silent = before.get(name, (None, 0.0))
            silent = silent + since if beat == last else 0.0
            self._silent[name] = beat, silent
            if silent >= _SILENT_SECONDS:
                # Deleted first: a process that resumes inserts its row again.
                await connection.execute("DELETE FROM processes WHERE name = $1", name)
                if await connection.fetchval(_END, name):
                    _log.error(
                        "A process of this shuffler gives no sign of life: "
                        "its connections to the database are ended."
                    )
