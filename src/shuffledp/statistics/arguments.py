"""A statistic's own options as arguments of Python, where the command line has texts."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.statistic import Option, Statistic

# What stands on the command line instead of a table.
_NO_ARGUMENTS = {"dataset"}


def checked_options(statistic: Statistic, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a statistic's own options as its rehearsal takes them; None is not given.

    Raises:
        InvalidInputError: If it has no such option, or a value is none of its kind.
    """
    own = {
        option.key: option
        for option in statistic.options
        if option.key not in _NO_ARGUMENTS
    }
    unknown = sorted(set(given) - set(own))
    if unknown:
        raise InvalidInputError(
            f"Expected of {statistic.words.name} no option but {', '.join(own)}, got "
            f"{', '.join(unknown)}."
        )
    return {
        key: _checked(own[key], value)
        for key, value in given.items()
        if value is not None
    }


def _checked(option: Option, value: Any) -> Any:
    """Returns a value of the option's kind."""
    expected, found = _KINDS[option.kind]
    checked = found(value)
    if checked is None:
        raise InvalidInputError(
            f"Expected {option.key} to be {expected}, got {value!r:.80}."
        )
    if option.choices and checked not in option.choices:
        raise InvalidInputError(
            f"Expected {option.key} to be one of {', '.join(option.choices)}, got "
            f"{value!r:.80}."
        )
    return checked


def _whole(value: Any) -> int | None:
    plain = isinstance(value, Integral) and not isinstance(value, bool)
    return int(value) if plain else None


def _number(value: Any) -> float | None:
    plain = isinstance(value, Real) and not isinstance(value, bool)
    return float(value) if plain else None


def _texts(value: Any) -> tuple[str, ...] | None:
    several = isinstance(value, Sequence) and not isinstance(value, str)
    texts = several and all(isinstance(text, str) for text in value)
    return tuple(value) if texts else None


def _path_or_texts(value: Any) -> Path | tuple[str, ...] | None:
    return Path(value) if isinstance(value, str | Path) else _texts(value)


# How each kind is called, and what makes one, or None, of a value.
_KINDS: dict[str, tuple[str, Any]] = {
    "text": ("a text", lambda value: value if isinstance(value, str) else None),
    "number": ("a number", _number),
    "whole": ("a whole number", _whole),
    "flag": ("True or False", lambda value: value if isinstance(value, bool) else None),
    "file": ("the path of a file, or a list of texts", _path_or_texts),
    "names": (
        "a whole number, or a list of texts",
        lambda value: (
            value
            if isinstance(value, str)
            else _texts(value)
            if _whole(value) is None
            else _whole(value)
        ),
    ),
}
