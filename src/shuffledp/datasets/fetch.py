"""Search for data files in folders, and download from their home."""

import os
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from shuffledp.errors import DataError

DATA_VARIABLE = "SHUFFLEDP_DATA"
Progress = Callable[[int, int | None], None]
"""Called with (bytes done, bytes in all or None) while a file is read."""


def no_progress(_done: int, _total: int | None) -> None:
    """Ignores the progress."""


def find(names: tuple[str, ...], folder: Path | None = None) -> Path | None:
    """Returns the first existing file of these names, or None if it must be downloaded.

    Arguments and errors are those of `find_all`.
    """
    return next(iter(find_all(names, folder)), None)


def find_all(
    names: tuple[str, ...], folder: Path | None = None, *, home: str | None = None
) -> list[Path]:
    """Returns all existing files of these names, none if it must be downloaded.

    Args:
        names: File names in order of preference.
        folder: To search. By default the folder that SHUFFLEDP_DATA names or, without
            that variable, the cache of earlier downloads.
        home: Address of the file, for the error.

    Raises:
        DataError: If a folder is given, by argument or variable, that lacks the file.
    """
    variable = os.environ.get(DATA_VARIABLE)
    # A variable that is set and empty names no folder.
    chosen_folder = folder or (Path(variable) if variable else None)
    searched = chosen_folder or cache_folder()
    paths = [searched / name for name in names if (searched / name).is_file()]
    # A chosen folder without the file is an error: a download would hide a wrong name.
    if chosen_folder and not paths:
        advice = "" if home is None else f" Get it from {home}."
        raise DataError(
            f"Expected {' or '.join(names)} in {chosen_folder}, found none of them.{advice}"
        )
    return paths


def cache_folder() -> Path:
    """Returns the folder of earlier downloads."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "shuffledp"


def download(url: str, *, name: str, progress: Progress = no_progress) -> Path:
    """Downloads a file into a temporary folder; the caller moves it once it is checked.

    Raises:
        DataError: If the server cannot be reached, with the steps to do by hand.
    """
    target = Path(tempfile.mkdtemp(prefix="shuffledp-")) / name
    try:
        with (
            urllib.request.urlopen(url, timeout=60) as source,
            target.open("wb") as sink,
        ):
            length = source.headers.get("Content-Length")
            while chunk := source.read(1 << 16):
                sink.write(chunk)
                progress(sink.tell(), int(length) if length else None)
    except (urllib.error.URLError, OSError, ValueError) as error:
        shutil.rmtree(target.parent, ignore_errors=True)
        raise DataError(
            f"Could not download {url} ({error}). Download it by hand, unpack it, and "
            f"set {DATA_VARIABLE} to its folder."
        ) from error
    return target
