"""Pictures of sections: each kind shows its numbers, those below 0 included."""

from typing import Any

import numpy as np
import pytest

from shuffledp.labels import SHARES, Display, StatisticLabels
from shuffledp.report.estimate_picture import section_picture
from shuffledp.statistics.charts import (
    BarChart,
    Chart,
    CurveChart,
    HeatChart,
    HeatTable,
    IntervalChart,
    QuantileMark,
)
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.summary_section import SummarySection

LONG = "Another means of transport & $5 a day"


def section(
    chart: Chart, estimates: list[float], names: list[str], display: Display = SHARES
) -> SummarySection:
    rows = tuple(
        EstimateRow(name, each, 0.01, each - 0.02, each + 0.02, each + 0.01)
        for name, each in zip(names, estimates, strict=True)
    )
    words = StatisticLabels("q", 'Who says "why"?', "q", "answer", "answers", display)
    return SummarySection(words, rows, chart)


def axes_of(drawn: SummarySection) -> list[Any]:
    return section_picture(drawn, 0.95).figure.axes


def texts_of(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_bars_below_zero_stay_there_and_have_their_number_beside() -> None:
    (axes,) = axes_of(section(BarChart(), [0.4, -0.01], [LONG, "never"]))

    widths = [bar.get_width() for bar in axes.patches]
    assert widths == pytest.approx([40.0, -1.0], rel=1e-12)
    assert texts_of(axes) == ["40.00%", "-1.00%"]
    first, second = (tick.get_text() for tick in axes.get_yticklabels())
    # On two lines; a dollar sign does not begin a formula.
    assert first == "Another means of transport\n& \\$5 a day"
    assert second == "never"


def test_a_curve_runs_from_none_to_all_people_with_quantiles_on_it() -> None:
    chart = CurveChart(
        (20.0, 40.0), 0.0, 60.0, "age", (QuantileMark(0.5, 30.0, 20.0, 40.0),)
    )
    (axes,) = axes_of(section(chart, [0.3, 1.01], ["below 20", "below 40"]))

    curves = {line.get_label(): line for line in axes.get_lines()}
    assert curves["estimate"].get_xdata().tolist() == [0.0, 20.0, 40.0, 60.0]
    # A share above 1 is shown as it was estimated.
    assert curves["estimate"].get_ydata() == pytest.approx([0.0, 30.0, 101.0, 100.0])
    assert curves["truth"].get_ydata() == pytest.approx([0.0, 31.0, 102.0, 100.0])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "quantiles, 95% intervals" in labels


def test_tables_have_a_number_in_every_cell_in_the_order_of_rows() -> None:
    tables = (
        HeatTable("a by b", ("f", "m"), ("x", "y", "z")),
        HeatTable("a by c", ("f", "m"), ("u", "v")),
    )
    estimates = np.linspace(-0.01, 0.8, 10).tolist()
    first, second = axes_of(section(HeatChart(tables), estimates, list("0123456789")))

    assert len(texts_of(first)) == 6
    assert len(texts_of(second)) == 4
    assert texts_of(first)[0] == "-1.00 ± 2.00"
    assert texts_of(second)[-1] == "80.00 ± 2.00"
    # The last column varies fastest: the fourth row is the first cell of "m".
    fourth = first.texts[3]
    assert fourth.get_position() == (0.5, 1.5)
    assert second.get_title() == "a by c"


def test_an_interval_without_an_end_is_a_point() -> None:
    row = EstimateRow("east", 2.0, np.inf, -np.inf, np.inf, 1.5)
    display = Display("mean of a group", axis="pay", has_bars=False)
    words = StatisticLabels("pay", "pay", "pay", "group", "groups", display)
    (axes,) = axes_of(SummarySection(words, (row,), IntervalChart()))

    (whiskers,) = (part for part in axes.collections if hasattr(part, "get_segments"))
    assert np.ptp(np.array(whiskers.get_segments())[..., 0]) == 0.0


def test_a_description_cannot_leave_its_attribute() -> None:
    drawn = section(BarChart(), [0.4], ["a"])
    words = StatisticLabels("q", "q", "q", "answer", 'answers" onload="x', SHARES)
    picture = section_picture(SummarySection(words, drawn.rows, BarChart()), 0.95)

    assert 'onload="x' not in picture.svg.partition(">")[0]
