"""The MSNBC.com anonymous web data: page visits of 989,818 people on one day of 1999.

One line per visitor, with the categories (1 to 17) of the pages in the order visited.
Source: D. Heckerman, UCI Machine Learning Repository, https://doi.org/10.24432/C5390X.
"""

import gzip
import hashlib
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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
# Checksum of the unpacked text, so that it holds for either file name.
SHA256 = "982d85eb7aff1744e64d8bfadb21f53fb921b79d53b6305d4df232da59f218fe"

_CHUNK = 1 << 20
_NEWLINE, _ZERO = np.uint8(ord("\n")), np.uint8(ord("0"))


def load_msnbc(
    folder: Path | None = None, *, progress: Progress = no_progress
) -> NDArray[np.uint8]:
    """Loads the category of each visitor's first page.

    Args:
        folder: The folder of msnbc990928.seq or .seq.gz. By default the folder named by
            SHUFFLEDP_DATA; without that variable the file is downloaded once from its
            home, checked, and stored in the user's cache.
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


def load_msnbc_pages(
    folder: Path | None = None, *, progress: Progress = no_progress
) -> NDArray[np.bool_]:
    """Loads the set of categories that each visitor looked at.

    Args:
        folder: As for `load_msnbc`.
        progress: As for `load_msnbc`.

    Returns:
        One row per visitor, one column per category, shape (989818, 17).

    Raises:
        DataError: As for `load_msnbc`.
    """
    path = find(FILE_NAMES, folder)
    if path is None:
        path = _download(progress)
    return read_pages(path, sha256=SHA256, progress=progress)


def read_first_visits(
    path: Path, *, sha256: str | None, progress: Progress = no_progress
) -> NDArray[np.uint8]:
    """Reads the first number of every line below the header, less 1, as a stream.

    Args:
        path: A .seq or .seq.gz file.
        sha256: Checksum of the unpacked text, or None to skip the check.
        progress: Called with (bytes done, bytes in all).

    Raises:
        DataError: If the text is damaged, or has another checksum.
    """
    parts = _read(path, _first_numbers, sha256=sha256, progress=progress)
    first: NDArray[np.uint8] = np.concatenate(parts)
    if first.min() < 1 or first.max() > len(MSNBC_CATEGORIES):
        raise DataError(f"Expected categories from 1 to 17 in {path}.")
    return first - np.uint8(1)


def read_pages(
    path: Path, *, sha256: str | None, progress: Progress = no_progress
) -> NDArray[np.bool_]:
    """Reads the set of numbers of every line below the header, as a stream.

    Args:
        path: A .seq or .seq.gz file.
        sha256: Checksum of the unpacked text, or None to skip the check.
        progress: Called with (bytes done, bytes in all).

    Returns:
        Shape (lines, 17).

    Raises:
        DataError: If the text is damaged, or has another checksum.
    """
    pages: NDArray[np.bool_] = np.concatenate(
        _read(path, _numbers_that_occur, sha256=sha256, progress=progress)
    )
    # Column 0 marks lines with a number that is not a category.
    if pages[:, 0].any():
        raise DataError(f"Expected categories from 1 to 17 in {path}.")
    return pages[:, 1:]


def _read(
    path: Path,
    parse: Callable[[bytes], NDArray[Any]],
    *,
    sha256: str | None,
    progress: Progress,
) -> list[NDArray[Any]]:
    """Applies `parse` to all lines, and checks the checksum and that there are lines."""
    digest = hashlib.sha256()
    parts = []
    try:
        for chunk, lines in _whole_lines(path, progress):
            digest.update(chunk)
            parts.append(parse(lines))
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"Could not read {path}: {error}.") from error
    if sha256 is not None and digest.hexdigest() != sha256:
        raise DataError(
            f"Expected {path} to be the original file, but its checksum differs: "
            "delete it and download it again."
        )
    if not any(len(part) for part in parts):
        raise DataError(f"Expected visits in {path}, found none.")
    return parts


def _whole_lines(path: Path, progress: Progress) -> Iterator[tuple[bytes, bytes]]:
    """Yields (chunk as read, whole lines up to its end) of the unpacked text."""
    total, partial = path.stat().st_size, b""
    with path.open("rb") as raw:
        text = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        while chunk := text.read(_CHUNK):
            end = chunk.rfind(b"\n") + 1
            yield chunk, partial + chunk[:end] if end else b""
            # The unfinished last line is continued by the next chunk.
            partial = chunk[end:] if end else partial + chunk
            progress(raw.tell(), total)
    yield b"", partial


def _first_numbers(lines: bytes) -> NDArray[np.uint8]:
    """Returns the first number of each line that begins with a digit."""
    # Padded, so that the beginning of every line has another character after it.
    text = np.frombuffer(lines + b"\n ", dtype=np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(text[:-2] == _NEWLINE) + 1])
    first, second = text[starts] - _ZERO, text[starts + 1] - _ZERO
    # Unsigned: characters below "0" wrap around to values above 9.
    categories = np.where(second <= 9, 10 * first + second, first)
    numbers: NDArray[np.uint8] = categories[first <= 9].astype(np.uint8)
    return numbers


def _numbers_that_occur(lines: bytes) -> NDArray[np.bool_]:
    """Returns the set of numbers of each line that begins with a digit.

    Shape (lines, 18); column 0 is true if a number is not a category.
    """
    num_categories = len(MSNBC_CATEGORIES)
    # Unsigned: characters below "0" wrap around to values above 9.
    text = np.frombuffer(b"\n" + lines + b"  ", dtype=np.uint8)
    digits = text - _ZERO
    digit = digits <= 9
    starts = np.flatnonzero(digit[1:-2] & ~digit[:-3]) + 1
    second, third = digit[starts + 1], digit[starts + 2]
    categories = digits[starts].astype(np.int64)
    categories = np.where(second, 10 * categories + digits[starts + 1], categories)
    # Three digits or more are not a category.
    categories[(categories > num_categories) | (second & third)] = 0
    heads = np.flatnonzero((text[:-3] == _NEWLINE) & digit[1:-2])
    line = np.searchsorted(heads, starts) - 1
    breaks = np.flatnonzero(text == _NEWLINE)
    # Numbers in lines that begin with something else belong to no visitor.
    owner = breaks[np.searchsorted(breaks, starts) - 1]
    ours = (
        (line >= 0) & (heads[np.maximum(line, 0)] == owner) if heads.size else line > 0
    )
    occurs = np.zeros((heads.size, num_categories + 1), dtype=np.bool_)
    occurs[line[ours], categories[ours]] = True
    return occurs


def _download(progress: Progress) -> Path:
    archive = download(URL, name="msnbc.zip", progress=progress)
    name = FILE_NAMES[1]
    try:
        with zipfile.ZipFile(archive) as members:
            unpacked = Path(members.extract(name, archive.parent))
        # Before the file is moved: the cache holds original files only.
        read_first_visits(unpacked, sha256=SHA256)
        cache_folder().mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(unpacked, cache_folder() / name))
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise DataError(f"Expected {name} in {URL}: {error}.") from error
    finally:
        shutil.rmtree(archive.parent, ignore_errors=True)
