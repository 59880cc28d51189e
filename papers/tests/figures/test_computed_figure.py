"""Rows of experiments.toml: curves are columns, and functions are there."""

from functools import partial
from importlib import import_module

import pytest

from shuffledp_papers.figures.computed_figure import PictureRow
from shuffledp_papers.figures.experiments import EXPERIMENTS
from shuffledp_papers.figures.line_plot import Curve
from shuffledp_papers.figures.table import Table

TABLE = Table(
    ("varied", "at", "error", "bound"),
    [("n", 1, 0.5, None), ("n", 2, 0.25, None), ("d", 3, 0.125, 1.0)],
)
PICTURE = PictureRow(
    at="at",
    vertical="size",
    curves={"measured": "error", "stated": "bound"},
    log="xy",
    ours=("stated",),
    points=("measured",),
)


def test_curves_are_the_named_columns_in_one_panel() -> None:
    (panel,) = PICTURE.panels(TABLE)

    assert (panel.title, panel.horizontal, panel.vertical) == ("", "at", "size")
    assert panel.log == "xy"
    assert panel.curves == [
        Curve("measured", [1, 2, 3], [0.5, 0.25, 0.125], joined=False),
        Curve("stated", [1, 2, 3], [None, None, 1.0], ours=True),
    ]


def test_values_of_a_column_have_panels_without_empty_curves() -> None:
    by_value = PictureRow(
        "at", "size", PICTURE.curves, horizontal="{}", by="varied", panel="by {}"
    )

    first, second = by_value.panels(TABLE)

    assert [first.title, second.title] == ["by n", "by d"]
    assert [first.horizontal, second.horizontal] == ["n", "d"]
    assert [curve.label for curve in first.curves] == ["measured"]
    assert [curve.label for curve in second.curves] == ["measured", "stated"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_functions_of_experiments_are_there(name: str) -> None:
    run = EXPERIMENTS[name].run
    assert isinstance(run, partial)
    folder, row = run.args

    module, _, function = row.run.partition(".")

    figures = import_module(f"shuffledp_papers.{folder}.figures.{module}")
    assert callable(getattr(figures, function))
    assert row.title
