"""Sentences on people who were left out, as a value of theirs is missing."""

import polars as pl

from shuffledp.datasets.missing import column_names


def left_out(
    frame: pl.DataFrame, num_kept: int, num_users: int | None = None
) -> tuple[str, ...]:
    """Returns a sentence on how many people were left out, or nothing if none were.

    Args:
        frame: Everybody, with missing values.
        num_kept: How many people stay.
        num_users: How many there are, if not as many as rows.
    """
    total = frame.height if num_users is None else num_users
    holes = [column.name for column in frame if column.null_count()]
    return said_left_out(total - num_kept, total, holes)


def said_left_out(dropped: int, total: int, columns: list[str]) -> tuple[str, ...]:
    """Returns a sentence that some of all people were left out, or nothing if none were.

    Args:
        dropped: How many people were left out.
        total: How many people there are.
        columns: Those in which a value was missing.
    """
    if not dropped:
        return ()
    return (
        f"{dropped:,} of {total:,} people {'was' if dropped == 1 else 'were'} left out, "
        f"for want of a value in {column_names(columns)}.",
    )
