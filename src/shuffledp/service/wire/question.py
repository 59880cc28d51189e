"""What a task asks for, and which protocol of this library answers it."""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from shuffledp.errors import InvalidInputError
from shuffledp.service.wire.canonical import is_text, to_number
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.items_framework import ItemsFramework
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.sum.protocol import BinarySum
from shuffledp.types import Mode

Statistic: TypeAlias = Literal["frequency", "mean", "sum", "items"]
Protocol: TypeAlias = Frequency | Mean | BinarySum | ItemsFramework
STATISTICS: tuple[Statistic, ...] = ("frequency", "mean", "sum", "items")
MAX_CATEGORIES = 10_000
MAX_SET_SIZE = 256

_NAMES = frozenset(
    {"statistic", "text", "categories", "low", "high", "set_size", "mode"}
)


@dataclass(frozen=True)
class Question:
    """A question to every person.

    Attributes:
        statistic: "frequency": which of the categories; "mean": a number in a range, sent
            as one bit; "sum": yes or no; "items": which `set_size` of the categories.
        text: As people read it.
        categories: Names of categories or items; none for numbers and yes or no.
        low: Smallest number of a mean.
        high: Largest number of a mean.
        set_size: How many items everybody holds.
        mode: "agnostic" or "stratified"; items are always agnostic.
    """

    statistic: Statistic
    text: str
    categories: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    set_size: int = 1
    mode: Mode = "agnostic"

    def __post_init__(self) -> None:
        if self.statistic not in STATISTICS:
            raise InvalidInputError(
                f"Expected a statistic of {', '.join(STATISTICS)}, got "
                f"{self.statistic!r}."
            )
        for text in (self.text, *self.categories):
            if not is_text(text, 500):
                raise InvalidInputError(
                    "Expected the question and every category as a text of 1 to 500 "
                    "characters."
                )
        named = self.statistic in ("frequency", "items")
        if len(set(self.categories)) != len(self.categories):
            raise InvalidInputError("Expected categories to be different.")
        if named != bool(self.categories) or len(self.categories) > MAX_CATEGORIES:
            raise InvalidInputError(
                f"Expected 2 to {MAX_CATEGORIES} categories for frequencies and items, "
                "and none for means and sums."
            )
        if not 1 <= self.set_size <= MAX_SET_SIZE:
            raise InvalidInputError(f"Expected a set size from 1 to {MAX_SET_SIZE}.")
        if not -math.inf < self.low < self.high < math.inf:
            raise InvalidInputError("Expected finite numbers, low below high.")
        if self.statistic == "items" and self.mode != "agnostic":
            raise InvalidInputError(
                "Expected items to be collected agnostic of levels."
            )
        self.protocol((1.0, 2.0), 1e-6, 0)  # Checks what is left.

    @property
    def linked(self) -> bool:
        """Whether a message stays with its level."""
        return self.mode == "stratified"

    def protocol(
        self, levels: tuple[float, ...], delta: float, absent: int
    ) -> Protocol:
        """Returns the protocol of this library.

        Args:
            levels: Of the task; items alone need them.
            delta: As `levels`.
            absent: As `levels`.
        """
        if self.statistic == "frequency":
            return Frequency(len(self.categories), self.mode)
        if self.statistic == "mean":
            return Mean(self.low, self.high, self.mode)
        if self.statistic == "sum":
            return BinarySum(self.mode)
        return ItemsFramework(
            len(self.categories), self.set_size, levels, delta, absent=absent
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns all attributes."""
        return {
            "statistic": self.statistic,
            "text": self.text,
            "categories": list(self.categories),
            "low": float(self.low),
            "high": float(self.high),
            "set_size": self.set_size,
            "mode": self.mode,
        }

    @classmethod
    def from_dict(cls, value: object) -> "Question":
        """Reads what `to_dict` gave.

        Raises:
            Refusal: If a member is missing, unknown, or not of its type.
            InvalidInputError: If a value is out of range.
        """
        if not isinstance(value, dict) or set(value) != _NAMES:
            raise Refusal(Reason.MALFORMED, f"Expected a question of {sorted(_NAMES)}.")
        categories, size = value["categories"], value["set_size"]
        if not isinstance(categories, list) or type(size) is not int:
            raise Refusal(Reason.MALFORMED, "Expected categories and a whole set size.")
        return cls(
            statistic=value["statistic"],
            text=value["text"],
            categories=tuple(categories),
            low=to_number(value["low"], "low"),
            high=to_number(value["high"], "high"),
            set_size=size,
            mode=value["mode"],
        )
