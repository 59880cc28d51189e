"""Connections to the shuffler's PostgreSQL database, and its advisory locks.

All processes of one shuffler may use a database at once; processes of another shuffler, or
with other tasks, may not. Every connection holds a membership lock, which the server
releases when the connection ends for any reason; the connections of a frozen process are
ended by the others (`postgres_presence`).

    membership   shared by all processes that host the same tasks
    writer       the number of the count rows that are written with this connection
    leader       the process that hands over, keeps deadlines, closes full steps and
                 publishes counts
    hand-over    one attempt to hand over or drop a batch of a task; each has a number, the
                 lease, and changes that name an earlier lease are refused
    step         of a task: shared by arrivals, for one transaction; exclusive for changes
                 of the state. Locks are granted in the order of the requests: a close waits
                 for the arrivals under way, but not for later ones
"""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import asyncpg  # type: ignore[import-untyped]

from shuffledp_services.shuffler.store import LAYOUT, storage_refusal, table_name
from shuffledp_services.storage.database_locks import DatabaseTakenError
from shuffledp_services.wire.task import Task

# Classes of two-number advisory locks: "shuf" in ASCII, which no other program should use,
# and the numbers after it.
MEMBERSHIP, WRITER, LEADER, HAND_OVER, STEP, LAYOUT_CREATION = range(
    0x73687566, 0x7368756C
)

