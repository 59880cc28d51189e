"""Rows of noise and rates as a task states them, for rules for plans."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from shuffledp.arrays import as_number
from shuffledp.errors import InvalidInputError

_NAMES = frozenset({"noise", "rates", "cut", "coin_error"})


class RowTable(Protocol):
    """A table with rows of noise, whatever it is about."""

    @property
    def noise(self) -> Sequence[float]:
        """Of each row."""
        ...

    @property
    def rates(self) -> Sequence[Sequence[float]]:
        """Of each row, one for each target."""
        ...

    @property
    def cut(self) -> float:
        """The largest probability that any honest report is cut by its size."""
        ...

    @property
    def coin_error(self) -> float:
        """The largest tau of draws."""
        ...


@dataclass(frozen=True)
class StatedRows:
    """Rows as they were read: numbers, and nothing else is known of them.

    Attributes:
        noise: Of each row.
        rates: Of each row.
        cut: Of the rule.
        coin_error: Of the rule.
    """

    noise: tuple[float, ...]
    rates: tuple[tuple[float, ...], ...]
    cut: float
    coin_error: float

    @classmethod
    def from_dict(cls, value: object) -> "StatedRows":
        """Reads the output of `plain_rows`.

        Raises:
            InvalidInputError: If a member is missing, unknown or not of its type.
        """
        refusal = InvalidInputError(f"Expected a rule for plans of {sorted(_NAMES)}.")
        if not isinstance(value, dict) or set(value) != _NAMES:
            raise refusal
        noise, rates = value["noise"], value["rates"]
        if not isinstance(noise, list) or not isinstance(rates, list):
            raise refusal
        if not all(isinstance(row, list) for row in rates):
            raise refusal
        return cls(
            noise=tuple(as_number(number, "noise") for number in noise),
            rates=tuple(
                tuple(as_number(rate, "rate") for rate in row) for row in rates
            ),
            cut=as_number(value["cut"], "cut"),
            coin_error=as_number(value["coin_error"], "coin error"),
        )


def plain_rows(table: RowTable) -> dict[str, Any]:
    """Returns the rows of a table as plain values, for a task."""
    return {
        "noise": list(table.noise),
        "rates": [list(row) for row in table.rates],
        "cut": table.cut,
        "coin_error": table.coin_error,
    }
