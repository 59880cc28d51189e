"""What the accountant says: for every level, a certified bound and an attack beside it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from shuffledp.errors import DataError
from shuffledp.types import Mode


@dataclass(frozen=True)
class LevelGuarantee:
    """The central guarantee of the people at one privacy level.

    Everything the analyst sees is (epsilon_central, delta_central)-differentially private
    for each of them: that is proven. It is not (epsilon_central_lower,
    delta_central_lower)-differentially private: an attack shows it. One of the two
    parameters was given, and is the same in both statements.

    Attributes:
        epsilon_local: The budget on the device, in nats.
        count: People at this level.
        hides_among: Honest people among whom each of them hides, herself included.
        slack: Which part of the certified delta, at the certified epsilon, is numerical
            caution (bounds of errors, densities bounded within cells); 0 for several
            collections.
        quantile: Which part of the population this level stands for, where there are
            too many levels to report ("minimum", "median", ...), else None.
    """

    epsilon_local: float
    count: int
    hides_among: int
    epsilon_central: float
    epsilon_central_lower: float
    delta_central: float
    delta_central_lower: float
    slack: float = 0.0
    quantile: str | None = None


@dataclass(frozen=True)
class Guarantee:
    """A certified statement about one collection, or several with the same people.

    Attributes:
        mechanism: The local randomizer.
        parameters: Its public parameters.
        mode: Whether levels travel apart from messages or with them.
        num_users: People in the collection.
        absent: How many of the others may be absent or collude, whoever they are.
        rounds: How often the collection happens.
        coordinates: How many messages, shuffled apart, each person sends in one of them.
        delta: The delta that was asked for, or None.
        epsilon: The epsilon that was asked for, or None.
        levels: One entry per level, or, for very many levels, per quantile.
        theorem: What the upper bounds rest on.
        assumptions: In plain words, what must hold for the statement to hold.
        numerics: In plain words, how the numbers are kept on the safe side.
        people: (local budget, people) of every level, or None if there are too many.
        people_digest: SHA-256 of all local budgets and counts.
        version: Of shuffledp.
    """

    mechanism: str
    parameters: dict[str, int | float | str]
    mode: Mode
    num_users: int
    absent: int
    rounds: int
    coordinates: int
    delta: float | None
    epsilon: float | None
    levels: tuple[LevelGuarantee, ...]
    theorem: str
    assumptions: tuple[str, ...]
    numerics: tuple[str, ...]
    people: tuple[tuple[float, int], ...] | None
    people_digest: str
    version: str

    @property
    def certified(self) -> bool:
        """True: nothing that is not proven is returned as a Guarantee."""
        return True

    @property
    def worst(self) -> LevelGuarantee:
        """The reported level whose people are protected least."""
        return max(
            self.levels, key=lambda level: (level.epsilon_central, level.delta_central)
        )

    def level(self, epsilon_local: float) -> LevelGuarantee:
        """Returns the entry of one local budget.

        Raises:
            KeyError: If that budget was not reported.
        """
        for level in self.levels:
            if level.epsilon_local == epsilon_local:
                return level
        raise KeyError(epsilon_local)

    def to_dict(self) -> dict[str, Any]:
        """Returns the guarantee as plain values, for JSON; `from_dict` reads it back."""
        asked = "epsilon" if self.delta is None else "delta"
        solved = "delta" if self.delta is None else "epsilon"
        return {
            "format": _FORMAT,
            "mechanism": self.mechanism,
            "parameters": self.parameters,
            "mode": self.mode,
            "certified": self.certified,
            asked: self.epsilon if self.delta is None else self.delta,
            "num_users": self.num_users,
            "absent": self.absent,
            "rounds": self.rounds,
            "coordinates": self.coordinates,
            "levels": [
                {
                    "epsilon_local": level.epsilon_local,
                    "count": level.count,
                    "hides_among": level.hides_among,
                    f"{solved}_central": getattr(level, f"{solved}_central"),
                    f"{solved}_central_lower": getattr(
                        level, f"{solved}_central_lower"
                    ),
                    "slack": level.slack,
                }
                | ({} if level.quantile is None else {"quantile": level.quantile})
                for level in self.levels
            ],
            "theorem": self.theorem,
            "assumptions": list(self.assumptions),
            "numerics": list(self.numerics),
            "people": None if self.people is None else [list(p) for p in self.people],
            "people_digest": self.people_digest,
            "version": self.version,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Guarantee":
        """Reads what `to_dict` wrote. It is not checked: `verify` recomputes it.

        Raises:
            DataError: If this is no certificate, or one of another format.
        """
        if not isinstance(record, Mapping) or record.get("format") != _FORMAT:
            raise DataError(f"Expected a certificate of format {_FORMAT!r}.")
        try:
            return _guarantee(record)
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
        ) as error:
            raise DataError(
                f"Expected a complete certificate; {type(error).__name__} at {error}."
            ) from error


_FORMAT = "shuffledp-guarantee-1"


def _guarantee(record: Mapping[str, Any]) -> Guarantee:
    asked = "delta" if "delta" in record else "epsilon"
    given = _number(record[asked])
    known = {field.name for field in fields(Guarantee)} | {"format", "certified"}
    if set(record) != known - {"epsilon" if asked == "delta" else "delta"}:
        raise ValueError("unknown or missing keys")
    if record["certified"] is not True:
        raise ValueError("certified")
    parameters = record["parameters"]
    if not isinstance(parameters, dict):
        raise TypeError("parameters")
    people = record["people"]
    mode: Mode = "stratified" if record["mode"] == "stratified" else "agnostic"
    if record["mode"] != mode:
        raise ValueError("mode")
    return Guarantee(
        mechanism=_text(record["mechanism"]),
        parameters=parameters,
        mode=mode,
        num_users=_whole(record["num_users"]),
        absent=_whole(record["absent"]),
        rounds=_whole(record["rounds"]),
        coordinates=_whole(record["coordinates"]),
        delta=given if asked == "delta" else None,
        epsilon=given if asked == "epsilon" else None,
        levels=tuple(_level(entry, asked, given) for entry in record["levels"]),
        theorem=_text(record["theorem"]),
        assumptions=tuple(_text(text) for text in record["assumptions"]),
        numerics=tuple(_text(text) for text in record["numerics"]),
        people=None
        if people is None
        else tuple((_number(level), _whole(count)) for level, count in people),
        people_digest=_text(record["people_digest"]),
        version=_text(record["version"]),
    )


def _level(entry: Mapping[str, Any], asked: str, given: float) -> LevelGuarantee:
    solved = "delta" if asked == "epsilon" else "epsilon"
    needed = {"epsilon_local", "count", "hides_among", "slack"}
    needed |= {f"{solved}_central", f"{solved}_central_lower"}
    if not needed <= set(entry) <= needed | {"quantile"}:
        raise ValueError("unknown or missing keys of a level")
    quantile = entry.get("quantile")
    slack = _number(entry["slack"])
    if slack > 1.0:
        raise ValueError("slack")
    return LevelGuarantee(
        epsilon_local=_number(entry["epsilon_local"]),
        count=_whole(entry["count"]),
        hides_among=_whole(entry["hides_among"]),
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


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a value that should be text")
    return value
