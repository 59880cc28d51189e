"""New files of keys, tokens and tasks: whole, never over others, and all or none."""

import errno
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from shuffledp.errors import DataError


@dataclass(frozen=True)
class NewFile:
    """A file that is to be written; `repr` hides its content.

    Attributes:
        path: A path without a file.
        content: Texts are written in UTF-8.
        mode: Its permissions, from the first byte.
    """

    path: Path
    content: str | bytes
    mode: int = 0o644

    def __repr__(self) -> str:
        # The content may be a key, and a representation ends up in tracebacks.
        return f"NewFile({str(self.path)!r}, ...)"


def write_new(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Writes a new file completely, or not at all.

    Raises:
        DataError: If the file exists, or cannot be written.
    """
    write_all_new([NewFile(path, content, mode)])


def write_all_new(files: Sequence[NewFile]) -> None:
    """Writes new files: all of them, or none.

    Raises:
        DataError: If one exists, or cannot be written.
    """
    beside: dict[Path, Path] = {}
    written: list[Path] = []
    path = files[0].path
    try:
        # First to temporary files beside them: a full disk or a killed process leaves no
        # part of a file under its name.
        for file in files:
            path = file.path
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
            beside[path] = temporary
            _write_synced(temporary, file)
        for path, temporary in beside.items():
            _name_file(temporary, path)
            written.append(path)
        # New names are durable only once their folders are synced, too.
        for path in written:
            sync_folder(path.parent)
    except BaseException as error:
        # Also on KeyboardInterrupt: otherwise the next attempt would be refused.
        for each in (*beside.values(), *written):
            with suppress(OSError):
                each.unlink(missing_ok=True)
        if isinstance(error, FileExistsError):
            raise DataError(
                f"Expected no file {path} yet: it is kept as it is."
            ) from None
        if isinstance(error, OSError):
            raise DataError(f"Could not write {path}: {error.strerror}.") from error
        raise


@contextmanager
def removed_on_error(paths: Sequence[Path]) -> Iterator[None]:
    """Removes new files if the work that needs them fails."""
    try:
        yield
    except BaseException:
        for path in paths:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        raise


def make_folder(folder: Path) -> None:
    """Creates a folder that only its owner can read, unless it exists.

    Raises:
        DataError: If it cannot be created.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"Could not make {folder}: {error.strerror}.") from error


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Creates a folder as `make_folder`; if the work in it fails, it is removed again.

    Raises:
        DataError: If it cannot be created.
    """
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
    except OSError as error:
        raise DataError(f"Could not make {folder}: {error.strerror}.") from error
    try:
        make_folder(folder)
        yield
    except BaseException:
        # Those that were made for it go with it, unless there is something in them.
        for path in missing:
            with suppress(OSError):
                path.rmdir()
        raise


def sync_folder(folder: Path) -> None:
    """Syncs the names in a folder to the disk, on systems that support it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _name_file(temporary: Path, path: Path) -> None:
    """Gives a written file its name, which no file has.

    Raises:
        OSError: If one has it, or it cannot be given.
    """
    try:
        # A killed process leaves all of the file under its name, or nothing. Renaming would
        # replace a file that another process made meanwhile.
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # Where file systems have no second names, O_EXCL takes the name first.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            temporary.replace(path)
        except BaseException:
            path.unlink()
            raise
    else:
        temporary.unlink()


def _write_synced(path: Path, file: NewFile) -> None:
    content = file.content
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
        stream.flush()
        os.fsync(stream.fileno())
