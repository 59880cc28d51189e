"""A rehearsal divided among machines, with a part of the people on each.

Every machine reads, randomizes and counts its own people. Two kinds of whole numbers are
added up: counts of messages (a tally), and counts of values (the truth).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import polars as pl
from numpy.typing import NDArray

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.analyzer.dependence import Dependence
from shuffledp.population import Population
from shuffledp.statistics.level_dependence import LevelGroups
from shuffledp.statistics.rehearsed_collection import Collection as Collected
from shuffledp.statistics.request import Request
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_parts import Circumstances
from shuffledp.types import Floats, Ints

# Most cells (levels times numbers) that a part counts; with more, levels are grouped.
_MAX_CELLS = 10**6


class Truth(Protocol):
    """The true values of people, counted in parts."""

    @property
    def width(self) -> int:
        """The number of counts of each group."""
        ...

    def values(self, column: pl.Series) -> NDArray[Any]:
        """Reads the values of a part, as the protocol takes them, shape (n,).

        Raises:
            DataError: If a value is missing, or of another kind.
            InvalidInputError: If one is out of range.
        """
        ...

    def count(
        self, values: NDArray[Any], group_indices: Ints, num_groups: int
    ) -> NDArray[Any]:
        """Counts the values of a part: whole numbers, shape (num_groups, width).

        Args:
            values: From `values`, shape (n,).
            group_indices: The group of each person's level, shape (n,).
            num_groups: How many groups there are.
        """
        ...

    def evaluate(
        self, counts: NDArray[Any], groups: LevelGroups, people: Population
    ) -> tuple[Floats, Dependence | None]:
        """Returns the true numbers, and the dependence of levels on values."""
        ...


@dataclass(frozen=True)
class PartialRehearsal:
    """A statistic's rehearsal on parts of the people.

    Attributes:
        protocol: The protocol that is run.
        truth: Counts the true values.
        summarize: Sums up a collection.
        known: Texts that are values, such as a category that is called "NA".
        asked: Further arguments of the protocol's `estimate`.
        caveats: Sentences that qualify the summary.
        warnings: Sentences that warn.
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
        # Each group has `width` counts, so that wider truths have fewer groups.
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
            people: The population that took part.
            guarantee: Its guarantee.
            estimate: From the tally of all parts.
            counts: The truth, of all parts.
        """
        # The same groups as on every machine: they follow from people and width alone.
        truth, dependence = self.truth.evaluate(counts, self.groups(people), people)
        return Collected(self.protocol, truth, people, estimate, guarantee, dependence)


# Statistics that deal people into groups lack these methods: `isinstance` tells.
@runtime_checkable
class PartitionedStatistic(Protocol):
    """A `Statistic` whose people can be divided among machines."""

    def partial_rehearsal(
        self, request: Request, texts: Callable[[], tuple[str, ...]]
    ) -> PartialRehearsal:
        """Returns how parts of the people are rehearsed.

        Args:
            request: As for `Statistic.rehearsal`.
            texts: Finds the different values of the column, sorted, where the protocol
                depends on them.

        Raises:
            InvalidInputError: If an option makes no sense.
        """
        ...

    def partial_rehearsal_of(
        self, protocol: Any, names: tuple[str, ...] | None
    ) -> PartialRehearsal:
        """Returns the same for a given protocol.

        Args:
            protocol: One of this statistic.
            names: Of categories; None if values are whole numbers.

        Raises:
            InvalidInputError: If these are not as many as there are categories.
        """
        ...
