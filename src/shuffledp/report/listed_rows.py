"""Rows of a summary that tables and pictures list."""

from shuffledp.statistics.summary import EstimateRow, Summary

# Largest number of rows in tables and pictures; CSV and JSON files hold all.
MAX_ROWS = 40


def listed_rows(summary: Summary) -> list[EstimateRow]:
    """Returns the rows in tables and pictures: all, or the largest, in their order."""
    rows = [row for row in summary.rows if row.listed]
    if len(rows) <= MAX_ROWS:
        return rows
    # The row of all other strings is neither found nor not found (None): it stays.
    order = sorted(
        range(len(rows)),
        key=lambda index: (
            rows[index].details.get("found", True) is not None,
            -rows[index].estimate,
        ),
    )
    # Sorted positions: the largest rows stay in the order of all.
    return [rows[index] for index in sorted(order[:MAX_ROWS])]
