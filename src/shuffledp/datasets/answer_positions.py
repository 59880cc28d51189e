"""Answers in a column as positions of options."""

import numpy as np
import polars as pl

from shuffledp.datasets.missing import rows_phrase
from shuffledp.errors import InvalidInputError
from shuffledp.types import Ints

# In a cell with several answers.
ANSWER_SEPARATOR = ";"


def check_no_separator(options: tuple[str, ...], most: int) -> None:
    """Raises InvalidInputError if an option has the separator of several answers in it.

    Args:
        options: Of a question.
        most: How many of them a person may pick.
    """
    separated = [option for option in options if ANSWER_SEPARATOR in option]
    if most > 1 and separated:
        raise InvalidInputError(
            f"Expected options without {ANSWER_SEPARATOR!r} where several may be picked, "
            f"got {separated[0]!r:.60}: in a table it divides answers."
        )


def option_positions(
    column: pl.Series, options: tuple[str, ...], *, most: int = 1, first_row: int
) -> Ints:
    """Returns the positions of people's answers among some options, shape (n, most).

    Rows are filled up with -1, which stands for no answer.

    Args:
        column: Cleaned texts, numbers, truths or dates, several answers of a cell divided
            by semicolons; or lists of texts. An empty cell is no answer.
        options: Different texts.
        most: How many of them a person may pick.
        first_row: The number of the first row, for errors.

    Raises:
        InvalidInputError: If a cell is none of the options, or holds too many.
    """
    picked_options = _picked_options(column, options, most)
    names = pl.Series(options, dtype=pl.String).str.strip_chars()
    codes = picked_options["text"].replace_strict(
        names, np.arange(len(options)), default=None, return_dtype=pl.Int64
    )
    if codes.null_count():
        unknown = picked_options.filter(codes.is_null())
        others = " and others" if unknown["person"].n_unique() > 1 else ""
        raise InvalidInputError(
            f"Expected one of the {len(options)} answers in column {column.name!r}, got "
            f"{unknown['text'][0]!r:.60}{others} in {_marked_rows(unknown, first_row)}."
        )
    order = picked_options.select(pl.int_range(pl.len()).over("person")).to_series()
    if order.len() and (last_order := int(order.to_numpy().max())) >= most:
        too_many = picked_options.filter(order >= most)
        up_to = "up to " if too_many["person"].n_unique() > 1 else ""
        raise InvalidInputError(
            f"Expected at most {most} answers of a person in column {column.name!r}, got "
            f"{up_to}{last_order + 1} in {_marked_rows(too_many, first_row)}."
        )
    positions = np.full((column.len(), most), -1, dtype=np.int64)
    positions[picked_options["person"].to_numpy(), order.to_numpy()] = codes.to_numpy()
    return positions


def _picked_options(
    column: pl.Series, options: tuple[str, ...], most: int
) -> pl.DataFrame:
    """Returns a row for each person and different answer: `person` and `text`."""
    if column.dtype.is_nested():
        answers = column.cast(pl.List(pl.String))
    elif most > 1:
        check_no_separator(options, most)
        answers = cell_texts(column).str.split(ANSWER_SEPARATOR)
    else:
        answers = cell_texts(column)
    cells = pl.DataFrame({"text": answers}).with_row_index("person")
    if answers.dtype.is_nested():
        cells = cells.explode("text")
    cells = cells.with_columns(pl.col("text").str.strip_chars()).drop_nulls("text")
    return cells.filter(pl.col("text") != "").unique(maintain_order=True)


def cell_texts(column: pl.Series) -> pl.Series:
    """Returns the text of each cell, null where it is empty.

    Args:
        column: Cleaned texts, numbers, truths or dates.
    """
    # Whole numbers that a missing one made decimal: 1.0 is the option "1".
    if column.dtype.is_float() and bool((column.drop_nulls() % 1.0 == 0.0).all()):
        column = column.cast(pl.Int64)
    return column.cast(pl.String)


def _marked_rows(cells: pl.DataFrame, first_row: int) -> str:
    people = cells["person"].to_numpy()
    marked = np.zeros(int(people.max()) + 1, dtype=np.bool_)
    marked[people] = True
    return rows_phrase(marked, first_row)
