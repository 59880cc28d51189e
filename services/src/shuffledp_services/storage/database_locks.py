"""Locks on the file of a SQLite database, for one process at a time."""

import fcntl
import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

from shuffledp.errors import DataError

# Of files that SQLite has beside an open database; a full disk may keep them there.
_SUFFIXES = ("-journal", "-wal", "-shm")


class DatabaseTakenError(DataError):
    """Another service uses the database."""

    def __init__(self) -> None:
        super().__init__(
            "Expected a database that no other service uses: another process has it open."
        )


class DatabaseLocks:
    """Locks on a database and on a file beside it, until released or the process ends."""

    def __init__(self, path: Path) -> None:
        """Locks the database; creates files that are missing, for this user only.

        Args:
            path: File of the database; a lock file with the suffix ".lock" is beside it.

        Raises:
            DatabaseTakenError: If another process has it locked.
            OSError: If a file cannot be opened.
        """
        self._path = path
        self._descriptors = ExitStack()
        self._created: list[Path] = []
        # Closing any descriptor of a file drops all POSIX locks of the process on it,
        # SQLite's included: so the first lock is on another file. That file may be removed,
        # though, and the next process would create a new one: so the second lock is on the
        # database itself. On systems other than Linux that lock would exclude SQLite as
        # well.
        beside = path.with_name(f"{path.name}.lock")
        try:
            self._open(beside, locked=True)
            self._open(path, locked=sys.platform == "linux")
        except BaseException:
            self.release_and_remove()
            raise

    def release(self) -> None:
        """Releases the locks; the files stay."""
        self._descriptors.close()

    def release_and_remove(self) -> None:
        """Removes files that this process created, and releases the locks.

        For a database that could not be opened, and is closed.
        """
        # Removed before the locks are released: no other process uses the files yet.
        if self._path in self._created:
            self._created += [Path(f"{self._path}{suffix}") for suffix in _SUFFIXES]
        for path in self._created:
            with suppress(OSError):
                path.unlink()
        self._created.clear()
        self.release()

    def _open(self, path: Path, *, locked: bool) -> None:
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            is_new = True
        except FileExistsError:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            is_new = False
        self._descriptors.callback(os.close, descriptor)
        if locked:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise DatabaseTakenError from None
            # A process that could not open the database may have removed it meanwhile.
            if not _is_at(path, descriptor):
                raise DatabaseTakenError
        # Not before: another process may have been the first to lock the new file.
        if is_new:
            self._created.append(path)


def _is_at(path: Path, descriptor: int) -> bool:
    """Returns whether a path still leads to an open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
