"""Charts of a summary's rows as data: nothing is drawn here."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class IntervalChart:
    """Points with their intervals, a line for each row."""


@dataclass(frozen=True)
class BarChart:
    """A bar from 0 for each row, with its interval, and the number beside it."""


@dataclass(frozen=True)
class QuantileMark:
    """A quantile, to be marked on a distribution function.

    Attributes:
        share: Of people below it, in (0, 1).
        estimate: Of the quantile.
        low: Lower end of its interval.
        high: Upper end of it.
    """

    share: float
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class CurveChart:
    """A distribution function: a row for each number, as the share of people below it.

    Attributes:
        numbers: Of the rows, ascending.
        low: The number below which there are no people.
        high: The number below which all people are.
        axis: Label of the axis of numbers.
        quantiles: Marked on the curve.
    """

    numbers: tuple[float, ...]
    low: float
    high: float
    axis: str
    quantiles: tuple[QuantileMark, ...] = ()


@dataclass(frozen=True)
class HeatTable:
    """Cells of a table: each is a row of a summary.

    Attributes:
        title: Of the table.
        rows: Labels of rows.
        columns: Labels of columns, which vary fastest over rows of the summary.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class HeatChart:
    """Tables, one after another, which together have a cell for each row.

    Attributes:
        tables: At least one.
    """

    tables: tuple[HeatTable, ...]


Chart: TypeAlias = IntervalChart | BarChart | CurveChart | HeatChart
