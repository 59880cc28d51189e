"""Results of which a collection says nothing: hardly anybody answered the question."""

import csv
import io
import json
import math
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.labels import SHARES, StatisticLabels
from shuffledp.report.estimate_picture import section_picture
from shuffledp.report.estimates_csv import estimates_csv
from shuffledp.report.files import html_report
from shuffledp.report.listed_rows import MAX_ROWS, listed_rows
from shuffledp.report.terminal import estimate_table
from shuffledp.statistics.charts import BarChart
from shuffledp.statistics.estimate_row import EstimateRow
from shuffledp.statistics.summary_section import SummarySection

NUMBER = {"kind": "number", "low": 0, "high": 120, "skippable": True, "digits": 3}
TREE = {"kind": "distribution", "edges": [0, 40, 80, 120], "skippable": True}
QUESTIONS = {"mean": NUMBER, "spread": TREE}
N = 1_000


@pytest.fixture(
    scope="module", params=[0, 1], ids=["nobody answered", "one person answered"]
)
def result(request: pytest.FixtureRequest) -> Any:
    ages = [5.0] * request.param + [None] * (N - request.param)
    frame = {"mean": ages, "spread": ages, "epsilon": [1.0] * N}
    return sdp.rehearse(
        frame, questions=QUESTIONS, targets="epsilon", consistent=True, seed=1
    )


def rows_of(result: Any, quantity: str) -> list[Any]:
    return [r for r in result.summary.rows if r.details["quantity"] == quantity]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("quantity", ["mean", "share below", "quantile"])
def test_numbers_of_too_few_answers_are_unknown(result: Any, quantity: str) -> None:
    for row in rows_of(result, quantity):
        assert math.isnan(row.estimate)
        assert math.isnan(row.consistent)
        assert row.error is None


def test_json_and_csv_leave_unknown_numbers_out(result: Any) -> None:
    # Refuses NaN and infinities.
    text = json.dumps(result.summary.to_dict(), allow_nan=False)
    mean = json.loads(text)["estimates"][0]
    assert mean["estimate"] is None
    assert mean["consistent"] is None
    assert mean["interval"] == [None, None]
    assert mean["error"] is None

    cells = next(csv.DictReader(io.StringIO(estimates_csv(result.summary))))
    assert [cells[name] for name in ("estimate", "low", "high", "error")] == [""] * 4


@pytest.mark.few_cases(1)
def test_tables_and_pages_say_unknown(result: Any) -> None:
    for text in (str(result), html_report(result.summary)):
        assert "unknown" in text
        assert "inf" not in text.replace("information", "")
        assert ">nan" not in text
        assert " nan" not in text
    estimate_table(result.summary)


def test_truths_without_an_interval_are_not_counted(result: Any) -> None:
    first, second, *_ = result.summary.sections

    assert first.coverage(0.95) == "No mean has both a known truth and an interval."
    assert second.coverage(0.95).startswith("1 of 1 true shares")
    comparable = [row for row in result.summary.rows if row.is_comparable]
    assert 0 < result.summary.num_covered <= len(comparable) < len(result.summary.rows)


@pytest.mark.slow
def test_what_many_people_answered_stays_known() -> None:
    ages = np.linspace(0.0, 120.0, N).tolist()
    frame = {"mean": ages, "spread": ages, "epsilon": [9.0] * N}
    result = sdp.rehearse(frame, questions=QUESTIONS, targets="epsilon", seed=1)

    assert all(math.isfinite(row.estimate) for row in result.summary.rows)
    assert "unknown" not in str(result)


def test_unknown_numbers_come_last_and_have_no_bar() -> None:
    # Every second number is unknown.
    rows = tuple(
        EstimateRow(str(n), math.nan, math.inf, -math.inf, math.inf, None)
        if n % 2
        else EstimateRow(str(n), n / 100.0, 0.01, n / 100.0, 1.0, 0.5)
        for n in range(2 * MAX_ROWS)
    )
    words = StatisticLabels("way", "Way", "Way", "answer", "answers", SHARES)
    section = SummarySection(words, rows, BarChart())

    listed = listed_rows(section)
    few = SummarySection(words, rows[:2], BarChart())

    assert [row.name for row in listed] == [str(n) for n in range(0, 2 * MAX_ROWS, 2)]
    assert "unknown" in section_picture(few, 0.95).svg
