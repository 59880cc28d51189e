"""Tables in files: what a reader refuses, and where it says that it stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

from shuffledp.errors import InvalidInputError
from shuffledp_papers.court.stated_claim import StatedClaim
from shuffledp_papers.toml_tables import parse_table, read_rows, read_table


class Kind(StrEnum):
    PLAIN = "plain"
    ODD = "odd"


@dataclass(frozen=True)
class Row:
    name: str
    size: float = 0.0
    count: int = 0
    kind: Kind | None = None
    words: tuple[str, ...] = ()
    sure: bool = False
    sizes: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise InvalidInputError("Expected a count.")


@dataclass(frozen=True)
class Table:
    title: str
    rows: tuple[Row, ...]


HEAD = 'title = "t"\n[[rows]]\nname = "first"\n[[rows]]\n'


def test_rows_are_read_with_their_types_and_shared_texts() -> None:
    text = (
        HEAD
        + 'name = "a $who"\nsize = 2\ncount = 3\nkind = "odd"\nwords = ["$who", "x"]\n'
        "sure = true\nsizes = { a = 1 }\n"
        '[shared]\nwho = "crowd"\n'
    )

    found = parse_table(Table, text, "x.toml")

    assert found.rows == (
        Row("first"),
        Row("a crowd", 2.0, 3, Kind.ODD, ("crowd", "x"), True, {"a": 1.0}),
    )
    assert type(found.rows[1].size) is float
    assert found.rows[1].kind is Kind.ODD


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('size = "2"', "Expected float in x.toml, rows 2, size, got '2'"),
        ("size = true", "Expected float in x.toml, rows 2, size, got True"),
        ("count = 2.0", "Expected int in x.toml, rows 2, count"),
        ("count = true", "Expected int in x.toml, rows 2, count"),
        ("sure = 1", "Expected bool in x.toml, rows 2, sure, got 1"),
        ('sizes = { a = "b" }', "Expected float in x.toml, rows 2, sizes, a, got 'b'"),
        ("sizes = 1", "Expected Mapping in x.toml, rows 2, sizes, got 1"),
        ('kind = "even"', "Expected Kind in x.toml, rows 2, kind, got 'even'"),
        ("words = [1]", "Expected str in x.toml, rows 2, words 1, got 1"),
        ('words = "a"', "Expected tuple in x.toml, rows 2, words, got 'a'"),
        ('more = "a"', "in x.toml, rows 2; got more"),
        ("count = -1", "x.toml, rows 2: Expected a count"),
        ('words = ["$nobody"]', "shared texts in x.toml, rows 2, words 1"),
        ('words = ["5 $"]', "shared texts in x.toml, rows 2, words 1"),
        ('name = "b"', "Expected TOML in x.toml: .*line 6"),
    ],
)
def test_errors_name_the_file_and_the_row(line: str, what: str) -> None:
    with pytest.raises(InvalidInputError, match=what):
        parse_table(Table, f'{HEAD}name = "second"\n{line}\n', "x.toml")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('title = "t"', "Expected title, rows in x.toml; rows is missing"),
        ('title = "t"\nrows = 1', "Expected tuple in x.toml, rows, got 1"),
        ('title = "t"\nrows = [1]', "Expected Row in x.toml, rows 1, got 1"),
        (HEAD, "in x.toml, rows 2; name is missing"),
        ("shared.who = 1", "Expected str in x.toml, shared, who, got 1"),
        ("shared = 1", "Expected Mapping in x.toml, shared, got 1"),
        ("rows = " + "[" * 50_000, "Expected values nested less deep in x.toml"),
    ],
)
def test_what_is_missing_is_named(text: str, what: str) -> None:
    with pytest.raises(InvalidInputError, match=what):
        parse_table(Table, text, "x.toml")


def test_a_file_of_the_package_is_named_in_errors() -> None:
    with pytest.raises(InvalidInputError, match=r"in apes/contents\.toml"):
        read_table(Table, "apes", "contents.toml")


def test_rows_are_the_one_list_of_a_file() -> None:
    rows = read_rows(StatedClaim, "segmented", "claims.toml")

    assert rows
    assert all(isinstance(row, StatedClaim) for row in rows)
    with pytest.raises(InvalidInputError, match=r"segmented/figures.toml"):
        read_rows(StatedClaim, "segmented", "figures.toml")
    with pytest.raises(InvalidInputError, match=r"claims.toml, claims 1; got paper"):
        read_rows(Row, "segmented", "claims.toml")
