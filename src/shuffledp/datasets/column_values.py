"""Conversion of columns of people's values and levels to numbers and texts.

A column is a Polars series. White space around its texts does not count, and every
conversion refuses missing values (see `missing`), with the numbers of their rows.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shuffledp.arrays import level_array
from shuffledp.datasets.missing import BLANK, cleaned, refuse_missing
from shuffledp.datasets.table_kinds import MAX_TABLE_CATEGORIES
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.types import Floats, Ints

_NAMING_TYPES = (pl.String, pl.Boolean, pl.Date)
_TRUTHS = ["false", "true"]
_BITS = {"0": 0, "1": 1, "false": 0, "true": 1}


def budgets_of(column: pl.Series) -> Floats:
    """Returns one budget per person, those in single precision as `level_array` does.

    Raises:
        MissingValueError: If a person has none.
        DataError: If an entry is not a number.
    """
    return level_array(_column_as_numbers(column, "a number").to_numpy(), "budgets")


def numbers_of(column: pl.Series) -> Floats:
    """Returns one finite number per person; true is 1, and false is 0.

    Raises:
        MissingValueError: If a person has none.
        DataError: If an entry is infinite or not a number.
    """
    if column.dtype == pl.Boolean:
        column = column.cast(pl.Int8)
    elif holds_truths(column):
        column = pl.Series(column.name, bits_of(column))
    numbers = _column_as_numbers(column, "a finite number").cast(pl.Float64).to_numpy()
    if not np.all(np.isfinite(numbers)):
        finite = pl.Series(np.isfinite(numbers))
        raise _expected("a finite number", column, finite)
    return numbers


def holds_truths(column: pl.Series) -> bool:
    """Returns whether all values are true or false, as Booleans or as texts."""
    if column.dtype == pl.Boolean:
        return True
    if column.dtype != pl.String:
        return False
    return bool(column.str.to_lowercase().is_in(_TRUTHS).all())


def categories_of(
    column: pl.Series,
    categories: int | tuple[str, ...] | None,
    order: tuple[str, ...] = (),
) -> tuple[Ints, tuple[str, ...]]:
    """Returns each person's category by number, and the names of the categories.

    Args:
        column: One value per person.
        categories: Number of categories, if values are whole numbers from 0; their names;
            or None for the distinct values of the column, sorted.
        order: Of distinct values, if the column has one; others follow, sorted.

    Raises:
        MissingValueError: If a person has no value.
        InvalidInputError: If a value is not one of the categories.
    """
    column = _complete(column)
    if not (column.dtype.is_numeric() or isinstance(column.dtype, _NAMING_TYPES)):
        raise DataError(
            f"Expected texts, numbers or dates in column {column.name!r}, not lists "
            "or times of day."
        )
    if isinstance(categories, int):
        return _numbered(column, categories), tuple(map(str, range(categories)))
    text = column.cast(pl.String)
    if categories is None:
        occurring = text.unique().sort().to_list()
        ranks = {name: rank for rank, name in enumerate(order)}
        occurring.sort(key=lambda name: ranks.get(name, len(ranks)))
        categories = tuple(occurring)
        if not 2 <= len(categories) <= MAX_TABLE_CATEGORIES:
            raise DataError(
                f"Expected 2 to {MAX_TABLE_CATEGORIES:,} different values in column "
                f"{column.name!r}, got {len(categories):,}; name the categories if some "
                "do not occur."
            )
    return _coded(text, categories), categories


def bits_of(column: pl.Series) -> Ints:
    """Returns 0 or 1 per person, from whole numbers or from true and false.

    Raises:
        MissingValueError: If a person has none.
        DataError: If an entry is another value.
    """
    column = _complete(column)
    refusal = _expected("0 or 1, or true or false,", column)
    kinds = (pl.String, pl.Boolean)
    if not (isinstance(column.dtype, kinds) or column.dtype.is_integer()):
        raise refusal
    # Numbers and truths in one form, as texts: "1", "True" and "TRUE" are alike.
    bits = (
        column.cast(pl.String)
        .str.to_lowercase()
        .replace_strict(_BITS, default=None, return_dtype=pl.Int64)
    )
    if bits.null_count():
        raise refusal
    return bits.to_numpy()


def strings_of(column: pl.Series) -> list[str]:
    """Returns one string per person, in their order, without white space around it.

    Raises:
        MissingValueError: If a person has none.
        DataError: If the column has neither texts nor whole numbers.
    """
    column = _complete(column)
    if not (column.dtype == pl.String or column.dtype.is_integer()):
        raise _expected("a text", column)
    strings: list[str] = column.cast(pl.String).to_list()
    return strings


def _complete(column: pl.Series) -> pl.Series:
    # Words such as "NA" were replaced when the column was read from a file.
    column = cleaned(column, BLANK)
    refuse_missing([column])
    return column


def _expected(
    what: str, column: pl.Series, right: pl.Series | None = None
) -> DataError:
    """Returns the error of a column; `right` tells which of its entries are as expected."""
    where = ""
    if right is not None and len(right) > 1:
        entry = (~right).arg_max()
        where = f", got something else in entry {1 + (entry or 0):,} of {len(right):,}"
    return DataError(
        f"Expected {what} for every person in column {column.name!r}{where}."
    )


def _column_as_numbers(column: pl.Series, what: str) -> pl.Series:
    """Returns a column as numbers, those of texts in double precision."""
    column = _complete(column)
    if column.dtype.is_numeric():
        # Databases use decimal numbers, a type that NumPy lacks.
        return column.cast(pl.Float64) if column.dtype.is_decimal() else column
    if column.dtype != pl.String:
        raise _expected(wanted_number(what, column), column)
    numbers = _parsed(column)
    if numbers.null_count():
        raise _expected(wanted_number(what, column), column, numbers.is_not_null())
    return numbers


def wanted_number(what: str, column: pl.Series) -> str:
    """Returns the expectation of a column that does not hold numbers, for errors.

    Args:
        what: Such as "a finite number".
        column: Cleaned.
    """
    if column.dtype.is_temporal():
        return f"{what}, not a date or time,"
    if column.dtype == pl.String:
        cells = column.drop_nulls()
        if _are_lost(cells, _as_doubles(cells)).any():
            return f"{what} of at least 5e-324, or 0,"
        commas = cells.str.replace(",", ".", literal=True)
        # If decimal points parse all texts, decimal commas are the cause.
        if _parsed(cells).null_count() and not _parsed(commas).null_count():
            return f"{what} with a decimal point, not a decimal comma,"
    return what


def are_numbers(column: pl.Series) -> NDArray[np.bool_]:
    """Tells which entries of a cleaned column `numbers_of` takes, shape (n,)."""
    if column.dtype == pl.Boolean or holds_truths(column.drop_nulls()):
        is_answered: NDArray[np.bool_] = column.is_not_null().to_numpy()
        return is_answered
    if column.dtype == pl.String:
        numbers = _parsed(column)
    elif column.dtype.is_numeric():
        numbers = column.cast(pl.Float64)
    else:
        return np.zeros(column.len(), dtype=np.bool_)
    finite: NDArray[np.bool_] = np.isfinite(numbers.fill_null(np.nan).to_numpy())
    return finite


def _parsed(texts: pl.Series) -> pl.Series:
    numbers = _as_doubles(texts)
    return numbers.set(_are_lost(texts, numbers), None)


def _as_doubles(texts: pl.Series) -> pl.Series:
    # A text such as "nan" can be cast, and is not a number.
    return texts.cast(pl.Float64, strict=False).fill_nan(None)


def _are_lost(texts: pl.Series, numbers: pl.Series) -> pl.Series:
    """Tells which texts are read as 0 though they are not, as `number_text.is_lost` does.

    A level of 1e-400 would otherwise be that of a person who reveals nothing at all.
    """
    return (numbers == 0.0).fill_null(False) & texts.str.contains("^[-+0.]*[1-9]")


def _numbered(column: pl.Series, num_categories: int) -> Ints:
    """Returns whole numbers from 0, after a check of their range."""
    # Other texts become null. A float would be cut to a whole number: it is refused.
    numbers = column.cast(pl.Int64, strict=False)
    are_whole = column.dtype.is_integer() or column.dtype == pl.String
    if (
        not are_whole
        or numbers.null_count()
        or not numbers.is_between(0, num_categories - 1).all()
    ):
        raise InvalidInputError(
            f"Expected whole numbers from 0 to {num_categories - 1} in column "
            f"{column.name!r}; name the categories if they are something else."
        )
    return numbers.to_numpy()


def _coded(text: pl.Series, categories: tuple[str, ...]) -> Ints:
    """Returns the index of each text among these categories."""
    # White space around the texts of the column was removed, too.
    known_categories = pl.Series(categories, dtype=pl.String).str.strip_chars()
    if known_categories.n_unique() < known_categories.len():
        raise InvalidInputError("Expected categories that are all different.")
    codes = text.replace_strict(
        known_categories,
        np.arange(len(categories)),
        default=None,
        return_dtype=pl.Int64,
    )
    if num_unknown := codes.null_count():
        raise InvalidInputError(
            f"Expected every value in column {text.name!r} to be one of the "
            f"{len(categories)} categories, found another one in {num_unknown:,} of "
            f"{codes.len():,} rows."
        )
    return codes.to_numpy()
