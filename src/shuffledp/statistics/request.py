"""The request for a rehearsal: sources of values and levels, and a statistic's options."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from shuffledp.datasets.budgets import budgets_in
from shuffledp.datasets.frames import Source
from shuffledp.datasets.missing import Missing
from shuffledp.datasets.table import Table, read_columns
from shuffledp.errors import InvalidInputError
from shuffledp.option_text import LEVEL_SHARES, Argument, option_text
from shuffledp.population import Population
from shuffledp.randomness import Rng
from shuffledp.statistics.rehearsed_collection import assign_levels
from shuffledp.types import Floats, Mode


@dataclass(frozen=True)
class Request:
    """People in a table, one row each, or in a data set.

    Attributes:
        people: The table, a file or a data frame; None for a data set.
        value: The column of values.
        level: The column of levels.
        shares: Levels and the share of people at each, to be dealt out at random.
        allowed: The levels that may occur in the column.
        missing: Whether rows with a missing value are refused, or dropped.
        mode: Of the collection.
        given: The statistic's own options, by their keys; None or False if not given.
    """

    people: Source | None = None
    value: str | None = None
    level: str | None = None
    shares: Mapping[float, float] | None = None
    allowed: tuple[float, ...] | None = None
    missing: Missing = "refuse"
    mode: Mode = "agnostic"
    given: Mapping[str, Any] = field(default_factory=dict)

    def option(self, key: str, default: Any = None) -> Any:
        """Returns the value of an option, or the default if it was not given."""
        value = self.given.get(key)
        return default if value is None else value

    @property
    def table_source(self) -> Source:
        """Where the table is.

        Raises:
            InvalidInputError: If a data set was asked for instead.
        """
        if self.people is None:
            raise InvalidInputError("Expected a table with people's values.")
        return self.people

    @property
    def source(self) -> str:
        """The name of the table and the column of values."""
        return f"{self.table_source.name}, column {self.value}"

    def need_columns(self) -> None:
        """Raises InvalidInputError unless values and levels are known."""
        if not self.value or not (self.level or self.shares):
            raise InvalidInputError(
                option_text(
                    "Expected {}, and {} or {}, with a table.",
                    Argument("value", "COLUMN"),
                    Argument("level", "COLUMN"),
                    LEVEL_SHARES,
                )
            )

    def table(self, known: Collection[str] = ()) -> Table:
        """Reads the columns of values and levels.

        Args:
            known: Texts that are values, such as a category that is called "NA".
        """
        # Levels that are dealt out have no column.
        columns = [name for name in (self.value, self.level) if name is not None]
        return read_columns(
            self.table_source, columns, missing=self.missing, known=known
        )

    def levels(self, table: Table, *, rng: Rng) -> Floats:
        """Returns each user's level: from a column, or dealt out, shape (n,)."""
        if self.level is None:
            return self.dealt(table.num_users, rng=rng)
        return self.checked(budgets_in(table, self.level))

    def dealt(self, num_users: int, *, rng: Rng) -> Floats:
        """Returns levels in the shares asked for, in random order, shape (n,)."""
        # Data sets have no column of levels: they need shares.
        if self.shares is None:
            raise InvalidInputError(option_text("Expected {}", LEVEL_SHARES))
        return assign_levels(dict(self.shares), num_users, rng=rng)

    def checked(self, levels: Floats) -> Floats:
        """Returns levels that are among those allowed.

        Raises:
            UnknownLevelError: If one is not.
        """
        # The population serves as a lookup: it raises on any other level.
        if self.allowed is not None:
            Population.from_budgets(self.allowed).level_indices(levels)
        return levels
