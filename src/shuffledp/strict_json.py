"""Strict JSON reader that refuses everything two programs could read differently.

JSON does not define the meaning of a repeated key, whether NaN is a number, and how deep
values may be nested; the reader of the standard library takes the last of two keys, and
a human reader sees the first. All of that is refused here.
"""

import codecs
import json
import math
from pathlib import Path
from typing import Any, NoReturn

from shuffledp.errors import DataError
from shuffledp.file_reading import require_file

MAX_BYTES = 50_000_000
# No format of the library nests nearly as deep, and recursion over values stays safe.
MAX_DEPTH = 64

# Characters of a file that an error repeats.
_LONGEST = 40
_MARK = codecs.BOM_UTF8.decode()


def read_json_file(path: Path, *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Reads a file that holds one JSON object, with or without a byte order mark.

    Args:
        path: The file.
        max_bytes: The largest size that is read.

    Raises:
        DataError: If it cannot be read, is larger, or holds anything else.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            file_bytes = file.read(max_bytes + 1)
    except OSError as error:
        raise DataError(f"Could not read {path}: {error.strerror}.") from error
    if len(file_bytes) > max_bytes:
        raise DataError(
            f"Expected at most {max_bytes:,} bytes in {path.name}, got more."
        )
    # Editors of some systems begin UTF-8 with a mark that JSON does not know.
    return read_json(file_bytes.removeprefix(codecs.BOM_UTF8), path.name)


def read_json(content: bytes | str, what: str) -> dict[str, Any]:
    """Reads one JSON object, of plain values.

    >>> read_json('{"level": 1.5}', "a text")
    {'level': 1.5}

    Args:
        content: In UTF-8.
        what: The name of the content in errors.

    Raises:
        DataError: If it is anything else, has a key twice, a number that is not finite or
            half a character, or nests deeper than `MAX_DEPTH`.
    """
    try:
        text = content if isinstance(content, str) else content.decode()
        if text.startswith(_MARK):
            raise DataError(f"Expected {what} to begin without a byte order mark.")
        value = json.loads(
            text,
            object_pairs_hook=single_keys,
            parse_constant=_not_finite,
            parse_float=_finite_number,
        )
        # A lone surrogate can only come from an escape; encoding raises a ValueError then.
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise too_deep(what) from None
    except ValueError as error:
        raise DataError(f"Expected {what} to hold JSON.") from error
    if not isinstance(value, dict):
        raise DataError(f"Expected {what} to hold one JSON object.")
    # Fewer brackets than MAX_DEPTH cannot nest deeper: most files skip the check.
    if text.count("[") + text.count("{") > MAX_DEPTH:
        check_depth(value, what)
    return value


def single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object's members, for `json`; raises DataError if a key stands twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"Expected every key once, got {twice[:_LONGEST]!r} twice.")
    return members


def _not_finite(name: str) -> NoReturn:
    raise DataError(f"Expected finite numbers, got {name[:_LONGEST]}.")


def _finite_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _not_finite(text)
    return number


def check_depth(value: dict[str, Any], what: str) -> None:
    """Raises DataError if values nest deeper than `MAX_DEPTH`."""
    # Layer by layer: a recursive check would itself meet Python's recursion limit.
    layer: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        children = [each.values() if isinstance(each, dict) else each for each in layer]
        layer = [
            inner
            for some in children
            for inner in some
            if isinstance(inner, dict | list)
        ]
    if layer:
        raise too_deep(what)


def too_deep(what: str) -> DataError:
    """Returns the error of content that nests deeper than `MAX_DEPTH`."""
    return DataError(f"Expected values nested at most {MAX_DEPTH} deep in {what}.")
