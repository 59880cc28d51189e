"""Tables are addressed by names of columns, and refuse names and shapes they lack."""

import math
from collections.abc import Callable

import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.figures.line_plot import Curve, column_curves
from shuffledp_papers.figures.table import Cell, Table

TABLE = Table(
    ("panel", "n", "error", "error: exceeded"),
    [("a", 1, 0.5, True), ("b", 1, None, None), ("a", 2, 0.25, False)],
)


def test_columns_are_found_by_name_whatever_their_order() -> None:
    turned = Table(TABLE.columns[::-1], [row[::-1] for row in TABLE.rows])

    for table in (TABLE, turned):
        assert table.column("panel") == ["a", "b", "a"]
        assert table.column("error") == [0.5, None, 0.25]
        assert table.column("error: exceeded") == [True, None, False]


def test_numbers_that_are_missing_are_nan_and_words_are_refused() -> None:
    first, missing, last = TABLE.numbers("error")

    assert (first, last) == (0.5, 0.25)
    assert math.isnan(missing)
    with pytest.raises(InvalidInputError, match="number"):
        TABLE.numbers("panel")


def test_rows_are_chosen_by_value_and_keep_their_order() -> None:
    chosen = TABLE.where("panel", "a")

    assert chosen.columns == TABLE.columns
    assert chosen.column("n") == [1, 2]
    assert chosen.where("n", 2).column("error") == [0.25]
    assert TABLE.where("error", None).column("panel") == ["b"]
    assert TABLE.where("panel", "c").column("n") == []


def test_records_have_the_names_of_the_columns_and_make_the_same_table() -> None:
    records = TABLE.records()

    assert records[1] == {"panel": "b", "n": 1, "error": None, "error: exceeded": None}
    assert Table.from_records(records) == TABLE


@pytest.mark.parametrize(
    "other", [{"n": 1}, {"n": 1, "errors": 0.5}, {"error": 0.5, "n": 1}]
)
def test_records_of_other_columns_are_refused(other: dict[str, Cell]) -> None:
    with pytest.raises(InvalidInputError, match="same columns"):
        Table.from_records([{"n": 2, "error": 0.25}, other])


@pytest.mark.parametrize(
    "call",
    [
        lambda: TABLE.column("errors"),
        lambda: TABLE.numbers("errors"),
        lambda: TABLE.where("errors", 0.5),
        lambda: column_curves([1, 2, 3], TABLE, {"error": "errors"}),
    ],
)
def test_unknown_columns_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError, match="Expected a column of panel, n, error"):
        call()


@pytest.mark.parametrize(
    ("columns", "row"), [(("a", "a"), (1, 2)), (("a", "b"), (1,)), (("a",), (1, 2))]
)
def test_tables_of_other_shapes_are_refused(
    columns: tuple[str, ...], row: tuple[Cell, ...]
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        Table(columns, [row])


def test_curves_are_those_of_the_named_columns() -> None:
    found = column_curves(
        [1, 2, 3], TABLE, {"ours": "error", "size": "n"}, ours=["ours"], points=["size"]
    )

    assert found == [
        Curve("ours", [1, 2, 3], [0.5, None, 0.25], ours=True),
        Curve("size", [1, 2, 3], [1, 1, 2], joined=False),
    ]
