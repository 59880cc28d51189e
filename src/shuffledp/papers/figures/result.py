"""What every experiment returns: a table, a picture, and what to make of them."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = str | int | float
# Called with a share of the work that is done, from 0 to 1.
OnShare: TypeAlias = Callable[[float], None]


@dataclass(frozen=True)
class Result:
    """One table or figure, computed anew.

    Attributes:
        title: What is shown.
        columns: Names, with units.
        rows: One cell per column.
        notes: What to make of it; what differs from the paper.
        svg: The picture.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[Sequence[Cell], ...]
    notes: tuple[str, ...]
    svg: str

    def to_csv(self) -> str:
        """Returns the table, with a header."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()


@dataclass(frozen=True)
class Experiment:
    """Something to run.

    Attributes:
        summary: One line about it.
        run: Computes it, given a number of repetitions, a seed, and what to call with
            the share that is done.
        repetitions: By default.
    """

    summary: str
    run: Callable[[int, int, OnShare], Result]
    repetitions: int
