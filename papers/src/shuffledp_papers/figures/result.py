"""Result of an experiment: a table, a figure, and the paper's numbers beside ours."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias, TypeVar

from shuffledp.version import __version__
from shuffledp_papers.csv_text import csv_text
from shuffledp_papers.figures.table import Cell, Table

T = TypeVar("T")
# Called with a share of the work that is done, from 0 to 1.
OnShare: TypeAlias = Callable[[float], None]


@dataclass(frozen=True)
class Comparison:
    """A number of a paper beside the number that this library computes.

    Attributes:
        what: Description of the number.
        printed: As the paper prints it, such as "0.057" or "6e-5".
        here: The number that this library computes.
        within: Relative difference that still counts as the same, where the paper's
            number is simulated or read off a figure; with 0 our number must round to
            the printed digits.
        why: Reason of a difference; "" if there is none or it is unknown.
    """

    what: str
    printed: str
    here: float
    _: KW_ONLY
    within: float = 0.0
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether it is the paper's number.

        >>> Comparison("epsilon", "0.057", 0.0571).agrees
        True
        >>> Comparison("epsilon", "0.057", 0.0581).agrees
        False
        """
        printed = float(self.printed)
        # Half a unit of the last printed digit: 0.0005 for "0.057", 0.5e-5 for "6e-5".
        mantissa, _, exponent = self.printed.lower().partition("e")
        digits = len(mantissa.partition(".")[2])
        rounding = 0.5 * 10.0 ** (int(exponent or 0) - digits)
        # Halves may be rounded either way.
        room = max(rounding * (1.0 + 1e-9), self.within * abs(printed))
        return abs(self.here - printed) <= room


@dataclass(frozen=True, kw_only=True)
class Result:
    """One recomputed table or figure.

    Attributes:
        title: Title of the table or figure.
        setting: Setting of the numbers: users, delta, randomizer, ...
        table: The numbers, in full.
        notes: Remarks, and differences from the paper.
        svg: The figure.
        comparisons: Numbers of the paper beside ours.
        keys: Number of first columns that identify a row.
    """

    title: str
    setting: Mapping[str, Cell]
    table: Table
    notes: tuple[str, ...]
    svg: str
    comparisons: tuple[Comparison, ...] = ()
    keys: int = 1

    def to_csv(self) -> str:
        """Returns the table, with a header: numbers in full, nothing for None."""
        cells = [[_in_full(cell) for cell in row] for row in self.table.rows]
        return csv_text([self.table.columns, *cells])

    def to_document(
        self, name: str, effort: "Effort", seconds: float
    ) -> dict[str, Any]:
        """Returns everything except the figure, for JSON.

        Args:
            name: Name of the experiment.
            effort: The effort with which it was computed.
            seconds: Run time.
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
            "columns": list(self.table.columns),
            "rows": [[_json(cell) for cell in row] for row in self.table.rows],
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
    """Parameters of a run of an experiment.

    Attributes:
        repetitions: Number of repetitions; 1 if it repeats nothing.
        seed: Seed of all randomness.
        quick: Whether to leave out the parts that a quick run may skip.
        on_share: Called with the share of the work that is done.
    """

    repetitions: int
    seed: int
    quick: bool
    on_share: OnShare

    def each(self, items: Collection[T]) -> Iterator[T]:
        """Yields the items, and reports the share that is done after each."""
        for number, item in enumerate(items, start=1):
            yield item
            self.on_share(number / len(items))


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper.

    Attributes:
        summary: One line about it.
        run: Function that computes it.
        repetitions: Default number; None if it repeats nothing.
        quick: The parts that a quick run leaves out; "" if there are none.
    """

    summary: str
    run: Callable[[Effort], Result]
    repetitions: int | None = None
    quick: str = ""


def _in_full(cell: Cell) -> str:
    # `repr` of a float loses no digit. A bool is an int, and is tested first.
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)


def _json(cell: Cell) -> Cell:
    # JSON has no infinity.
    if isinstance(cell, float) and not math.isfinite(cell):
        return str(cell)
    return cell
