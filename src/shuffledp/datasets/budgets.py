"""Reader of budgets, one per person, from a file of numbers or a table column."""

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import level_array
from shuffledp.datasets.table_kinds import TABLES
from shuffledp.errors import DataError, PopulationError
from shuffledp.file_reading import require_file
from shuffledp.number_text import is_lost, is_plain
from shuffledp.population import EXPECTED_BUDGETS, possible_budgets
from shuffledp.types import Floats

if TYPE_CHECKING:
    from shuffledp.datasets.table import Table

_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def read_budgets(path: Path, column: str | None = None) -> Floats:
    """Reads one budget per person from text, .npy, or a table.

    Args:
        path: Text with one number per line, a one-dimensional .npy array, or a table.
        column: Name of the column of a table.

    Raises:
        DataError: If the file is missing, empty or unreadable.
        MissingValueError: If a person in a table has no budget.
    """
    require_file(path)
    kind = path.suffix.lower()
    # Text without columns is one number per line.
    if column is not None or (kind in TABLES and kind != ".txt"):
        if column is None:
            raise DataError(f"Expected the name of the column of {path} to read.")
        return _from_table(path, column)
    if path.stat().st_size == 0:
        raise DataError(f"Expected at least one person in {path}, found none.")
    loaded = _from_array(path) if kind == ".npy" else _from_text(path)
    if loaded.ndim != 1 or loaded.size == 0 or loaded.dtype.kind not in "fiu":
        raise DataError(f"Expected one number per person in {path}.")
    return level_array(loaded, "budgets")


def _from_array(path: Path) -> NDArray[Any]:
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            # Damaged headers make NumPy's parser warn of their syntax, too.
            warnings.simplefilter("ignore")
            # A pickle could run any code.
            return np.lib.format.read_array(file, allow_pickle=False)
    # Headers are parsed as Python, which fails in many ways, and may state any size.
    except Exception as error:
        raise DataError(
            f"Expected one number per person in {path}, in NumPy's format."
        ) from error


def _from_text(path: Path) -> Floats:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if not is_plain(text):
            raise ValueError("digits of another script, or an underscore")
        words = text.split()
        numbers = np.array(words, dtype=np.float64)
    except (OSError, ValueError) as error:
        raise DataError(f"Expected one number per person in {path}.") from error
    # People without an answer, as in a table, are not left out in silence.
    if _BLANK_LINE.search(text.strip()):
        raise DataError(
            f"Expected one number per person in {path}, found a blank line."
        )
    if any(is_lost(words[entry], 0.0) for entry in np.flatnonzero(numbers == 0.0)):
        raise DataError(
            f"Expected one number per person in {path}, of at least 5e-324, or 0."
        )
    return numbers


def _from_table(path: Path, column: str) -> Floats:
    # Imported on use: table readers take 0.1 s to load, and most budgets are in text.
    from shuffledp.datasets.table import read_columns

    return budgets_in(read_columns(path, [column]), column)


def budgets_in(table: "Table", column: str) -> Floats:
    """Returns one budget per person of a table.

    Raises:
        MissingValueError: If a person has none.
        DataError: If an entry is not a number.
        PopulationError: If it is no budget, with its row if no row was left out.
    """
    from shuffledp.datasets.column_values import budgets_of
    from shuffledp.datasets.missing import rows_phrase

    budgets = budgets_of(table[column])
    others = ~possible_budgets(budgets)
    if table.first_row is not None and np.any(others):
        where = f"column {column!r}, {rows_phrase(others, table.first_row)}"
        raise PopulationError(f"{EXPECTED_BUDGETS}, got another number in {where}.")
    return budgets
