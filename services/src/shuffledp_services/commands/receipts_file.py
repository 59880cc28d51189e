"""The file in which senders keep the shuffler's receipts."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from shuffledp.errors import DataError


@contextmanager
def receipts_file(path: Path | None) -> Iterator[Callable[[bytes], object]]:
    """Yields a function that stores receipts in a new file.

    Raises:
        DataError: If there is a file already, or nothing can be written.
    """
    if path is None:
        yield lambda _: None
        return
    try:
        # Never over older receipts, which prove other uploads. Readable by the owner alone:
        # receipts show who took part, and which messages were theirs.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        # Unbuffered, so that an interrupted command keeps the receipts it has.
        file = os.fdopen(handle, "wb", buffering=0)
    except OSError as error:
        raise DataError(
            f"Expected to write receipts to a new file {path}: {error.strerror}."
        ) from error
    try:
        with file:
            yield file.write
    finally:
        # The shuffler accepted nothing, so there is no receipt to keep.
        if not path.stat().st_size:
            path.unlink()
