"""Sentences on people who were left out for a missing value."""

import polars as pl

from shuffledp.datasets.missing import column_names


def exclusion_notes(
    frame: pl.DataFrame, num_kept: int, num_users: int | None = None
) -> tuple[str, ...]:
    """Returns a sentence on people who were left out of a frame, if any were.

    Args:
        frame: All people, with missing values.
        num_kept: Number of people without one.
        num_users: Number of all people, if not that of rows.
    """
    total = frame.height if num_users is None else num_users
    holes = [column.name for column in frame if column.null_count()]
    return exclusion_sentence(total - num_kept, total, holes)


def exclusion_sentence(dropped: int, total: int, columns: list[str]) -> tuple[str, ...]:
    """Returns a sentence on a number of people who were left out, if it is not 0.

    Args:
        dropped: Number of people who were left out.
        total: Number of all people.
        columns: Columns with a missing value.
    """
    if not dropped:
        return ()
    return (
        f"{dropped:,} of {total:,} people {'was' if dropped == 1 else 'were'} left out, "
        f"for want of a value in {column_names(columns)}.",
    )
