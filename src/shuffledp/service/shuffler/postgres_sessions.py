"""Connections to the shuffler's PostgreSQL database, and what is locked there.

All processes of one shuffler may use a database at once; those of another one, or with
other tasks, may not. Whoever is there holds a lock with each connection, which the server
takes back when the connection ends, however that is; those of a process that is frozen are
ended by the others (`postgres_presence`):

    house        shared by all processes that host the same tasks
    writer       whose rows of numbers are written with this connection
    tender       which process hands over, keeps deadlines, closes by itself, shows numbers
    hand-over    one attempt to hand over a batch of a task, or to drop it; each has a
                 number, the lease, and what names an earlier one is refused
    step         of a task: shared by what comes in, for a transaction; alone by what
                 changes where the task stands. Locks are given in the order in which they
                 are asked for: a close waits for what is under way, not for what follows
"""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from shuffledp.extras import require
from shuffledp.service.shuffler.store import LAYOUT, storage_refusal, table_name
from shuffledp.service.storage.database import DatabaseTakenError
from shuffledp.service.wire.task import Task

require("asyncpg", extra="service", what="A store in PostgreSQL")

import asyncpg  # type: ignore[import-untyped]  # noqa: E402

# "shuf", as a number that nobody else locks, and what follows it.
HOUSE, WRITER, TENDER, HAND_OVER, STEP, LAYING_OUT = range(0x73687566, 0x7368756C)

_SECONDS = 60.0
# What is left of a connection that was lost holds its locks a little longer.
_LOCK_SECONDS = 5.0
_POLL_SECONDS = 0.1
_SETTINGS = {
    # Whatever the server's default is: a receipt is for what is on the disk.
    "synchronous_commit": "on",
    # A server that does not hear from us any more gives the locks back.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    # Tables without statistics are read through their index, however large they seem.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
}
# Locks of two numbers are shown with the database that they are in.
_OTHERS = """SELECT EXISTS (
    SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
    WHERE datname = current_database() AND locktype = 'advisory' AND granted
    AND objsubid = 2 AND classid = $1::bigint::oid AND objid <> $2::bigint::oid
)"""

_LEASE = """
    INSERT INTO leases VALUES ($1, 1)
    ON CONFLICT (name) DO UPDATE SET number = leases.number + 1 RETURNING number
"""

_log = logging.getLogger("shuffledp.service")

# Nobody knows what such a connection is doing now. TimeoutError is an OSError.
_BROKEN = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
LOST = (asyncpg.PostgresError, *_BROKEN)
"""What is raised while a database cannot be used."""


class SharedDatabase:
    """The database of a shuffler.

    Args:
        address: postgresql://..., which may hold a password.
        tasks: All that are hosted: whoever hosts others does not come in.

    Attributes:
        process: A name that no other process has.
    """

    def __init__(self, address: str, tasks: Sequence[Task]) -> None:
        self._address = address
        # Named by every connection, so that other processes can end all of them.
        self.process = f"shuffledp-{secrets.token_hex(16)}"
        digests = b"".join(sorted(task.digest for task in tasks))
        self._key = lock_key(digests + bytes([LAYOUT.version]))

    async def connect(self) -> Any:
        """Returns a new connection, which has a share of the house.

        Raises:
            DatabaseTakenError: If another shuffler is there.
        """
        connection = await asyncpg.connect(
            self._address,
            command_timeout=_SECONDS,
            server_settings={**_SETTINGS, "application_name": self.process},
        )
        try:
            await self._enter(connection)
        except BaseException:
            connection.terminate()
            raise
        return connection

    async def _enter(self, connection: Any) -> None:
        clock = asyncio.get_running_loop().time
        end = clock() + _LOCK_SECONDS
        while True:
            # Taken first and looked around then: of two that come at once at least one
            # sees the other.
            await connection.execute(
                "SELECT pg_advisory_lock_shared($1, $2)", HOUSE, self._key
            )
            if not await connection.fetchval(_OTHERS, HOUSE, self._key):
                return
            # Whoever was here first must not find anybody when it connects again.
            await connection.execute(
                "SELECT pg_advisory_unlock_shared($1, $2)", HOUSE, self._key
            )
            if clock() > end:
                raise LAYOUT.taken
            await asyncio.sleep(_POLL_SECONDS)

    @asynccontextmanager
    async def handover_lease(self, task: Task) -> AsyncIterator[int]:
        """Holds the lock of a task's hand-over, with a connection of its own.

        What is done inside of this is given up should the connection be lost. Gives the
        number of the lease, which is larger than any before it.

        Raises:
            Refusal: If the database cannot be used, or not any more.
        """
        with guarded():
            connection = await self.connect()
            try:
                async with asyncio.timeout(None) as limit:

                    def give_up(_connection: object) -> None:
                        limit.reschedule(0.0)

                    take = "SELECT pg_advisory_lock($1, $2)"
                    await connection.execute(take, HAND_OVER, lock_key(task.task_id))
                    lease = await connection.fetchval(_LEASE, table_name(task))
                    connection.add_termination_listener(give_up)
                    try:
                        yield lease
                    finally:
                        connection.remove_termination_listener(give_up)
            finally:
                connection.terminate()


