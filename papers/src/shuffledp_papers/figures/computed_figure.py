"""Numbers of a table or figure, and the picture that its row of experiments.toml draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shuffledp_papers.figures.line_plot import Panel, column_curves
from shuffledp_papers.figures.result import Comparison
from shuffledp_papers.figures.table import Cell, Table


@dataclass(frozen=True, kw_only=True)
class ComputedFigure:
    """Numbers of an experiment; titles, notes and axes are in TOML beside the paper.

    Attributes:
        setting: Setting of the numbers: users, delta, randomizer, ...
        table: The numbers, in full.
        values: For the names in braces of notes and comparisons.
        numbers: Beside the printed numbers of the row, in its order.
        comparisons: Further numbers of the paper beside ours, before those.
        notes: If there are any, in place of those that have the experiment's name.
        pictured: In place of the table, the rows and columns to draw.
        panels: In place of the picture of the row.
        picture_setting: In place of the setting, in the picture.
    """

    setting: Mapping[str, Cell]
    table: Table
    values: Mapping[str, object] = field(default_factory=dict)
    numbers: Sequence[float] = ()
    comparisons: tuple[Comparison, ...] = ()
    notes: tuple[str, ...] = ()
    pictured: Table | None = None
    panels: Sequence[Panel] = ()
    picture_setting: Mapping[str, Cell] | None = None


@dataclass(frozen=True)
class PictureRow:
    """Curves that are columns of a table.

    Attributes:
        at: Column with the positions on the horizontal axis.
        vertical: Name of the vertical axis.
        curves: {label of the curve: name of its column}.
        horizontal: Name of the horizontal axis; "" for that of its column.
        log: Which axes are logarithmic: "", "x", "y" or "xy".
        ours: Labels of curves that this library proves.
        points: Labels of curves whose points are not joined.
        by: Column with a panel for each of its values; "" for a single panel.
        panel: Title of a panel, and `horizontal` too, with the value in braces.
        title: Of the picture; "" for that of the experiment.
    """

    at: str
    vertical: str
    curves: Mapping[str, str]
    horizontal: str = ""
    log: str = ""
    ours: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    by: str = ""
    panel: str = ""
    title: str = ""

    def panels(self, table: Table) -> list[Panel]:
        """Returns the panels, without curves that have no point in them."""
        parts = {
            value: table.where(self.by, value)
            for value in (table.column(self.by) if self.by else ())
        }
        return [
            self._panel(value, chosen)
            for value, chosen in (parts or {"": table}).items()
        ]

    def _panel(self, value: Cell, table: Table) -> Panel:
        curves = column_curves(
            table.column(self.at),
            table,
            self.curves,
            ours=self.ours,
            points=self.points,
        )
        return Panel(
            self.panel.format(value),
            [c for c in curves if any(cell is not None for cell in c.values)],
            horizontal=self.horizontal.format(value) or self.at,
            vertical=self.vertical,
            log=self.log,
        )
