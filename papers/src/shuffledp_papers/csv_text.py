"""Rows as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Returns rows as CSV: numbers in full, nothing for None, lines that end with LF."""
    text = io.StringIO()
    # The csv module ends lines with CR LF by default.
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
