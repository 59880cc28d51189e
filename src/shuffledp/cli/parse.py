"""Strict parsers of levels, counts, shares and values on the command line."""

import json
import math
from typing import Any

from shuffledp.arrays import without_minus_zero
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.number_text import is_lost, is_plain
from shuffledp.population import Population
from shuffledp.strict_json import check_depth, single_keys, too_deep

LEVEL_COUNTS = "EPSILON:PEOPLE,..."
LEVEL_SHARES = "EPSILON:SHARE,..."


def level_counts(text: str, option: str = "--levels") -> Population:
    """Reads "0.5:2500,1.0:5000" as a population."""
    counts = {}
    for epsilon, number in _pairs(text, LEVEL_COUNTS, option):
        # As floats first, so that 1e6 is a number of people, too.
        if number != int(number):
            raise PopulationError(
                f"Expected whole numbers of people in {option}, got {number:g}."
            )
        counts[epsilon] = int(number)
    return Population.from_counts(counts)


def level_shares(text: str) -> dict[float, float]:
    """Reads "0.5:0.25,1.0:0.75" as shares of the people."""
    return dict(_pairs(text, LEVEL_SHARES))


def level_list(text: str) -> list[float]:
    """Reads "0.5,1.0" as the levels that people may have."""
    return number_list(text, "--levels")


def number_list(text: str, option: str) -> list[float]:
    """Reads "0.5,1.0" as numbers."""
    return [_number_of(part, text, "EPSILON,...", option) for part in text.split(",")]


def number_pair(text: str, form: str, option: str) -> tuple[float, float]:
    """Reads "1.0:0.05" as two numbers."""
    pairs = _pairs(text, form, option)
    if len(pairs) > 1:
        raise InvalidInputError(f"Expected one {option} {form}, got {text!r}.")
    return pairs[0]


def value_list(text: str) -> list[Any]:
    """Reads values of any kind: as JSON, with or without its brackets, or as texts.

    >>> value_list("0, 0.5"), value_list("a b, c"), value_list('["a", 1]')
    ([0, 0.5], ['a b', 'c'], ['a', 1])

    Raises:
        InvalidInputError: If a number is not finite, too long, or would be read as 0 and is
            not; or a text holds half a character.
        DataError: If a key stands twice, or values nest too deep.
    """
    try:
        parsed = json.loads(
            f"[{text}]",
            object_pairs_hook=single_keys,
            parse_constant=_value_of,
            parse_float=_value_of,
        )
    except json.JSONDecodeError:
        return [part.strip() for part in text.split(",")]
    except RecursionError:
        raise too_deep("--values") from None
    except InvalidInputError:
        raise
    # Python reads no whole number of more than 4,300 digits.
    except ValueError as error:
        raise InvalidInputError("Expected shorter numbers as --values.") from error
    check_depth({"values": parsed}, "--values")
    try:
        json.dumps(parsed, ensure_ascii=False).encode()
    # Half a character, which no program could be asked about.
    except UnicodeEncodeError as error:
        raise InvalidInputError("Expected whole characters as --values.") from error
    # One list in brackets is the list of values, not a single value.
    is_one_list = len(parsed) == 1 and isinstance(parsed[0], list)
    values: list[Any] = parsed[0] if is_one_list else parsed
    return values


def _value_of(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidInputError(f"Expected finite numbers as --values, got {text}.")
    if is_lost(text, number):
        raise InvalidInputError(
            f"Expected --values of numbers from 5e-324, or 0, got {text}."
        )
    return number


def _pairs(text: str, form: str, option: str = "--levels") -> list[tuple[float, float]]:
    pairs = []
    for part in text.split(","):
        epsilon, colon, number = part.partition(":")
        if not colon:
            raise PopulationError(f"Expected {option} {form}, got {text!r}.")
        pairs.append(
            (
                _number_of(epsilon, text, form, option),
                _number_of(number, text, form, option),
            )
        )
    # Compared as numbers: 1 and 1.0 are one level.
    if len({epsilon for epsilon, _ in pairs}) != len(pairs):
        raise PopulationError(f"Expected each level once in {option}, got {text!r}.")
    return pairs


def _number_of(part: str, text: str, form: str, option: str) -> float:
    try:
        number = float(part) if is_plain(part) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise PopulationError(f"Expected {option} {form}, got {text!r}.")
    # A level that underflows to 0 would promise more than was asked for.
    if is_lost(part, number):
        raise PopulationError(
            f"Expected {option} {form} of numbers from 5e-324, or 0, got {text!r}."
        )
    return without_minus_zero(number)
