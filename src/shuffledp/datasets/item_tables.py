"""Sets of s items per person, from a table with one row per person and item."""

from dataclasses import replace

import numpy as np
import polars as pl

from shuffledp.datasets.column_values import budgets_of, categories_of
from shuffledp.datasets.exclusion_notes import exclusion_notes
from shuffledp.datasets.frames import Source, rows_of
from shuffledp.datasets.item_sets import ItemSets, gather_sets
from shuffledp.datasets.missing import (
    Missing,
    check_missing,
    cleaned_rows,
    refuse_missing,
)
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


def read_item_sets(
    source: Source,
    *,
    person: str,
    item: str,
    level: str | None = None,
    set_size: int | None = None,
    items: int | tuple[str, ...] | None = None,
    missing: Missing = "refuse",
    rng: Rng,
) -> ItemSets:
    """Reads a table with one row per person and item.

    Duplicate rows count once. People are in the order of their first rows.

    Args:
        source: A data frame, or a file: see `table_files`.
        person: The column of unique names of people.
        item: The column of items.
        level: The column of levels, the same in all rows of a person; None to read none.
        set_size: s; by default the largest number of items of a person.
        items: Number of items, if they are whole numbers from 0; their names; or None for
            the distinct values of the column, sorted.
        missing: "refuse" missing values, or "drop" all people with one.
        rng: The only source of randomness, used where people have more than s items.

    Raises:
        DataError: If the table is missing, empty or unreadable.
        MissingValueError: If a value is missing, and that is refused; see `missing`.
        InvalidInputError: If an item is not one of those named, or a person has different
            levels.
    """
    check_missing(missing)
    columns = [person, item] if level is None else [person, item, level]
    if len(set(columns)) < len(columns):
        raise DataError("Expected different columns for people, items and levels.")
    known_items = items if isinstance(items, tuple) else ()
    rows = cleaned_rows(rows_of(source, columns), known_items)
    if rows.frame[person].dtype.is_nested():
        raise DataError(f"Expected a person in every row of column {person!r}.")
    if missing == "refuse":
        refuse_missing(rows.frame.get_columns(), rows)
    frame, exclusions = _without_missing(rows.frame, person)
    codes, names = categories_of(frame[item], items)
    people, first = _numbered_people(frame[person])
    # A pair as a single number, so that duplicates are removed by one sort.
    pairs = np.unique(people * len(names) + codes)
    owners, owned = pairs // len(names), pairs % len(names)
    if set_size is None:
        set_size = int(np.bincount(owners).max())
    gathered = gather_sets(
        owners, owned, num_users=first.size, names=names, set_size=set_size, rng=rng
    )
    levels = None if level is None else _person_levels(frame[level], people, first)
    return replace(gathered, levels=levels, notes=rows.notes + exclusions)


def _without_missing(
    frame: pl.DataFrame, person: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Drops all rows of people with a missing value, with a note on their number."""
    # Of a person with a missing item, the other rows would count as the whole set. Each
    # row without a person counts as one person.
    holes = frame.select(pl.any_horizontal(pl.all().is_null())).to_series()
    whose = frame.filter(holes)[person]
    dropped = whose.drop_nulls().unique().to_list()
    complete = frame.filter(frame[person].is_not_null() & ~frame[person].is_in(dropped))
    if complete.height == 0:
        raise DataError("Expected a person with a value in every column.")
    num_complete = complete[person].n_unique()
    num_users = num_complete + len(dropped) + whose.null_count()
    return complete, exclusion_notes(frame, num_complete, num_users)


def _numbered_people(column: pl.Series) -> tuple[Ints, Ints]:
    """Numbers people in the order of their first rows.

    Returns:
        The person's number in each row, and the first row of each person, shape (n,).
    """
    # np.unique numbers people in the order of their names: `rank` reorders them.
    _, first, people = np.unique(
        column.rank("dense").to_numpy(), return_index=True, return_inverse=True
    )
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[people], np.sort(first)


def _person_levels(column: pl.Series, people: Ints, first: Ints) -> Floats:
    """Returns the level of each person, shape (n,).

    Raises:
        InvalidInputError: If a person has different levels.
    """
    budgets = budgets_of(column)
    levels: Floats = budgets[first]
    if not np.array_equal(levels[people], budgets):
        raise InvalidInputError(
            f"Expected the same level in all rows of a person in column {column.name!r}."
        )
    return levels
