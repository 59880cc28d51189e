"""Tables of results, whose columns are addressed by their names."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from shuffledp.errors import InvalidInputError

# None: not stated, or not applicable. Truth values in a column "x: exceeded" mark the
# column "x" before it.
Cell: TypeAlias = str | int | float | bool | None


def number(cell: Cell, *, missing: float = math.inf) -> float:
    """Returns the number in a cell.

    >>> number(0.5), number(None)
    (0.5, inf)

    Args:
        cell: Cell of a table.
        missing: The number for a cell without a statement.

    Raises:
        InvalidInputError: If it holds words.
    """
    if isinstance(cell, str):
        raise InvalidInputError(f"Expected a number, got {cell!r}.")
    return missing if cell is None else float(cell)


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns.

    >>> table = Table.from_records([{"people": 10, "error": 0.5}])
    >>> table.column("error"), table.where("people", 20).column("error")
    ([0.5], [])

    Attributes:
        columns: Names, with units; all different.
        rows: One cell per column; numbers in full.

    Raises:
        InvalidInputError: If names are equal, or a row has another number of cells.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise InvalidInputError("Expected columns of different names.")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InvalidInputError(
                    f"Expected {len(self.columns)} cells, got {len(row)}."
                )

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, Cell]]) -> "Table":
        """Returns the table of rows that are {name of the column: cell}.

        Raises:
            InvalidInputError: If rows have other names, or names in another order.
        """
        rows = list(records)
        columns = tuple(rows[0]) if rows else ()
        if any(tuple(row) != columns for row in rows):
            raise InvalidInputError("Expected rows with the same columns.")
        return cls(columns, [tuple(row.values()) for row in rows])

    def column(self, name: str) -> list[Cell]:
        """Returns the cells of a column, one per row.

        Raises:
            InvalidInputError: If no column has this name.
        """
        index = self._index(name)
        return [row[index] for row in self.rows]

    def numbers(self, name: str) -> list[float]:
        """Returns the numbers of a column, one per row; NaN for None.

        Raises:
            InvalidInputError: If no column has this name, or a cell holds words.
        """
        return [number(cell, missing=math.nan) for cell in self.column(name)]

    def where(self, name: str, value: Cell) -> "Table":
        """Returns the rows that have this value in a column, in their order.

        Raises:
            InvalidInputError: If no column has this name.
        """
        index = self._index(name)
        return Table(self.columns, [row for row in self.rows if row[index] == value])

    def records(self) -> list[dict[str, Cell]]:
        """Returns every row as {name of the column: cell}."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _index(self, name: str) -> int:
        if name not in self.columns:
            names = ", ".join(self.columns)
            raise InvalidInputError(f"Expected a column of {names}, got {name!r}.")
        return self.columns.index(name)
