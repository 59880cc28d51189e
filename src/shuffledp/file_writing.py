"""Atomic writing of files, and checks that no file is replaced by accident."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.option_text import FORCE, option_text


def write_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Writes files to a folder, which is created if missing: all of them, or none.

    Args:
        folder: The folder.
        contents: Contents by names of files.

    Raises:
        DataError: If a file cannot be written.
    """
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write_atomically(
                {folder / name: content for name, content in contents.items()}
            )
        # Folders that were made for these files go with them, also on KeyboardInterrupt.
        except BaseException:
            for path in missing:
                with suppress(OSError):
                    path.rmdir()
            raise
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error


def write_file(path: Path, content: str | bytes) -> None:
    """Writes one file, whole or not at all.

    Raises:
        DataError: If it cannot be written.
    """
    write_paths({path: content})


def write_paths(contents: Mapping[Path, str | bytes]) -> None:
    """Writes files to any folders that exist: all of them, or none.

    Raises:
        DataError: If a file cannot be written.
    """
    try:
        _write_atomically(contents)
    except OSError as error:
        names = " and ".join(map(str, contents))
        raise DataError(f"Could not write {names}: {error.strerror}.") from error


def check_target(path: Path) -> None:
    """Checks that a path is free or an ordinary file.

    Raises:
        DataError: If it is a folder or a device, or may not be looked at.
    """
    # Renaming a file onto a device would replace the device itself.
    if _is_there(path) and not path.is_file():
        kind = "folder" if path.is_dir() else "device"
        raise DataError(
            f"Expected an ordinary file to write to, got the {kind} {str(path)!r}."
        )


def check_new(paths: Iterable[Path | None], *, force: bool) -> None:
    """Checks, before long computations, that files can be written and replace none.

    Args:
        paths: Of the files; None is skipped.
        force: Whether they may replace existing files.

    Raises:
        DataError: If a file exists or cannot be written, or a path is given twice.
    """
    wanted_paths = set[Path]()
    for path in paths:
        if path is None:
            continue
        # Not `Path.resolve`, which fails on links that lead round in a circle.
        real_path = Path(os.path.realpath(path))
        if real_path in wanted_paths:
            raise DataError(f"Expected a file of its own for each, got {path} twice.")
        wanted_paths.add(real_path)
        check_target(path)
        _check_not_replaced(path, force=force)
        _check_writable(path.parent)


def check_folder(
    folder: Path, *, force: bool, names: Iterable[str] | None = None
) -> None:
    """Checks, before long computations, that files can be written to a folder.

    Args:
        folder: The folder, which may not exist yet.
        force: Whether files in it may be replaced.
        names: Of files that may stand beside others; by default the folder has to be
            empty.

    Raises:
        DataError: If files would be replaced, or none can be written.
    """
    try:
        # A link that leads nowhere is no folder, and none can be made in its place.
        taken = (folder.exists() or folder.is_symlink()) and any(folder.iterdir())
        # The nearest existing folder is the one that must be writable.
        above = next(
            path for path in (folder, *folder.absolute().parents) if path.exists()
        )
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error
    _check_writable(above)
    if names is not None:
        for path in (folder / name for name in names):
            check_target(path)
            _check_not_replaced(path, force=force)
    elif taken and not force:
        raise DataError(
            option_text(
                "Expected a new or empty folder, got {}, which has files: give another "
                "name, or replace those of an earlier run with {}.",
                folder,
                FORCE,
            )
        )


def free_folder(usual: Path) -> Path:
    """Returns a missing or empty folder: the usual one, or one with a number."""
    suffix, folder = 1, usual
    while folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        suffix += 1
        folder = usual.with_name(f"{usual.name}-{suffix}")
    return folder


def _check_not_replaced(path: Path, *, force: bool) -> None:
    # A link that leads nowhere would be replaced, too.
    if (_is_there(path) or path.is_symlink()) and not force:
        raise DataError(
            option_text(
                "Expected a new file, got {}, which is there already: give another name, "
                "or replace it with {}.",
                path,
                FORCE,
            )
        )


def _is_there(path: Path) -> bool:
    """Returns whether a path leads to anything.

    Raises:
        DataError: If that cannot be told: of a name that is too long, or in a folder that
            may not be searched.
    """
    try:
        return path.exists()
    except OSError as error:
        raise DataError(f"Could not write to {path}: {error.strerror}.") from error


def _check_writable(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error


def _write_atomically(contents: Mapping[Path, str | bytes]) -> None:
    """Writes all files, or none."""
    # First to temporary files in the same folders: a full disk leaves all as it was, and
    # renaming within a folder is atomic.
    for path in contents:
        check_target(path)
    beside: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            handle, temporary = tempfile.mkstemp(
                dir=path.parent, prefix=f".{path.name}-"
            )
            beside[path] = Path(temporary)
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
            # mkstemp creates files that only their owner may read.
            beside[path].chmod(0o644)
        for path, written in beside.items():
            written.replace(path)
    # Also on KeyboardInterrupt, no temporary file stays.
    except BaseException:
        for written in beside.values():
            written.unlink(missing_ok=True)
        raise
