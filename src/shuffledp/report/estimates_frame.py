"""Estimates of a collection as a data frame."""

from typing import TYPE_CHECKING

from shuffledp.statistics.summary import Summary

if TYPE_CHECKING:
    import polars as pl


def estimates_frame(summary: Summary) -> "pl.DataFrame":
    """Returns all rows of a summary, with a column of names and one per number."""
    # Imported on use: Polars takes long to load.
    import polars as pl

    columns = {summary.words.row: [row.name for row in summary.rows]}
    frame = pl.DataFrame(columns, schema={summary.words.row: pl.String})
    # Of a stated type: a column of unknown truths alone would have none.
    frame = frame.with_columns(
        pl.Series(
            name, [getattr(row, name) for row in summary.rows], dtype=pl.Float64
        ).fill_nan(None)
        for name in summary.numbers
    )
    # All rows of a statistic have the same details.
    return frame.with_columns(
        pl.Series(name, [row.details[name] for row in summary.rows])
        for name in summary.rows[0].details
    )