_SECONDS = 60.0
# The server may hold the locks of a lost connection a little longer.
_LOCK_SECONDS = 5.0
_POLL_SECONDS = 0.1
_SETTINGS = {
    # Whatever the server's default: a receipt promises that the report is on the disk.
    "synchronous_commit": "on",
    # A server that loses contact to a client releases its locks.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    # Without statistics the planner would guess table sizes: always use the index.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
# objsubid = 2 selects two-number locks, which are listed with their database.
_OTHER_MEMBERS = """SELECT EXISTS (
    SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE datname = current_database() AND locktype = 'advisory' AND granted
    AND objsubid = 2 AND classid = $1::bigint::oid AND objid <> $2::bigint::oid
)"""

_LEASE = """
    INSERT INTO leases VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET number = leases.number + 1 RETURNING number
"""

_log = logging.getLogger("shuffledp_services")

# The state of such a connection is unknown. TimeoutError is an OSError.
_BROKEN = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
LOST = (asyncpg.PostgresError, *_BROKEN)
"""Errors that are raised while a database cannot be used."""


class SharedDatabase:
    """Database shared by all processes of a shuffler.

    Args:
        address: postgresql://..., which may hold a password.
        tasks: All hosted tasks: processes with other tasks are refused.

    Attributes:
        process: The unique name of this process.
    """

    def __init__(self, address: str, tasks: Sequence[Task]) -> None:
        self._address = address
        # Named by every connection, so that other processes can end all of them.
        self.process = f"shuffledp-{secrets.token_hex(16)}"
        digests = b"".join(sorted(task.digest for task in tasks))
        # Processes of another version must not share the tables either.
        self._key = lock_key(digests + bytes([LAYOUT.version]))

    async def connect(self) -> Any:
        """Returns a new connection that holds the membership lock.

        Raises:
            DatabaseTakenError: If another shuffler uses the database.
        """
        connection = await asyncpg.connect(
            self._address,
            command_timeout=_SECONDS,
            server_settings={**_SETTINGS, "application_name": self.process},
        )
        try:
            await self._join(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _join(self, connection: Any) -> None:
        clock = asyncio.get_running_loop().time
        end = clock() + _LOCK_SECONDS
        while True:
            # First lock, then check for others: of two shufflers that connect at once at
            # least one sees the other.
            await connection.execute(
                "SELECT pg_advisory_lock_shared($1, $2)", MEMBERSHIP, self._key
            )
            if not await connection.fetchval(_OTHER_MEMBERS, MEMBERSHIP, self._key):
                return
            # Unlock, so that the first shuffler can connect again while this one waits.
            await connection.execute(
                "SELECT pg_advisory_unlock_shared($1, $2)", MEMBERSHIP, self._key
            )
            if clock() > end:
                raise DatabaseTakenError
            await asyncio.sleep(_POLL_SECONDS)

    @asynccontextmanager
    async def handover_lease(self, task: Task) -> AsyncIterator[int]:
        """Locks the hand-over of a task with a connection of its own; yields the lease.

        The body is cancelled if the connection is lost. Lease numbers increase.

        Raises:
            Refusal: If the database cannot be used, or fails in between.
        """
        with refusing_failures():
            connection = await self.connect()
            try:
                # Ended by `cancel`: without the connection the lock is lost.
                async with asyncio.timeout(None) as limit:

                    def cancel(_connection: object) -> None:
                        limit.reschedule(0.0)

                    take = "SELECT pg_advisory_lock($1, $2)"
                    await connection.execute(take, HAND_OVER, lock_key(task.task_id))
                    lease = await connection.fetchval(_LEASE, table_name(task))
                    # The number is committed before the body runs: earlier leases are
                    # void from here on.
                    connection.add_termination_listener(cancel)
                    try:
                        yield lease
                    finally:
                        connection.remove_termination_listener(cancel)
            finally:
                connection.terminate()


class Session:
    """Connection that one coroutine uses at a time, replaced when it is lost.

    Attributes:
        writer: The number of its count rows, unique among open connections; -1 without
            `writes`.
    """

    def __init__(self, database: SharedDatabase, *, writes: bool = False) -> None:
        self.writer = -1
        self._database, self._writes = database, writes
        self._connection: Any = None
        # asyncpg connections run one statement at a time.
        self._turn = asyncio.Lock()

    async def connect(self) -> None:
        """Connects.

        Raises:
            DatabaseTakenError: If another shuffler uses the database.
        """
        async with asyncio.timeout(_SECONDS):
            await self._connected()

    async def close(self) -> None:
        """Disconnects."""
        if self._connection is not None:
            with suppress(*LOST):
                await self._connection.close(timeout=_LOCK_SECONDS)
        self._connection = None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        """Yields the connection, in a transaction.

        Raises:
            Refusal: If the database cannot be used.
            UniqueViolationError: Passed through.
        """
        async with self._turn:
            with refusing_failures():
                connection = await self._connected()
                try:
                    async with connection.transaction():
                        yield connection
                except _BROKEN:
                    connection.terminate()
                    raise

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Any]:
        """Yields the connection, outside of any transaction.

        Raises:
            Refusal: If the database cannot be used.
        """
        async with self._turn:
            with refusing_failures():
                try:
                    yield await self._connected()
                except _BROKEN:
                    if self._connection is not None:
                        self._connection.terminate()
                    raise

    async def _connected(self) -> Any:
        if self._connection is None or self._connection.is_closed():
            connection = await self._database.connect()
            try:
                if self._writes:
                    self.writer = await _new_writer(connection)
                    # A long close must delay neither other tasks nor answers.
                    await connection.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
            except BaseException:
                connection.terminate()
                raise
            self._connection = connection
        return self._connection


async def _new_writer(connection: Any) -> int:
    number = 0
    take = "SELECT pg_try_advisory_lock($1, $2)"
    # The lowest free number, so that numbers are reused and rows stay few.
    while not await connection.fetchval(take, WRITER, number):
        number += 1
    return number


async def lock_step(connection: Any, task: Task, *, alone: bool) -> None:
    """Locks the step of a task until the transaction ends.

    Args:
        connection: In a transaction.
        task: The task.
        alone: Whether the lock is exclusive, which keeps arrivals out.
    """
    shared = "" if alone else "_shared"
    await connection.execute(
        f"SELECT pg_advisory_xact_lock{shared}($1, $2)", STEP, lock_key(task.task_id)
    )


def lock_key(content: bytes) -> int:
    """Returns 31 bits of a hash as the key of an advisory lock."""
    # Two tasks with equal keys would only wait for each other.
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big") >> 1


@contextmanager
def refusing_failures() -> Iterator[None]:
    """Converts database errors into refusals.

    Raises:
        Refusal: If the database cannot be used.
        UniqueViolationError: Passed through.
    """
    try:
        yield
    except asyncpg.UniqueViolationError:
        raise
    except DatabaseTakenError as error:
        _log.error("%s", error)
        raise storage_refusal() from None
    except LOST:
        # The error's text may quote a stored value: drop it.
        raise storage_refusal() from None
