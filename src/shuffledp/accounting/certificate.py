"""Strict reader of stored certificates."""

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, get_args

from shuffledp.accounting.guarantee import FORMAT, Guarantee, check_order
from shuffledp.accounting.statement import LevelGuarantee, RestsOn, Statement
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.identity import Identity

_KEYS = {
    "format",
    "protocol",
    "protocol_digest",
    "certified",
    "num_users",
    "absent",
    "rounds",
    "coordinates",
    "also",
    "theorem",
    "assumptions",
    "numerics",
    "people",
    "people_digest",
    "version",
}
_STATEMENT = {"about", "levels"}
_ASKED = {"delta", "epsilon"}

# Longest excerpt of a file in an error.
_LONGEST = 40


def read_certificate(record: object) -> Guarantee:
    """Reads the output of `Guarantee.to_dict` without checking it; `verify` does.

    Raises:
        DataError: If this is not a certificate, one of another format, or one whose
            levels do not rise.
    """
    format_name = record.get("format") if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or format_name != FORMAT:
        raise DataError(
            f"Expected a certificate of format {FORMAT!r}{_other(format_name)}."
        )
    missing, unknown = _KEYS - set(record), set(record) - _KEYS - _STATEMENT - _ASKED
    _check_keys(missing, unknown)
    return _guarantee(record)


def _other(given: object) -> str:
    """Returns a file's format, and the remedy, to end a sentence."""
    family, _, _ = FORMAT.rpartition("-")
    if not isinstance(given, str) or not given.startswith(f"{family}-"):
        return ""
    return (
        f", got {given[:_LONGEST]!r}: compute it again with this version, or verify it "
        "with the version of shuffledp that it names as `version`"
    )


def _guarantee(record: Mapping[str, Any]) -> Guarantee:
    main = {key: value for key, value in record.items() if key not in _KEYS}
    if record["certified"] is not True:
        raise _unfit("`certified` to be true")
    try:
        identity = Identity.from_record(record["protocol"])
    except InvalidInputError as error:
        reason = f"{error}".rstrip(".")
        raise _unfit(f"`protocol` to identify one: {reason}") from error
    if record["protocol_digest"] != identity.digest:
        raise _unfit("`protocol_digest` to be the SHA-256 of its protocol")
    stated = _statement(main)
    guarantee = Guarantee(
        protocol=identity,
        about=stated.about,
        num_users=_whole_number_of(record, "num_users"),
        absent=_whole_number_of(record, "absent"),
        rounds=_whole_number_of(record, "rounds"),
        coordinates=_whole_number_of(record, "coordinates"),
        delta=stated.delta,
        epsilon=stated.epsilon,
        levels=stated.levels,
        also=tuple(_statement(entry) for entry in _list_of(record, "also")),
        theorem=_text_of(record, "theorem"),
        assumptions=_texts_of(record, "assumptions"),
        numerics=_texts_of(record, "numerics"),
        people=None if record["people"] is None else _people_of(record),
        people_digest=_text_of(record, "people_digest"),
        version=_text_of(record, "version"),
    )
    check_order(guarantee)
    return guarantee


