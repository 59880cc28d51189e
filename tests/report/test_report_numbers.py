"""Every view of a rehearsal shows the numbers of its JSON."""

import html
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from shuffledp.rehearsal.rehearse import rehearse
from shuffledp.rehearsal.rehearsed import Rehearsed
from shuffledp.report.estimate_picture import estimate_picture
from shuffledp.report.files import html_report
from shuffledp.report.terminal import estimate_table

# By how much a displayed number is larger than the estimate, and what follows it.
SHOWN = {"frequency": (100.0, "%"), "mean": (1.0, ""), "sum": (1.0, "")}
NUMBERS: dict[str, Any] = {"frequency": {}, "mean": {"low": 0, "high": 50}, "sum": {}}


@pytest.fixture(scope="module", params=SHOWN)
def result(request: pytest.FixtureRequest) -> Rehearsed:
    rng = np.random.default_rng(3)
    values = {
        "frequency": rng.choice(["a", "b", "c"], 3000, p=[0.6, 0.3, 0.1]),
        "mean": rng.uniform(0.0, 50.0, 3000),
        "sum": rng.integers(2, size=3000),
    }[request.param]
    people = pl.DataFrame({"value": values, "level": [1.0, 2.0] * 1500})
    return rehearse(
        people,
        value="value",
        level="level",
        statistic=request.param,
        seed=3,
        **NUMBERS[request.param],
    )


def expected(result: Rehearsed) -> Iterator[tuple[float, ...]]:
    """Estimate, low, high and truth of every row, as they are to be displayed."""
    record = json.loads(json.dumps(result.summary.to_dict()))
    factor, _ = SHOWN[record["statistic"]]
    for row in record["estimates"]:
        truth = np.nan if row["truth"] is None else row["truth"]
        yield tuple(factor * x for x in (row["estimate"], *row["interval"], truth))


def numbers_in(text: str) -> list[float]:
    return [float(n.replace(",", "")) for n in re.findall(r"-?\d[\d,]*\.?\d*", text)]


def assert_shown(result: Rehearsed, lines: list[str], *, skipped: int) -> None:
    """Each line has the numbers of one row; `skipped` stand between estimate and low."""
    assert len(lines) == len(result.summary.rows)
    errors = [row.standard_error for row in result.summary.rows]
    factor, suffix = SHOWN[result.summary.words.name]
    off = max(0.02 if suffix else 0.006 * factor * max(errors), 1e-9)
    for line, (estimate, low, high, truth) in zip(lines, expected(result), strict=True):
        found = numbers_in(line)
        del found[1 : 1 + skipped]
        assert found[:3] == pytest.approx([estimate, low, high], abs=off)
        if not np.isnan(truth):
            assert found[3] == pytest.approx(truth, abs=off)


@pytest.mark.few_cases(2)
def test_the_terminal_shows_them(result: Rehearsed) -> None:
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(estimate_table(result.summary))
    text = console.export_text()

    names = [row.name for row in result.summary.rows]
    lines = [
        next(line for line in text.splitlines() if line.startswith(f"│ {name} "))
        for name in names
    ]

    single = result.summary.words.name != "frequency"
    assert_shown(result, lines, skipped=1 if single else 0)


def test_a_print_shows_them(result: Rehearsed) -> None:
    names = [row.name for row in result.summary.rows]
    lines = [
        next(line for line in str(result).splitlines() if line.split()[:1] == [name])
        for name in names
    ]

    assert_shown(result, lines, skipped=0)


@pytest.mark.few_cases(1)
def test_the_page_of_the_report_shows_them(result: Rehearsed) -> None:
    page = html_report(result.summary)
    names = [row.name for row in result.summary.rows]
    lines = [
        re.sub(
            r"<[^>]+>",
            " ",
            html.unescape(
                next(
                    x for x in page.splitlines() if x.startswith(f"<tr><td>{name}</td>")
                )
            ),
        )
        for name in names
    ]

    assert_shown(result, lines, skipped=1)


def test_the_picture_shows_them(result: Rehearsed) -> None:
    axes: Any
    (axes,) = estimate_picture(result.summary).figure.axes
    estimates, _, (whiskers,) = axes.containers[0].lines
    rows = list(expected(result))

    assert estimates.get_xdata() == pytest.approx([row[0] for row in rows])
    assert [list(segment[:, 0]) for segment in whiskers.get_segments()] == [
        pytest.approx([low, high]) for _, low, high, _ in rows
    ]
    if result.summary.words.name == "frequency":
        marks = axes.collections[-1].get_offsets()[:, 0]
        assert list(marks) == pytest.approx([truth for *_, truth in rows])
    else:
        truths = [line.get_xdata()[0] for line in axes.lines[1:]]
        assert rows[0][3] in [pytest.approx(truth) for truth in truths]
