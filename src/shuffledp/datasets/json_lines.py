"""Checks of JSON lines for what Polars would read, and a person would not have meant.

Polars takes the first of two values of a key, and reads a number too small for double
precision as 0.
"""

import codecs
import json
import re
from io import BytesIO
from pathlib import Path

from shuffledp.errors import DataError
from shuffledp.number_text import is_lost
from shuffledp.strict_json import single_keys

# A number may be too small for double precision: 1e-400, or 0.00...
_TINY, _LOST = re.compile(rb"[eE]-0*[0-9]{3}|0{300}"), object()


def unmarked(path: Path) -> Path | BytesIO:
    """Returns a file or, if it begins with a byte order mark, its remaining bytes."""
    with path.open("rb") as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            return path
        return BytesIO(file.read())


def refuse_misread_lines(path: Path, wanted: list[str]) -> None:
    """Refuses lines that have a wanted key twice, or a number that would be read as 0.

    Args:
        path: A file that Polars has read.
        wanted: Names of the columns that are read.

    Raises:
        DataError: If there is such a line, with its number and the key.
    """
    keys = [f'"{name}"'.encode() for name in wanted]
    with path.open("rb") as file:
        # Parsing takes longer than reading did, and few lines look as if it were needed.
        for row, line in enumerate(filter(bytes.strip, file), start=1):
            if _TINY.search(line) or _may_repeat(line, keys):
                _check_line(
                    line.removeprefix(codecs.BOM_UTF8), wanted, f"row {row:,} of {path}"
                )


def _may_repeat(line: bytes, keys: list[bytes]) -> bool:
    # With a backslash, a key may be written in another way: "\u0061" is "a".
    return b"\\" in line or any(line.count(key) > 1 for key in keys)


def _check_line(line: bytes, wanted: list[str], where: str) -> None:
    try:
        values = json.loads(
            line, object_pairs_hook=single_keys, parse_float=_number_or_lost
        )
    except DataError as error:
        raise DataError(f"{str(error).removesuffix('.')} in {where}.") from error
    for name in wanted:
        if values.get(name) is _LOST:
            raise DataError(
                f"Expected numbers of at least 5e-324, or 0, in column {name!r}, got a "
                f"smaller one in {where}."
            )


def _number_or_lost(text: str) -> object:
    number = float(text)
    return _LOST if is_lost(text, number) else number
