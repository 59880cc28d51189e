"""Displayed numbers are those of the result: none is scaled, shifted or mixed up."""

from typing import Any

import pytest

from shuffledp.statistics.statistic_catalog import SURVEYS, survey_named
from shuffledp.statistics.survey import survey_in
from shuffledp_services.analyst.figures import figure_of
from shuffledp_services.wire.question import Question

PARAMETERS: dict[str, dict[str, Any]] = {
    "frequency": {"categories": ["a", "b"], "mechanism": "kary-response"},
    "mean": {"low": -10, "high": 120},
    "sum": {},
    "items": {"categories": ["a", "b", "c"], "set_size": 2},
    "counts": {
        "questions": [
            {"text": "Which?", "options": ["a", "b", "c"], "most": 2},
            {"text": "Well?", "options": ["yes", "no"], "most": 1},
        ]
    },
}
# By how much a displayed number is larger than the estimate, and what follows it.
EXPECTED = {
    "frequency": (100, "%"),
    "mean": (1, ""),
    "sum": (1, ""),
    "items": (100, "%"),
    "counts": (100, "%"),
}


def rows_of(labels: tuple[str, ...], scale: float) -> list[dict[str, Any]]:
    return [
        {
            "name": label,
            "value": scale * (0.41999 + 0.1 * index),
            "standard_error": scale * 0.0123,
            "interval": [scale * (0.3 + 0.1 * index), scale * (0.5 + 0.1 * index)],
            "population_interval": [scale * 0.2, scale * 0.7],
        }
        for index, label in enumerate(labels)
    ]


def number(text: str, suffix: str) -> float:
    assert text.endswith(suffix)
    return float(text.removesuffix(suffix).replace(",", ""))


@pytest.mark.parametrize("name", SURVEYS)
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_figures_show_the_numbers_of_the_result(name: str, scale: float) -> None:
    survey = survey_in(survey_named(name), PARAMETERS[name], "agnostic")
    rows = rows_of(survey.labels, scale)
    factor, suffix = EXPECTED[name]
    # Three digits of the standard error.
    off = 0.0006 * factor * 0.123 * scale

    figure = figure_of(
        {"estimate": {"rows": rows, "num_users": 5000}}, Question("?", survey)
    )

    assert [bar.name for bar in figure.bars] == list(survey.labels)
    for bar, row in zip(figure.bars, rows, strict=True):
        pairs = [
            (bar.value, row["value"]),
            (bar.error, row["standard_error"]),
            *zip(bar.interval.split(" to "), row["interval"], strict=True),
            *zip(bar.population.split(" to "), row["population_interval"], strict=True),
        ]
        for text, value in pairs:
            assert number(text, suffix) == pytest.approx(factor * value, abs=off)


@pytest.mark.parametrize("name", SURVEYS)
def test_positions_follow_the_marks_of_the_axis(name: str) -> None:
    survey = survey_in(survey_named(name), PARAMETERS[name], "agnostic")
    factor, suffix = EXPECTED[name]
    rows = rows_of(survey.labels, 1.0)

    figure = figure_of(
        {"estimate": {"rows": rows, "num_users": 1}}, Question("?", survey)
    )

    first, last = figure.ticks[0], figure.ticks[-1]
    marked = [number(tick.text, suffix) for tick in (first, last)]
    slope = (last.position - first.position) / (marked[1] - marked[0])
    for bar, row in zip(figure.bars, rows, strict=True):
        for place, value in zip(
            (bar.dot, bar.low, bar.high), (row["value"], *row["interval"]), strict=True
        ):
            at = first.position + slope * (factor * value - marked[0])
            assert place == pytest.approx(at, abs=0.01)