def _people_of(record: Mapping[str, Any]) -> tuple[tuple[float, int], ...]:
    people = []
    for pair in _list_of(record, "people"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise _unfit("`people` to list pairs of a level and a number of people")
        entry = dict(
            zip(("a level of `people`", "people of a level"), pair, strict=True)
        )
        level, count = entry
        people.append((_number_of(entry, level), _whole_number_of(entry, count)))
    return tuple(people)


def _statement(record: object) -> Statement:
    entry = _mapping(record, "also")
    # Of both keys, one is too many: the check below refuses it.
    requested = "delta" if "delta" in entry else "epsilon"
    wanted_keys = _STATEMENT | {requested}
    _check_keys(wanted_keys - set(entry), set(entry) - wanted_keys, " in a statement")
    given_number = _number_of(entry, requested)
    levels = tuple(
        _level(level, requested, given_number) for level in _list_of(entry, "levels")
    )
    if not levels:
        raise _unfit("`levels` to list at least one level")
    return Statement(
        _text_of(entry, "about"),
        given_number if requested == "delta" else None,
        given_number if requested == "epsilon" else None,
        levels,
    )


def _level(record: object, requested: str, given: float) -> LevelGuarantee:
    entry = _mapping(record, "levels")
    solved = "delta" if requested == "epsilon" else "epsilon"
    chosen_key = "target" if "target" in entry else "epsilon_local"
    needed_keys = {chosen_key, "count", "hides_among", "rests_on", "slack"}
    needed_keys |= {f"{solved}_central", f"{solved}_central_lower"}
    needed_keys |= {"epsilon_coalition", "delta_coalition"}
    _check_keys(
        needed_keys - set(entry), set(entry) - needed_keys - {"quantile"}, " in a level"
    )
    choice = _number_of(entry, chosen_key)
    for part in ("slack", "delta_coalition", "delta_central", "delta_central_lower"):
        if part in entry and _number_of(entry, part) > 1.0:
            raise _unfit(f"`{part}` to be a part, from 0 to 1")
    coalition = entry["epsilon_coalition"]
    return LevelGuarantee(
        epsilon_coalition=(
            None if coalition is None else _number_of(entry, "epsilon_coalition")
        ),
        delta_coalition=_number_of(entry, "delta_coalition"),
        epsilon_local=choice if chosen_key == "epsilon_local" else None,
        target=choice if chosen_key == "target" else None,
        count=_whole_number_of(entry, "count"),
        hides_among=_whole_number_of(entry, "hides_among"),
        rests_on=_rests_on(entry["rests_on"]),
        slack=_number_of(entry, "slack"),
        quantile=None if entry.get("quantile") is None else _text_of(entry, "quantile"),
        **{
            # Levels state what was solved for, and their statement what was given.
            f"{what}_central{end}": given
            if what == requested
            else _number_of(entry, f"{what}_central{end}")
            for what in ("epsilon", "delta")
            for end in ("", "_lower")
        },
    )


def _rests_on(value: object) -> RestsOn:
    for kind in get_args(RestsOn):
        if value == kind:
            theorem: RestsOn = kind
            return theorem
    raise _unfit(f"`rests_on` to be one of {', '.join(get_args(RestsOn))}")


def _number_of(record: Mapping[str, Any], key: str) -> float:
    value = record[key]
    # Beyond any double, whole numbers are too large, too.
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
            if math.isfinite(number) and number >= 0.0:
                return number
    raise _unfit(f"{_quoted_key(key)} to be a finite number >= 0")


def _whole_number_of(record: Mapping[str, Any], key: str) -> int:
    value = record[key]
    # The true of JSON is an int in Python.
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _unfit(f"{_quoted_key(key)} to be a whole number >= 0")
    return value


def _list_of(record: Mapping[str, Any], key: str) -> list[Any]:
    value = record[key]
    if not isinstance(value, list):
        raise _unfit(f"`{key}` to be a list")
    return value


def _mapping(value: object, key: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _unfit(f"`{key}` to list objects with keys")
    return value


def _text_of(record: Mapping[str, Any], key: str) -> str:
    value = record[key]
    if not isinstance(value, str):
        raise _unfit(f"`{key}` to be a text")
    return value


def _texts_of(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = _list_of(record, key)
    if not all(isinstance(text, str) for text in texts):
        raise _unfit(f"`{key}` to list texts")
    return tuple(texts)


def _check_keys(missing: set[str], unknown: set[str], what: str = "") -> None:
    """Raises DataError if a key is missing, or one too many."""
    if missing:
        raise _unfit(f"the key `{min(missing)}`{what}")
    if unknown:
        raise _unfit(f"no key {min(map(str, unknown))[:_LONGEST]!r}{what}")


def _quoted_key(key: str) -> str:
    return key if " " in key else f"`{key}`"


def _unfit(expected: str) -> DataError:
    return DataError(f"Expected a complete certificate, and in it {expected}.")
