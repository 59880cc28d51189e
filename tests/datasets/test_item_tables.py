"""Sets of items from tables: one row per person and item, levels beside them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shuffledp.datasets.item_tables import read_item_sets
from shuffledp.errors import DataError, InvalidInputError, MissingValueError
from shuffledp.randomness import SystemRandom

Write = Callable[[pl.DataFrame, Path], object]
RNG = SystemRandom()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.csv"


@pytest.mark.parametrize(
    ("write", "name"),
    [(pl.DataFrame.write_csv, "a.csv"), (pl.DataFrame.write_parquet, "a.parquet")],
)
def test_tables_have_one_row_per_person_and_item(
    tmp_path: Path, write: Write, name: str
) -> None:
    rows = [("z", "b"), ("a", "c"), ("z", "a"), ("z", "b"), ("m", "c"), ("z", "c")]
    frame = pl.DataFrame(rows, schema=["who", "what"], orient="row")
    write(frame, tmp_path / name)

    found = read_item_sets(
        tmp_path / name, person="who", item="what", rng=np.random.default_rng(1)
    )

    assert [set(row) for row in found.sets.tolist()] == [
        {0, 1, 2},
        {2, 3, 4},
        {2, 3, 4},
    ]
    assert found.names == ("a", "b", "c", "(no item 1)", "(no item 2)")
    smaller = read_item_sets(
        tmp_path / name,
        person="who",
        item="what",
        set_size=1,
        items=("c", "b", "a", "never"),
        rng=np.random.default_rng(1),
    )
    assert smaller.sets[1:].tolist() == [[0], [0]]
    assert smaller.names == ("c", "b", "a", "never")


@pytest.mark.parametrize(
    "content",
    [
        "who,what\n",
        "who,what\n1,\n",
        "who,what\n,secret\n1,b\n",
        "who,other\n1,secret\n",
    ],
)
def test_damaged_tables_are_refused_and_not_quoted(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)

    with pytest.raises(DataError) as error:
        read_item_sets(path, person="who", item="what", rng=np.random.default_rng(1))

    assert "secret" not in str(error.value)


def test_levels_come_in_the_order_of_people(path: Path) -> None:
    path.write_text("who,what,level,other\nz,b,2,1\na,c,0.5,1\nm,c,1,1\nz,a,2,2\n")

    found = read_item_sets(path, person="who", item="what", level="level", rng=RNG)
    without = read_item_sets(path, person="who", item="what", rng=RNG)

    assert found.levels is not None
    assert found.levels.tolist() == [2.0, 0.5, 1.0]
    assert [set(row) & {0, 1, 2} for row in found.sets.tolist()] == [{0, 1}, {2}, {2}]
    assert (found.notes, without.levels) == ((), None)
    with pytest.raises(InvalidInputError, match="same level in all rows"):
        read_item_sets(path, person="who", item="what", level="other", rng=RNG)


def test_people_are_told_apart_as_they_are_written(path: Path) -> None:
    path.write_text("who,what\n01,a\n1,b\n 1 ,a\n")

    found = read_item_sets(path, person="who", item="what", rng=RNG)

    assert [set(row) & {0, 1} for row in found.sets.tolist()] == [{0}, {0, 1}]
    assert found.notes == ("White space around 1 value was removed.",)


GAPS = (
    "who,what,level\n"
    "a,x,1\n"  # Row 2.
    "b,x,2\n"
    "b,NA,2\n"
    "c,y,2\n"
    ",y,1\n"
    "d,y,none\n"
    "a,y,1\n"
)


def test_missing_values_are_refused_with_their_rows(path: Path) -> None:
    path.write_text(GAPS)

    with pytest.raises(MissingValueError) as error:
        read_item_sets(path, person="who", item="what", level="level", rng=RNG)

    assert str(error.value) == (
        "Expected a value in every row of columns 'who', 'what' and 'level' of a.csv, "
        "found none in rows 4, 6 and 7 (the header is row 1)."
    )


def test_whoever_lacks_a_value_is_left_out_with_all_her_rows(path: Path) -> None:
    path.write_text(GAPS)

    found = read_item_sets(
        path, person="who", item="what", level="level", missing="drop", rng=RNG
    )

    # Person b held x, too: without her second row she would seem to hold nothing else.
    assert found.levels is not None
    assert found.levels.tolist() == [1.0, 2.0]
    assert [set(row) & {0, 1} for row in found.sets.tolist()] == [{0, 1}, {1}]
    assert found.notes == (
        "3 of 5 people were left out, for want of a value in columns 'who', 'what' and "
        "'level'.",
    )


def test_an_item_that_is_called_none_can_be_named(path: Path) -> None:
    path.write_text("who,what\n1,none\n2,a\n")

    found = read_item_sets(
        path, person="who", item="what", items=("a", "none"), rng=RNG
    )

    assert found.sets.tolist() == [[1], [0]]
    with pytest.raises(MissingValueError, match="row 2 "):
        read_item_sets(path, person="who", item="what", rng=RNG)


def test_nonsense_is_refused(path: Path) -> None:
    path.write_text("who,what\n1,a\n1,b\n2,a\n")

    with pytest.raises(InvalidInputError):
        read_item_sets(path, person="who", item="what", items=("a", "c"), rng=RNG)
    with pytest.raises(InvalidInputError):
        read_item_sets(path, person="who", item="what", set_size=0, rng=RNG)
    with pytest.raises(DataError, match="different columns"):
        read_item_sets(path, person="who", item="who", rng=RNG)
    with pytest.raises(DataError, match="different columns"):
        read_item_sets(path, person="who", item="what", level="who", rng=RNG)
    path.write_text("who,what\n1,NA\n1,b\n")
    with pytest.raises(DataError, match="Expected a person"):
        read_item_sets(path, person="who", item="what", missing="drop", rng=RNG)
