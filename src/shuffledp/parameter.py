"""A parameter of a statistic, of a question or of a mechanism, described once.

Command lines, keyword arguments in Python, tasks on the wire and help texts follow from
these descriptions: none of them knows a statistic or a mechanism by its name.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, TypeAlias

from shuffledp.arrays import without_minus_zero
from shuffledp.asked_question import FormQuestion, asked_questions
from shuffledp.errors import InvalidInputError

Kind: TypeAlias = Literal[
    "whole number",
    "number",
    "text",
    "texts",
    "flag",
    "file",
    "names",
    "mechanism",
    "questions",
    "described questions",
]


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        name: In Python and on the wire, such as "set_size".
        kind: "texts" are different from each other, and given one by one on a command
            line; "names" are those of categories, or how many categories there are; a
            "file" may also be given as its lines; a "mechanism" is one of the choices,
            or one with parameters, such as "laplace(cells=100)"; "questions" come from a
            file, see `asked_question`; "described questions" of any kind, too, or from a
            mapping or a list: a statistic reads them.
        help: One sentence, without its period.
        metavar: Stands for the value in help texts.
        choices: The texts it may be, the default first, or () for any.
        least: Of numbers the smallest, of texts how many at least.
        most: As `least`.
        default: Used if nothing is given; None if the statistic or mechanism decides.
        required: Whether every question states it.
        in_python: Whether it is a keyword argument, too; otherwise only an option.
        in_mechanism: Of a question, whether it is a parameter of the mechanism: a command
            line takes it there.
        option: Its name on a command line, without dashes; by default that of Python.
    """

    name: str
    kind: Kind
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: float = -math.inf
    most: float = math.inf
    default: int | float | str | None = None
    required: bool = True
    in_python: bool = True
    in_mechanism: bool = False
    option: str = ""

    def __post_init__(self) -> None:
        if not self.option:
            object.__setattr__(self, "option", self.name.replace("_", "-"))

    @property
    def expected(self) -> str:
        """The values it may have, for people.

        >>> Parameter("set_size", "whole number", "Items per person", least=1).expected
        'a whole number from 1'
        """
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        low = "" if self.least == -math.inf else f" from {self.least:g}"
        high = "" if self.most == math.inf else f" to {self.most:,g}"
        if self.kind == "texts":
            return f"{self.least:g} to {self.most:,g} different texts"
        return f"{_EXPECTED[self.kind]}{low}{high}"

    def has_choice(self, value: object) -> bool:
        """Returns whether a value is one of the choices, if there are any."""
        if self.kind == "mechanism" and isinstance(value, str):
            # A mechanism may have parameters: "laplace(cells=100)" is the choice
            # "laplace".
            value = value.partition("(")[0].strip()
        return not self.choices or value in self.choices

    def checked(self, value: object) -> Any:
        """Returns a value of this kind; numbers are finite.

        >>> Parameter("low", "number", "Smallest value").checked(0)
        0.0

        Raises:
            InvalidInputError: If it is of another kind, out of range, or no choice.
        """
        converted = _CONVERTERS[self.kind](value)
        # Of texts, `least` and `most` bound their number; of numbers, the value.
        size = len(converted) if isinstance(converted, tuple) else converted
        ranged = isinstance(size, int | float)
        if (
            converted is None
            or not self.has_choice(converted)
            or (ranged and not self.least <= size <= self.most)
        ):
            # Public, so the error repeats it; cut, as it may be a long list of names.
            raise InvalidInputError(
                f"Expected {self.name} to be {self.expected}, got {value!r:.80}."
            )
        return converted

    @staticmethod
    def plain(value: Any) -> Any:
        """Returns a checked value as JSON has it: the inverse of `checked`.

        >>> Parameter.plain(("red", "blue"))
        ['red', 'blue']
        """
        if isinstance(value, tuple):
            return [Parameter.plain(entry) for entry in value]
        return value.to_dict() if isinstance(value, FormQuestion) else value


def _as_whole_number(value: object) -> int | None:
    # True is an Integral, too.
    plain = isinstance(value, Integral) and not isinstance(value, bool)
    return int(value) if plain else None  # type: ignore[call-overload]


def _as_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        # Minus zero would be another protocol.
        return without_minus_zero(float(value)) if math.isfinite(value) else None
    except OverflowError:  # A whole number beyond all floats.
        return None


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _as_texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    texts = all(isinstance(text, str) for text in value)
    # In this order: entries that are not texts may have no hash.
    return tuple(value) if texts and len(set(value)) == len(value) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _path_or_texts(value: object) -> Path | tuple[str, ...] | None:
    return Path(value) if isinstance(value, str | Path) else _any_texts(value)


def _described(value: object) -> object:
    if isinstance(value, str | Path):
        return Path(value)
    return value if isinstance(value, Mapping | Sequence) else None


def _as_names(value: object) -> int | str | tuple[str, ...] | None:
    # As on a command line; `category_names` tells numbers from names.
    if isinstance(value, str):
        return value
    count = _as_whole_number(value)
    return _any_texts(value) if count is None else count


def _any_texts(value: object) -> tuple[str, ...] | None:
    """Returns texts, which may be equal; None for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    # Equal texts are left to the readers, which refuse them.
    return tuple(value) if all(isinstance(text, str) for text in value) else None


_EXPECTED: dict[Kind, str] = {
    "whole number": "a whole number",
    "number": "a number",
    "text": "a text",
    "flag": "True or False",
    "file": "the path of a file, or a list of texts",
    "names": "a whole number, or a list of texts",
    "mechanism": "a mechanism as a text",
    "questions": "a list of questions with their answers",
    "described questions": "the path of a TOML file, a mapping, or a list of questions",
}
_CONVERTERS: dict[Kind, Any] = {
    "whole number": _as_whole_number,
    "number": _as_number,
    "text": _as_text,
    "texts": _as_texts,
    "flag": _flag,
    "file": _path_or_texts,
    "names": _as_names,
    "mechanism": _as_text,
    "questions": asked_questions,
    "described questions": _described,
}
