"""A rehearsal divided among machines: each has a part of the people, and nobody has all.

Every machine reads, randomizes and counts its own people. What is added up is whole
numbers: messages (a tally), and what a rehearsal knows besides, the truth.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import polars as pl
from numpy.typing import NDArray

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.population import Population
from shuffledp.report.summary import Summary
from shuffledp.report.summary_parts import Circumstances
from shuffledp.statistics.level_dependence import LevelGroups
from shuffledp.statistics.rehearsed_collection import Collection as Collected
from shuffledp.statistics.request import Request
from shuffledp.types import Floats, Ints

# Levels times numbers that a part of the people may count; with more, levels are grouped.
_MAX_CELLS = 10**6


class Truth(Protocol):
    """What is known of people's values, in parts."""

    @property
    def width(self) -> int:
        """How many numbers are counted of each group."""
        ...

    def values(self, column: pl.Series) -> NDArray[Any]:
        """Reads the values of a part, as the protocol takes them, shape (n,).

        Raises:
            DataError: If somebody has none, or none of this kind.
            InvalidInputError: If one is out of range.
        """
        ...

    def count(
        self, values: NDArray[Any], places: Ints, num_groups: int
    ) -> NDArray[Any]:
        """Counts the values of a part: whole numbers, shape (num_groups, width).

        Args:
            values: From `values`, shape (n,).
            places: The group of each person's level, shape (n,).
            num_groups: How many groups there are.
        """
        ...

    def found(
        self, counts: NDArray[Any], groups: LevelGroups, people: Population
    ) -> tuple[Floats, Dependence | None]:
        """Returns the true numbers, and whether levels depend on them, from all counts."""
        ...


@dataclass(frozen=True)
class Parts:
    """How a statistic is rehearsed on parts of the people.

    Attributes:
        protocol: What is run.
        truth: What is known besides.
        summarize: Sums up a collection.
        known: Texts that are values, such as a category that is called "NA".
        asked: What the protocol's `estimate` takes besides.
        caveats: What else to know, in sentences.
        warnings: What should not be overlooked, in sentences.
    """

    protocol: Any
    truth: Truth
    summarize: Callable[[Collected[Any], Circumstances], Summary]
    known: Collection[str] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def groups(self, people: Population) -> LevelGroups:
        """Returns the groups of levels by which values are counted."""
        return LevelGroups.of(people, most=_MAX_CELLS // self.truth.width)

    def collected(
        self,
        people: Population,
        guarantee: Guarantee,
        estimate: Any,
        counts: NDArray[Any],
    ) -> Collected[Any]:
        """Returns the whole collection.

        Args:
            people: Who took part.
            guarantee: What it is worth.
            estimate: From the tally of all parts.
            counts: The truth, of all parts.
        """
        truth, found = self.truth.found(counts, self.groups(people), people)
        return Collected(truth, people, estimate, guarantee, found)


@runtime_checkable
class InParts(Protocol):
    """A `Statistic` whose people can be divided among machines."""

    def parts(self, request: Request, texts: Callable[[], tuple[str, ...]]) -> Parts:
        """Returns how parts of the people are rehearsed.

        Args:
            request: As for `Statistic.rehearsal`.
            texts: Finds the different values of the column, sorted, where they decide
                what is run.

        Raises:
            InvalidInputError: If an option makes no sense.
        """
        ...

    def parts_of(self, protocol: Any, names: tuple[str, ...] | None) -> Parts:
        """Returns the same for a protocol that somebody made.

        Args:
            protocol: One of this statistic.
            names: Of categories; None if values are whole numbers.

        Raises:
            InvalidInputError: If these are not as many as there are categories.
        """
        ...
