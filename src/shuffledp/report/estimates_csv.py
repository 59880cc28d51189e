"""Estimates of a rehearsal as CSV."""

import csv
import io

from shuffledp.format_number import finite_or_none
from shuffledp.statistics.summary import Summary


def estimates_csv(summary: Summary) -> str:
    """Returns all rows of a summary as CSV with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = summary.numbers
    # All rows of a statistic have the same details.
    details = list(summary.rows[0].details)
    writer.writerow([summary.words.row, *names, *details])
    for row in summary.rows:
        # Empty where there is none: the truth may be unknown, an interval without ends.
        values = [getattr(row, name) for name in names]
        numbers = [None if value is None else finite_or_none(value) for value in values]
        writer.writerow([row.name, *numbers, *(row.details[name] for name in details)])
    return text.getvalue()
