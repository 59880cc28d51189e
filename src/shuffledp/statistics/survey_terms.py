"""What a question has to say, as a command line asks for it and the wire carries it."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from shuffledp.errors import InvalidInputError

TermKind: TypeAlias = Literal["texts", "number", "whole number", "one of"]


@dataclass(frozen=True)
class Term:
    """Something that a question for a statistic has to say.

    Attributes:
        name: Of the attribute of the survey, and on the wire.
        kind: Different texts, a finite number, a whole number, or one of `options`.
        option: Its name on the command line; texts are given one by one.
        help: What it is, for people.
        least: Of texts, how many; otherwise the number itself.
        most: As `least`.
        options: Of "one of", the texts; the first is the usual one.
        needed: Whether every question says it; otherwise what else it says decides.
    """

    name: str
    kind: TermKind
    option: str
    help: str
    least: float = -math.inf
    most: float = math.inf
    options: tuple[str, ...] = ()
    needed: bool = True

    def checked(self, value: object) -> Any:
        """Returns a value of this kind: a tuple of texts, a float, an int or a text.

        Raises:
            InvalidInputError: If it is anything else, or out of range.
        """
        if self.kind == "one of":
            if value not in self.options:
                options = ", ".join(self.options)
                raise InvalidInputError(f"Expected {self.name} as one of {options}.")
            return value
        found = _READERS[self.kind](value)
        size = len(found) if isinstance(found, tuple) else found
        if found is None or not self.least <= size <= self.most:
            within = "" if self.least == -math.inf else f", {self.least} to {self.most}"
            raise InvalidInputError(f"Expected {self.name} as {self.kind}{within}.")
        return found


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    if not all(isinstance(text, str) for text in value):
        return None
    return tuple(value) if len(set(value)) == len(value) else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _whole(value: object) -> int | None:
    return value if type(value) is int else None


_READERS: dict[TermKind, Any] = {
    "texts": _texts,
    "number": _number,
    "whole number": _whole,
}

CATEGORIES = Term(
    "categories",
    "texts",
    "category",
    "one of the answers; give it once for each",
    least=2,
    most=10_000,
)
