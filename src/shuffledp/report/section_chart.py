"""Drawing of a section of a summary, in whichever way it declares."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shuffledp.report.bar_chart import bar_height, draw_bars
from shuffledp.report.curve_chart import curve_height, draw_curve
from shuffledp.report.heat_chart import draw_heat, heat_height
from shuffledp.report.interval_chart import draw_intervals, interval_height
from shuffledp.statistics.charts import (
    BarChart,
    CurveChart,
    HeatChart,
    IntervalChart,
)
from shuffledp.statistics.summary_section import SummarySection

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase


@dataclass(frozen=True)
class _Drawing:
    height: Callable[[SummarySection], float]
    draw: Callable[[Any, SummarySection, float], None]


_DRAWINGS: dict[type[Any], _Drawing] = {
    IntervalChart: _Drawing(interval_height, draw_intervals),
    BarChart: _Drawing(bar_height, draw_bars),
    CurveChart: _Drawing(curve_height, draw_curve),
    HeatChart: _Drawing(heat_height, draw_heat),
}


def section_height(section: SummarySection) -> float:
    """Returns the height of a section's picture, in inches."""
    return _DRAWINGS[type(section.chart)].height(section)


def draw_section(
    figure: "FigureBase", section: SummarySection, confidence: float
) -> None:
    """Draws a section into an empty figure, or a part of one.

    Args:
        figure: That is drawn into.
        section: With a chart.
        confidence: Of the intervals, in (0, 1).
    """
    _DRAWINGS[type(section.chart)].draw(figure, section, confidence)
