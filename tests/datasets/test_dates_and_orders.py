"""Dates of pandas, which are times of midnight, and categories that have an order."""

from datetime import datetime
from typing import Any

import polars as pl
import pytest

from shuffledp.datasets.column_values import categories_of
from shuffledp.datasets.frames import Frame
from shuffledp.datasets.table import read_columns
from shuffledp.errors import DataError

DAYS = [datetime(2024, 1, 1), datetime(2024, 3, 2)]
ORDER = ["low", "mid", "high"]


def pandas() -> Any:
    return pytest.importorskip("pandas")


def names_of(frame: Any) -> tuple[str, ...]:
    table = read_columns(Frame(frame), ["x"])
    return categories_of(table["x"], None, table.orders.get("x", ()))[1]


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_times_of_midnight_are_dates(zone: str | None) -> None:
    days = pandas().Series(pandas().to_datetime(DAYS)).dt.tz_localize(zone)
    expected = ("2024-01-01", "2024-03-02")
    assert names_of(pandas().DataFrame({"x": days})) == expected
    own = pl.Series(DAYS).dt.replace_time_zone(zone)
    assert names_of(pl.DataFrame({"x": own})) == expected


def test_times_of_day_are_no_categories() -> None:
    times = [*DAYS, datetime(2024, 3, 2, 10, 30)]
    with pytest.raises(DataError, match="times of day"):
        names_of(pandas().DataFrame({"x": pandas().to_datetime(times)}))


def test_a_missing_date_is_left_out() -> None:
    frame = pl.DataFrame({"x": [*DAYS, None]})
    table = read_columns(Frame(frame), ["x"], missing="drop")
    assert table["x"].to_list() == [day.date() for day in DAYS]


def test_ordered_categories_keep_their_order() -> None:
    values = ["high", "low", "mid", "low"]
    ordered = pandas().Categorical(values, categories=ORDER, ordered=True)
    assert names_of(pandas().DataFrame({"x": ordered})) == tuple(ORDER)
    assert names_of(
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(ORDER))})
    ) == tuple(ORDER)


def test_categories_without_an_order_are_sorted() -> None:
    values = ["low", "high", "low"]
    unordered = pandas().Categorical(values, categories=["low", "high"])
    assert names_of(pandas().DataFrame({"x": unordered})) == ("high", "low")


def test_ordered_categories_that_do_not_occur_are_not_made_up() -> None:
    values = pl.Series(["high", "low"], dtype=pl.Enum(ORDER))
    assert names_of(pl.DataFrame({"x": values})) == ("low", "high")
