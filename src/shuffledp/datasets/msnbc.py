"""The MSNBC.com anonymous web data: what 989,818 visitors looked at on one day of 1999.

One line per visitor, with the categories (1 to 17) of the pages in the order visited.
Source: D. Heckerman, UCI Machine Learning Repository, https://doi.org/10.24432/C5390X.
"""

import gzip
import hashlib
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shuffledp.datasets.fetch import Progress, cache_folder, download, find, no_progress
from shuffledp.errors import DataError

MSNBC_CATEGORIES = (
    "frontpage", "news", "tech", "local", "opinion", "on-air", "misc", "weather",
    "msn-news", "health", "living", "business", "msn-sports", "sports", "summary",
    "bbs", "travel",
)  # fmt: skip

URL = "https://archive.ics.uci.edu/static/public/133/msnbc+com+anonymous+web+data.zip"
FILE_NAMES = ("msnbc990928.seq", "msnbc990928.seq.gz")
# Of the unpacked text, so that it holds for either file name.
SHA256 = "982d85eb7aff1744e64d8bfadb21f53fb921b79d53b6305d4df232da59f218fe"

_CHUNK = 1 << 20
_NEWLINE, _ZERO = np.uint8(ord("\n")), np.uint8(ord("0"))


def load_msnbc(
    folder: Path | None = None, *, progress: Progress = no_progress
) -> NDArray[np.uint8]:
    """Loads the category that each visitor looked at first.

    Args:
        folder: Where msnbc990928.seq or .seq.gz lies. By default the folder named by
            SHUFFLEDP_DATA; without that variable the file is downloaded once from its
            home, checked, and kept in the user's cache.
        progress: Called with (bytes done, bytes in all or None).

    Returns:
        Positions in MSNBC_CATEGORIES, shape (989818,).

    Raises:
        DataError: If the file is missing, cannot be downloaded, or is not the original.
    """
    path = find(FILE_NAMES, folder)
    if path is None:
        path = _download(progress)
    return read_first_visits(path, sha256=SHA256, progress=progress)


def read_first_visits(
    path: Path, *, sha256: str | None, progress: Progress = no_progress
) -> NDArray[np.uint8]:
    """Reads the first number of every line below the header, less 1, as a stream.

    Args:
        path: A .seq or .seq.gz file.
        sha256: Checksum of the unpacked text, or None to skip the check.
        progress: Called with (bytes done, bytes in all).

    Raises:
        DataError: If the text is damaged, or is not what the checksum says.
    """
    digest = hashlib.sha256()
    parts = []
    try:
        for chunk, lines in _whole_lines(path, progress):
            digest.update(chunk)
            parts.append(_first_numbers(lines))
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"Could not read {path}: {error}.") from error
    if sha256 is not None and digest.hexdigest() != sha256:
        raise DataError(
            f"Expected {path} to be the original file, but its checksum differs: "
            "delete it and download it again."
        )
    first = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint8)
    if first.size == 0:
        raise DataError(f"Expected visits in {path}, found none.")
    if first.min() < 1 or first.max() > len(MSNBC_CATEGORIES):
        raise DataError(f"Expected categories from 1 to 17 in {path}.")
    return first - np.uint8(1)


def _whole_lines(path: Path, progress: Progress) -> Iterator[tuple[bytes, bytes]]:
    """Yields (chunk as read, whole lines up to its end) of the unpacked text."""
    total, rest = path.stat().st_size, b""
    with path.open("rb") as raw:
        text = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        while chunk := text.read(_CHUNK):
            end = chunk.rfind(b"\n") + 1
            yield chunk, rest + chunk[:end] if end else b""
            rest = chunk[end:] if end else rest + chunk
            progress(raw.tell(), total)
    yield b"", rest


def _first_numbers(lines: bytes) -> NDArray[np.uint8]:
    """Returns the first number of each line that begins with a digit."""
    text = np.frombuffer(lines + b"\n ", dtype=np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(text[:-2] == _NEWLINE) + 1])
    first, second = text[starts] - _ZERO, text[starts + 1] - _ZERO
    # Unsigned: everything below "0" wraps around and is above 9, too.
    number = np.where(second <= 9, 10 * first + second, first)
    numbers: NDArray[np.uint8] = number[first <= 9].astype(np.uint8)
    return numbers


def _download(progress: Progress) -> Path:
    archive = download(URL, name="msnbc.zip", progress=progress)
    name = FILE_NAMES[1]
    try:
        with zipfile.ZipFile(archive) as members:
            unpacked = Path(members.extract(name, archive.parent))
        read_first_visits(unpacked, sha256=SHA256)
        cache_folder().mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(unpacked, cache_folder() / name))
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise DataError(f"Expected {name} in {URL}: {error}.") from error
    finally:
        shutil.rmtree(archive.parent, ignore_errors=True)
