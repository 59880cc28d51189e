"""Comparison of untrusted JSON values with those that follow, as text for a terminal."""

import math
from collections.abc import Iterator

from shuffledp_services.wire.canonical import to_number

# Another machine may sum in another order, so that only the last digits differ.
_RELATIVE_TOLERANCE, _ABSOLUTE_TOLERANCE = 1e-9, 1e-12
# Enough for a SHA-256 in quotes.
_MAX_TEXT = 70


def differences(path: str, stated: object, expected: object) -> Iterator[str]:
    """Yields the paths at which two JSON values differ."""
    if (
        isinstance(expected, dict)
        and isinstance(stated, dict)
        and set(stated) == set(expected)
    ):
        for name, value in expected.items():
            yield from differences(f"{path}, {name}", stated[name], value)
    elif (
        isinstance(expected, list)
        and isinstance(stated, list)
        and len(stated) == len(expected)
    ):
        for row, (entry, value) in enumerate(
            zip(stated, expected, strict=True), start=1
        ):
            name = value["name"] if isinstance(value, dict) else f"{row}"
            yield from differences(f"{path} {name!a}", entry, value)
    elif isinstance(expected, float) and type(stated) in (int, float):
        # JSON does not distinguish 1.0 from 1.
        number = to_number(stated, path)
        if not math.isclose(
            number, expected, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE
        ):
            yield f"{path}: it says {quoted(stated)}, and {expected!r} follows"
    # True equals 1 in Python, so that the types are compared, too.
    elif type(stated) is not type(expected) or stated != expected:
        yield f"{path}: it says {quoted(stated)}, and {quoted(expected)} follows"


def quoted(value: object) -> str:
    """Returns an untrusted value as short ASCII text, safe for a terminal."""
    text = ascii(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."


def one_line(error: Exception) -> str:
    """Returns an error's text on one line, without unprintable characters."""
    text = str(error).rstrip(".")
    return "".join(letter if letter.isprintable() else "?" for letter in text)
