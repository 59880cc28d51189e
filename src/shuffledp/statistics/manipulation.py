"""Statements of a summary on how far dishonest people can move its numbers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.format_number import finite_or_none
from shuffledp.labels import Display
from shuffledp.types import Floats

# The part of the people of whom a summary speaks, besides a single person.
LIARS = 0.01


@dataclass(frozen=True, eq=False)
class Manipulation:
    """Largest shifts of published numbers by dishonest people.

    A dishonest person sends any report that the analyst accepts; numbers of people per
    level are taken as published.

    Attributes:
        num_users: People in the collection.
        num_liars: Dishonest people: 1% of them, at least one.
        by_one: Largest shift of each number by one dishonest person, shape (numbers,).
        by_all: By `num_liars` of them, shape (numbers,).
        errors: Standard errors about the participants, shape (numbers,).
    """

    num_users: int
    num_liars: int
    by_one: Floats
    by_all: Floats
    errors: Floats

    def sentence(self, display: Display) -> str:
        """Returns both shifts in the unit of the numbers, and in standard errors."""
        unit = display.shift_unit and f" {display.shift_unit}"

        def moved(shifts: Floats) -> str:
            shift = display.factor * float(shifts.max())
            errors = self._in_errors(shifts)
            # An estimate without error has no standard errors to count in.
            of = (
                f" ({_two_digits(errors)} standard errors)"
                if math.isfinite(errors)
                else ""
            )
            return f"{_two_digits(shift)}{unit}{of}"

        noun = f"the {display.noun}" if display.is_single else f"a {display.noun}"
        if not np.all(np.isfinite([self.by_one.max(), self.by_all.max()])):
            return f"Nothing bounds how far one person who lies moves {noun}."
        first = f"One person who lies moves {noun} by up to {moved(self.by_one)}"
        if self.num_liars == 1:
            return f"{first}."
        part = _two_digits(100.0 * self.num_liars / self.num_users)
        return f"{first}, {self.num_liars:,} ({part}%) by up to {moved(self.by_all)}."

    def to_dict(self) -> dict[str, Any]:
        """Returns the largest shifts as plain values; None where they have no bound."""
        return {
            "num_liars": self.num_liars,
            "shift_by_one": finite_or_none(float(self.by_one.max())),
            "shift_by_one_in_errors": finite_or_none(self._in_errors(self.by_one)),
            "shift": finite_or_none(float(self.by_all.max())),
            "shift_in_errors": finite_or_none(self._in_errors(self.by_all)),
        }

    def _in_errors(self, shifts: Floats) -> float:
        # Of every number by itself: the largest shift need not be the most telling one.
        with np.errstate(divide="ignore"):
            return float(np.max(shifts / self.errors))


def manipulation_of(
    shift_by: Callable[[int], ArrayLike], *, num_users: int, errors: ArrayLike
) -> Manipulation:
    """Returns the manipulation of one collection.

    Args:
        shift_by: Returns the largest shift of every number by a number of people: a
            protocol's `manipulation`.
        num_users: People in the collection.
        errors: Standard errors about the participants, shape (numbers,).
    """
    num_liars = max(round(LIARS * num_users), 1)
    by_one, by_all = (
        np.atleast_1d(np.asarray(shift_by(number), dtype=np.float64))
        for number in (1, num_liars)
    )
    errors_of = np.atleast_1d(np.asarray(errors, dtype=np.float64))
    return Manipulation(num_users, num_liars, by_one, by_all, errors_of)


def _two_digits(number: float) -> str:
    """Formats a number with two digits."""
    return f"{float(f'{number:.2g}'):,.12g}"
