"""Certificates that were written down, read back strictly."""

import math
from collections.abc import Mapping
from typing import Any, get_args

from shuffledp.accounting.guarantee import FORMAT, Guarantee
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


def read_certificate(record: object) -> Guarantee:
    """Reads what `Guarantee.to_dict` wrote. It is not checked: `verify` recomputes it.

    Raises:
        DataError: If this is no certificate, or one of another format.
    """
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        raise DataError(f"Expected a certificate of format {FORMAT!r}.")
    try:
        return _guarantee(record)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        InvalidInputError,
    ) as error:
        raise DataError(
            f"Expected a complete certificate; {type(error).__name__} at {error}."
        ) from error


def _guarantee(record: Mapping[str, Any]) -> Guarantee:
    main = {key: value for key, value in record.items() if key not in _KEYS}
    if not set(record) >= _KEYS:
        raise ValueError("missing keys")
    if record["certified"] is not True:
        raise ValueError("certified")
    identity = Identity.from_record(record["protocol"])
    if record["protocol_digest"] != identity.digest:
        raise ValueError("protocol_digest")
    people = record["people"]
    stated = _statement(main)
    if not stated.levels:
        raise ValueError("levels")
    return Guarantee(
        protocol=identity,
        about=stated.about,
        num_users=_whole(record["num_users"]),
        absent=_whole(record["absent"]),
        rounds=_whole(record["rounds"]),
        coordinates=_whole(record["coordinates"]),
        delta=stated.delta,
        epsilon=stated.epsilon,
        levels=stated.levels,
        also=tuple(_statement(entry) for entry in _list(record["also"])),
        theorem=_text(record["theorem"]),
        assumptions=tuple(_text(text) for text in _list(record["assumptions"])),
        numerics=tuple(_text(text) for text in _list(record["numerics"])),
        people=None
        if people is None
        else tuple((_number(level), _whole(count)) for level, count in _list(people)),
        people_digest=_text(record["people_digest"]),
        version=_text(record["version"]),
    )


def _statement(record: Mapping[str, Any]) -> Statement:
    asked = "delta" if "delta" in record else "epsilon"
    if set(record) != {"about", asked, "levels"}:
        raise ValueError("unknown or missing keys")
    given = _number(record[asked])
    return Statement(
        _text(record["about"]),
        given if asked == "delta" else None,
        given if asked == "epsilon" else None,
        tuple(_level(entry, asked, given) for entry in _list(record["levels"])),
    )


def _level(entry: Mapping[str, Any], asked: str, given: float) -> LevelGuarantee:
    solved = "delta" if asked == "epsilon" else "epsilon"
    chosen = "target" if "target" in entry else "epsilon_local"
    needed = {chosen, "count", "hides_among", "rests_on", "slack"}
    needed |= {f"{solved}_central", f"{solved}_central_lower"}
    if not needed <= set(entry) <= needed | {"quantile"}:
        raise ValueError("unknown or missing keys of a level")
    quantile = entry.get("quantile")
    slack, choice = _number(entry["slack"]), _number(entry[chosen])
    if slack > 1.0:
        raise ValueError("slack")
    return LevelGuarantee(
        epsilon_local=choice if chosen == "epsilon_local" else None,
        target=choice if chosen == "target" else None,
        count=_whole(entry["count"]),
        hides_among=_whole(entry["hides_among"]),
        rests_on=_rests_on(entry["rests_on"]),
        slack=slack,
        quantile=None if quantile is None else _text(quantile),
        **{
            f"{what}_central{end}": given
            if what == asked
            else _number(entry[f"{what}_central{end}"])
            for what in ("epsilon", "delta")
            for end in ("", "_lower")
        },
    )


def _rests_on(value: object) -> RestsOn:
    for known in get_args(RestsOn):
        if value == known:
            found: RestsOn = known
            return found
    raise ValueError("rests_on")


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a value that should be a number")
    number = float(value)
    if not (math.isfinite(number) and number >= 0.0):
        raise ValueError("a number that should be finite and >= 0")
    return number


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("a value that should be a whole number")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a value that should be a list")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a value that should be text")
    return value
