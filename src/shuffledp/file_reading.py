"""Check that a path leads to a file whose reading ends."""

from pathlib import Path

from shuffledp.errors import DataError


def require_file(path: Path) -> None:
    """Checks that a path leads to an ordinary file, before it is opened.

    Raises:
        DataError: If there is none, or a folder, pipe or device.
    """
    try:
        if path.is_file():
            return
        if path.is_dir():
            instead = "a directory"
        else:
            # Opening a pipe waits for a writer, and a device may never end.
            instead = "a pipe or a device" if path.exists() else "none"
    # Such as a name that is too long, or a folder that may not be searched.
    except OSError as error:
        raise DataError(f"Could not read {path}: {error.strerror}.") from error
    raise DataError(f"Expected a file at {path}, found {instead}.")
