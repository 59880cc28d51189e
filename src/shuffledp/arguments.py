"""Checks of the kind of an argument, with errors that repeat none of its content."""

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from shuffledp.errors import InvalidInputError

Kind = TypeVar("Kind")


def expect_instance(value: object, *kinds: type[Kind]) -> Kind:
    """Returns a value of one of these classes.

    >>> expect_instance(1.5, int)
    Traceback (most recent call last):
        ...
    shuffledp.errors.InvalidInputError: Expected an int, got float.

    Raises:
        InvalidInputError: If it is of another class.
    """
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        article = "an" if names[0] in "AEIOUaeiou" else "a"
        raise InvalidInputError(
            f"Expected {article} {names}, got {type(value).__name__}."
        )
    return value


def expect_flag(value: object, what: str) -> None:
    """Raises InvalidInputError unless a parameter is True or False."""
    if not isinstance(value, bool):
        raise InvalidInputError(
            f"Expected {what} to be true or false, got {type(value).__name__}."
        )


def expect_list(
    values: object, what: str, of: str = "values", *, size: int | None = None
) -> list[Any]:
    """Returns the entries of a list, an array, or anything else that has several.

    >>> expect_list((0.5, 1.0), "targets")
    [0.5, 1.0]

    Args:
        values: The argument as passed by the caller.
        what: Its name in errors.
        of: The kind of its entries, for errors: they are not checked.
        size: How many there are; None for any number.

    Raises:
        InvalidInputError: If it has no entries, is a text, or has another size.
    """
    # An array of no dimensions has the methods of a list, and no entries.
    single = isinstance(values, str | bytes) or getattr(values, "ndim", 1) == 0
    if single or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"Expected {what} as a list of {of}, got {type(values).__name__}."
        )
    entries = list(values)
    if size is not None and len(entries) != size:
        raise InvalidInputError(f"Expected {size} {what}, got {len(entries)}.")
    return entries


def expect_mapping(value: object, what: str) -> dict[Any, Any]:
    """Returns the entries of a mapping.

    Args:
        value: The argument as passed by the caller.
        what: The entries, such as "answers by question".

    Raises:
        InvalidInputError: If it is no mapping.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"Expected {what}, got {type(value).__name__}.")
    return dict(value)


def expect_callable(value: object, what: str) -> None:
    """Raises InvalidInputError unless this can be called."""
    if not callable(value):
        raise InvalidInputError(
            f"Expected {what} to be a function, got {type(value).__name__}."
        )


def expect_path(value: object, what: str) -> Path:
    """Returns the path of a file or folder.

    >>> expect_path("report.html", "a report")
    PosixPath('report.html')

    Args:
        value: The argument as passed by the caller.
        what: What is written or read there, for errors.

    Raises:
        InvalidInputError: If it is no path, or an empty text.
    """
    if not isinstance(value, str | PathLike):
        raise InvalidInputError(
            f"Expected the path of {what}, got {type(value).__name__}."
        )
    if not str(value).strip():
        raise InvalidInputError(f"Expected the path of {what}, got an empty text.")
    return Path(value)
