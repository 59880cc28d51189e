"""Rows of a summary, or of a section, that tables and pictures list."""

import math

from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.summary import Summary
from shuffledp.statistics.summary_section import SummarySection

# Largest number of rows in tables and pictures; CSV and JSON files hold all.
MAX_ROWS = 40


def listed_rows(section: Summary | SummarySection) -> list[EstimateRow]:
    """Returns the rows in tables and pictures: all, or the largest, in their order."""
    rows = [row for row in section.rows if row.listed]
    if len(rows) <= MAX_ROWS:
        return rows
    # The row of all other strings is neither found nor not found (None): it stays.
    order = sorted(
        range(len(rows)),
        key=lambda index: (
            rows[index].details.get("found", True) is not None,
            # NaN, of an unknown number, would leave the order undefined.
            math.isnan(rows[index].estimate),
            -rows[index].estimate,
        ),
    )
    # Sorted positions: the largest rows stay in the order of all.
    return [rows[index] for index in sorted(order[:MAX_ROWS])]