class Session:
    """A connection that is used by one at a time, and replaced when it is lost.

    Attributes:
        writer: A number that no other connection has while this one lives; -1 if it was
            not asked for.
    """

    def __init__(self, house: SharedDatabase, *, writes: bool = False) -> None:
        self.writer = -1
        self._house, self._writes = house, writes
        self._connection: Any = None
        self._turn = asyncio.Lock()

    async def connect(self) -> None:
        """Connects.

        Raises:
            DatabaseTakenError: If another shuffler is there.
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
        """Gives the connection, in a transaction.

        Raises:
            Refusal: If the database cannot be used.
            UniqueViolationError: As it comes.
        """
        async with self._turn:
            with guarded():
                connection = await self._connected()
                try:
                    async with connection.transaction():
                        yield connection
                except _BROKEN:
                    connection.terminate()
                    raise

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Any]:
        """Gives the connection, outside of any transaction.

        Raises:
            Refusal: If the database cannot be used.
        """
        async with self._turn:
            with guarded():
                try:
                    yield await self._connected()
                except _BROKEN:
                    if self._connection is not None:
                        self._connection.terminate()
                    raise

    async def _connected(self) -> Any:
        if self._connection is None or self._connection.is_closed():
            connection = await self._house.connect()
            try:
                if self._writes:
                    self.writer = await _new_writer(connection)
                    # A close that takes long holds up neither other tasks nor answers.
                    await connection.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
            except BaseException:
                connection.terminate()
                raise
            self._connection = connection
        return self._connection


async def _new_writer(connection: Any) -> int:
    number = 0
    take = "SELECT pg_try_advisory_lock($1, $2)"
    while not await connection.fetchval(take, WRITER, number):
        number += 1
    return number


async def lock_step(connection: Any, task: Task, *, alone: bool) -> None:
    """Locks the step of a task until the transaction ends.

    Args:
        connection: In a transaction.
        task: Which.
        alone: Whether nothing else may come in meanwhile.
    """
    shared = "" if alone else "_shared"
    await connection.execute(
        f"SELECT pg_advisory_xact_lock{shared}($1, $2)", STEP, lock_key(task.task_id)
    )


def lock_key(content: bytes) -> int:
    """Returns 31 bits of a hash: two that are equal wait for each other in vain."""
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big") >> 1


@contextmanager
def guarded() -> Iterator[None]:
    """Turns what a database raises into a refusal.

    Raises:
        Refusal: If it cannot be used.
        UniqueViolationError: As it comes.
    """
    try:
        yield
    except asyncpg.UniqueViolationError:
        raise
    except DatabaseTakenError as error:
        _log.error("%s", error)
        raise storage_refusal() from None
    except LOST:
        # Its text may quote a value, so it is not passed on.
        raise storage_refusal() from None
