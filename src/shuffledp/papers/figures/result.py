"""What every experiment returns: a table, a picture, and the paper's numbers beside."""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias

from shuffledp.errors import InvalidInputError
from shuffledp.version import __version__

# None: not stated, or not applicable. Truth values in a column "x: exceeded" mark the
# column "x" before it.
Cell: TypeAlias = str | int | float | bool | None
# Called with a share of the work that is done, from 0 to 1.
OnShare: TypeAlias = Callable[[float], None]


def number(cell: Cell, *, missing: float = math.inf) -> float:
    """Returns the number in a cell.

    >>> number(0.5), number(None)
    (0.5, inf)

    Args:
        cell: Of a table.
        missing: What stands for a cell in which nothing is stated.

    Raises:
        InvalidInputError: If it holds words.
    """
    if isinstance(cell, str):
        raise InvalidInputError(f"Expected a number, got {cell!r}.")
    return missing if cell is None else float(cell)


@dataclass(frozen=True)
class Comparison:
    """A number of a paper beside the one that was found here.

    Attributes:
        what: What the number is.
        printed: As the paper prints it, such as "0.057" or "6e-5".
        here: What was found.
        within: Relative difference that still counts as the same, where the paper's
            number is simulated or read off a picture; with 0 what was found must round
            to the printed digits.
        why: Why it differs; "" if it does not, or if nobody knows.
    """

    what: str
    printed: str
    here: float
    _: KW_ONLY
    within: float = 0.0
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Is it the paper's number?

        >>> Comparison("epsilon", "0.057", 0.0571).agrees
        True
        >>> Comparison("epsilon", "0.057", 0.0581).agrees
        False
        """
        printed = float(self.printed)
        mantissa, _, exponent = self.printed.lower().partition("e")
        digits = len(mantissa.partition(".")[2])
        rounding = 0.5 * 10.0 ** (int(exponent or 0) - digits)
        # Halves may be rounded either way.
        room = max(rounding * (1.0 + 1e-9), self.within * abs(printed))
        return abs(self.here - printed) <= room


@dataclass(frozen=True, kw_only=True)
class Result:
    """One table or figure, computed anew.

    Attributes:
        title: What is shown.
        setting: What the numbers hold for: people, delta, randomizer, ...
        columns: Names, with units.
        rows: One cell per column; numbers in full.
        notes: What to make of it; what differs from the paper.
        svg: The picture.
        comparisons: Numbers of the paper beside ours.
        keys: How many of the first columns say what a row is about.
    """

    title: str
    setting: Mapping[str, Cell]
    columns: tuple[str, ...]
    rows: tuple[Sequence[Cell], ...]
    notes: tuple[str, ...]
    svg: str
    comparisons: tuple[Comparison, ...] = ()
    keys: int = 1

    def __post_init__(self) -> None:
        if len(set(self.columns)) != len(self.columns):
            raise InvalidInputError("Expected columns of different names.")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InvalidInputError(
                    f"Expected {len(self.columns)} cells, got {len(row)}."
                )

    def to_csv(self) -> str:
        """Returns the table, with a header: numbers in full, nothing for None."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([[_in_full(cell) for cell in row] for row in self.rows])
        return text.getvalue()

    def to_document(
        self, name: str, effort: "Effort", seconds: float
    ) -> dict[str, Any]:
        """Returns everything but the picture, for machines.

        Args:
            name: Of the experiment.
            effort: With which it was computed.
            seconds: That it took.
        """
        return {
            "experiment": name,
            "title": self.title,
            "setting": {key: _json(cell) for key, cell in self.setting.items()},
            "version": __version__,
            "seed": effort.seed,
            "repetitions": effort.repetitions,
            "quick": effort.quick,
            "seconds": round(seconds, 1),
            "columns": list(self.columns),
            "rows": [[_json(cell) for cell in row] for row in self.rows],
            "notes": list(self.notes),
            "comparisons": [
                {
                    "what": each.what,
                    "printed": each.printed,
                    "here": each.here,
                    "agrees": each.agrees,
                    "why": each.why,
                }
                for each in self.comparisons
            ],
        }


@dataclass(frozen=True)
class Effort:
    """How an experiment is run.

    Attributes:
        repetitions: Of what it repeats; 1 if it repeats nothing.
        seed: Of all randomness.
        quick: Whether to leave out what the experiment says it can.
        on_share: Called with the share of the work that is done.
    """

    repetitions: int
    seed: int
    quick: bool
    on_share: OnShare


@dataclass(frozen=True)
class Experiment:
    """Something to run.

    Attributes:
        summary: One line about it.
        run: Computes it.
        repetitions: By default; None if it repeats nothing.
        quick: What a quick run leaves out; "" if there is none.
    """

    summary: str
    run: Callable[[Effort], Result]
    repetitions: int | None = None
    quick: str = ""


def _in_full(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)


def _json(cell: Cell) -> Cell:
    # JSON has no infinity.
    if isinstance(cell, float) and not math.isfinite(cell):
        return str(cell)
    return cell
