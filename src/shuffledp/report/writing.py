"""Files appear whole or not at all, and nothing is replaced that nobody gave away."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.option_text import FORCE, option_text


def write_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Writes files to a folder, which is made if need be: all of them, or none.

    Args:
        folder: Where.
        contents: By names of files.

    Raises:
        DataError: If one cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_whole({folder / name: content for name, content in contents.items()})
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error


def write_file(path: Path, content: str | bytes) -> None:
    """Writes one file, whole or not at all.

    Raises:
        DataError: If it cannot be written.
    """
    try:
        _write_whole({path: content})
    except OSError as error:
        raise DataError(f"Could not write {path}: {error.strerror}.") from error


def check_target(path: Path) -> None:
    """Checks that nothing but an ordinary file is in the way.

    Raises:
        DataError: If there is a folder or a device of that name.
    """
    # What takes its place would replace a device itself.
    if path.exists() and not path.is_file():
        raise DataError(f"Expected an ordinary file to write to, got {path}.")


def check_new(paths: Iterable[Path | None], *, force: bool) -> None:
    """Checks before anything takes long that files can be written, and replace none.

    Args:
        paths: Where files will be; None is nowhere.
        force: Whether they may replace others.

    Raises:
        DataError: If a file is there, or cannot be written there, or two are to be one.
    """
    wanted = set[Path]()
    for path in paths:
        if path is None:
            continue
        if path.resolve() in wanted:
            raise DataError(f"Expected a file of its own for each, got {path} twice.")
        wanted.add(path.resolve())
        check_target(path)
        _refuse_replacing(path, force=force)
        _try_folder(path.parent)


def check_folder(
    folder: Path, *, force: bool, names: Iterable[str] | None = None
) -> None:
    """Checks before anything takes long that files can be written, and mix with none.

    Args:
        folder: Which is made later, if need be.
        force: Whether files that are in it may be replaced.
        names: What will be written, where it may stand beside other files; by default
            the folder has to be empty.

    Raises:
        DataError: If files are in the way, or none can be written.
    """
    try:
        there = folder.exists()
        taken = there and any(folder.iterdir())
        above = next(
            path for path in (folder, *folder.absolute().parents) if path.exists()
        )
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error
    _try_folder(above)
    if names is not None:
        for path in (folder / name for name in names):
            check_target(path)
            _refuse_replacing(path, force=force)
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
    """Returns a folder that is not there, or empty: the usual one, or a numbered one."""
    number, folder = 1, usual
    while folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        number += 1
        folder = usual.with_name(f"{usual.name}-{number}")
    return folder


def _refuse_replacing(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise DataError(
            option_text(
                "Expected a new file, got {}, which is there already: give another name, "
                "or replace it with {}.",
                path,
                FORCE,
            )
        )


def _try_folder(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(f"Could not write to {folder}: {error.strerror}.") from error


def _write_whole(contents: Mapping[Path, str | bytes]) -> None:
    """Writes all beside their places first: a full disk leaves everything as it was."""
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
            beside[path].chmod(0o644)
        for path, written in beside.items():
            written.replace(path)
    except BaseException:
        for written in beside.values():
            written.unlink(missing_ok=True)
        raise
