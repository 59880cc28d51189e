"""Results say everything in full; tables for people cut no digit; pictures name all."""

import csv
import io
import json
import math
from xml.etree import ElementTree

import pytest
from rich.console import Console

from shuffledp.version import __version__
from shuffledp_papers.figures.line_plot import Curve, Panel, draw
from shuffledp_papers.figures.result import Comparison, Effort, Result
from shuffledp_papers.figures.result_table import result_table
from shuffledp_papers.figures.table import Cell, Table

EFFORT = Effort(3, 7, True, lambda _share: None)


def result(
    columns: tuple[str, ...],
    *rows: tuple[Cell, ...],
    comparisons: tuple[Comparison, ...] = (),
) -> Result:
    return Result(
        title="A title",
        setting={"people": 10_000, "delta": 1e-8},
        table=Table(columns, rows),
        notes=("A note.",),
        svg="",
        comparisons=comparisons,
    )


def printed(shown: Result, width: int) -> str:
    text = io.StringIO()
    Console(file=text, width=width).print(result_table(shown, width=width))
    return text.getvalue()


@pytest.mark.parametrize(
    ("printed_as", "here", "agrees"),
    [
        ("0.057", 0.0574, True),
        ("0.057", 0.0576, False),
        ("6e-5", 6.4e-5, True),
        ("6e-5", 6.6e-5, False),
        ("1.2e-5", 1.249e-5, True),
        ("17", 17.5, True),
        ("17", 17.51, False),
        ("17.5", math.nan, False),
        ("0", 0.0, True),
    ],
)
def test_numbers_agree_if_they_round_to_what_is_printed(
    printed_as: str, here: float, agrees: bool
) -> None:
    assert Comparison("x", printed_as, here).agrees is agrees


def test_simulated_numbers_agree_within_what_is_stated() -> None:
    assert Comparison("x", "80.0", 81.5, within=0.02).agrees
    assert not Comparison("x", "80.0", 81.7, within=0.02).agrees


def test_csv_has_every_digit_and_flags_of_their_own() -> None:
    shown = result(("a", "b", "b: exceeded"), (1, 0.1 + 0.2, True), (2, None, None))

    rows = list(csv.DictReader(io.StringIO(shown.to_csv())))

    assert float(rows[0]["b"]) == 0.1 + 0.2
    assert [row["b: exceeded"] for row in rows] == ["yes", ""]
    assert rows[1]["b"] == ""


def test_json_says_how_it_was_computed() -> None:
    compared = (Comparison("x", "0.5", 0.7, why="because"),)
    shown = result(("a", "b"), (1, math.inf), comparisons=compared)

    text = json.dumps(shown.to_document("name", EFFORT, 1.26), allow_nan=False)

    found = json.loads(text)
    assert found["experiment"] == "name"
    assert found["version"] == __version__
    assert (found["seed"], found["repetitions"], found["quick"]) == (7, 3, True)
    assert found["setting"] == {"people": 10_000, "delta": 1e-8}
    assert found["rows"] == [[1, "inf"]]
    assert found["comparisons"][0]["agrees"] is False


def test_wide_tables_are_printed_in_parts_and_no_digit_is_cut() -> None:
    names = tuple(f"column {place}" for place in range(20))
    cells = tuple(1.0 / (place + 3.0) for place in range(20))
    shown = result(("about", *names), ("row", *cells))

    for width in (40, 80, 200):
        text = printed(shown, width)
        assert max(map(len, text.splitlines())) <= width
        assert all(f"{cell:.3g}" in text for cell in cells)
        assert text.count("row ") == text.count("about ")


def test_flags_stand_behind_their_numbers() -> None:
    shown = result(("a", "b", "b: exceeded"), ("x", 0.25, True), ("y", 0.5, False))

    text = printed(shown, 80)

    assert "0.25!" in text
    assert "0.5!" not in text
    assert "exceeded" not in text


def test_numbers_that_differ_from_the_papers_are_named() -> None:
    compared = (Comparison("x", "0.5", 0.7, why="because"), Comparison("y", "1", 1.0))

    text = printed(result(("a",), (1,), comparisons=compared), 80)

    assert "1 of 2" in text
    assert "x: printed 0.5, here 0.7 (because)" in text


@pytest.mark.slow
@pytest.mark.parametrize("panels", range(1, 8))
def test_pictures_have_title_setting_and_no_empty_panel(panels: int) -> None:
    curves = [
        Curve("ours", [1, 2, 3], [0.1, None, 0.3], ours=True),
        Curve(
            "Author et al. 2023", [1, 2], [0.1, 0.2], low=[0.0, 0.1], high=[0.2, 0.3]
        ),
    ]
    listed = [
        Panel(f"panel {place}", curves, horizontal="n", vertical="epsilon", log="x")
        for place in range(panels)
    ]

    text = draw("A title", {"people": 10_000}, listed, description="For a reader.")

    ElementTree.fromstring(text)
    assert text.count('id="axes_') == panels
    for words in ("A title", "people 10,000", "Author et al. 2023", "For a reader."):
        assert words in text
