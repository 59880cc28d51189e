"""Tallies add up exactly, in any order, and are read back as they were or not at all."""

import json
import tracemalloc
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.reports import identity

from shuffledp import DataError, InvalidInputError, Tally
from shuffledp.types import Mode

HEADER = b"shuffledp-tally-1\n"
MODES: list[Mode] = ["agnostic", "stratified"]
SMALL, ANY = st.integers(-9, 9), st.integers(-(2**80), 2**80)


@st.composite
def tallies(draw: st.DrawFn, like: Tally | None = None) -> Tally:
    """Any tally, or one that can be added to another."""
    if like is None:
        mode = draw(st.sampled_from(MODES))
        cohorts, numbers = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        sent = mode == "stratified" or draw(st.booleans())
    else:
        mode = "stratified" if like.linked else "agnostic"
        (cohorts, _, numbers), sent = like.counts.shape, like.levels.size > 0
    chosen = st.lists(st.sampled_from([0.1, 0.5, 1.0, 2.5]), min_size=1, unique=True)
    levels = sorted(draw(chosen)) if sent else []
    columns = max(len(levels), 1)
    piles = columns if mode == "stratified" else 1
    people = draw(
        st.lists(
            st.lists(st.integers(1, 50), min_size=columns, max_size=columns),
            min_size=cohorts,
            max_size=cohorts,
        )
    )
    counts = draw(
        st.lists(
            draw(st.sampled_from([SMALL, ANY])),
            min_size=cohorts * piles * numbers,
            max_size=cohorts * piles * numbers,
        )
    )
    return Tally.from_dict(
        {
            "format": "shuffledp-tally-1",
            "protocol": identity(mode).record,
            "levels": levels,
            "people": people,
            "counts": np.array(counts, dtype=object)
            .reshape(cohorts, piles, numbers)
            .tolist(),
        }
    )


PARTS = tallies().flatmap(
    lambda first: st.tuples(st.just(first), tallies(first), tallies(first))
)


def as_numbers(tally: Tally) -> dict[tuple[Any, ...], int]:
    """All that is counted, by what it is counted of; what is 0 is left out."""
    levels = tally.levels.tolist() or [None]
    found: dict[tuple[Any, ...], int] = {}
    for cohort, row in enumerate(tally.people.tolist()):
        for level, number in zip(levels, row, strict=True):
            found["people", cohort, level] = number
    for cohort, piles in enumerate(tally.counts.tolist()):
        for level, pile in zip(levels if tally.linked else [None], piles, strict=True):
            for place, number in enumerate(pile):
                found["counts", cohort, level, place] = number
    return {key: number for key, number in found.items() if number}


@settings(deadline=None)
@given(parts=PARTS)
@pytest.mark.slow
def test_sums_hold_what_both_parts_hold(parts: tuple[Tally, Tally, Tally]) -> None:
    first, second, _ = parts

    total = as_numbers(first + second)

    one, other = as_numbers(first), as_numbers(second)
    expected = {
        key: one.get(key, 0) + other.get(key, 0) for key in one.keys() | other.keys()
    }
    assert total == {key: number for key, number in expected.items() if number}


@pytest.mark.slow
@settings(deadline=None)
@given(parts=PARTS)
def test_the_order_of_parts_does_not_matter(
    parts: tuple[Tally, Tally, Tally],
) -> None:
    first, second, third = parts

    assert first + second == second + first
    assert (first + second) + third == first + (second + third)
    assert (first + second).num_users == first.num_users + second.num_users


@pytest.mark.slow
@settings(deadline=None)
@given(parts=PARTS)
def test_parts_stay_what_they_are(parts: tuple[Tally, Tally, Tally]) -> None:
    first, second, _ = parts
    before = json.dumps([first.to_dict(), second.to_dict()])

    _ = first + second

    assert json.dumps([first.to_dict(), second.to_dict()]) == before


@pytest.mark.slow
@settings(deadline=None)
@given(parts=PARTS)
def test_tallies_are_read_back_as_they_were(parts: tuple[Tally, Tally, Tally]) -> None:
    first, second, _ = parts
    for tally in (first, first + second):
        text = json.dumps(tally.to_dict(), allow_nan=False)

        for read in (
            Tally.from_dict(json.loads(text)),
            Tally.from_bytes(tally.to_bytes()),
        ):
            assert read == tally
            assert read.identity == tally.identity
            assert read.counts.tolist() == tally.counts.tolist()
            assert read.levels.dtype == np.float64


@pytest.mark.slow
@settings(deadline=None)
@given(parts=PARTS)
def test_nobody_changes_nothing(parts: tuple[Tally, Tally, Tally]) -> None:
    tally, _, _ = parts
    cohorts, _, numbers = tally.counts.shape
    nobody = Tally(
        tally.identity,
        np.zeros(0),
        np.zeros((cohorts, 1), dtype=np.int64),
        np.zeros((cohorts, 1, numbers), dtype=np.int64),
    )

    assert tally + nobody == nobody + tally == tally
    assert nobody + nobody == nobody
    assert nobody.num_users == 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (2**62, 2**62),
        (2**63 - 1, 1),
        (-(2**63), -(2**63)),
        (-(2**63), -1),
        (2**61, 2**62 + 2**61),
        (2**100, -(2**100)),
        (-(2**61) - 1, -(2**63)),
    ],
)
def test_sums_never_wrap_around(first: int, second: int) -> None:
    parts = [
        Tally.from_dict(record() | {"counts": [[[number]]]})
        for number in (first, second)
    ]

    total = parts[0] + parts[1]

    assert total.counts.tolist() == [[[first + second]]]
    assert Tally.from_bytes(total.to_bytes()) == total


def record(mode: Mode = "agnostic") -> dict[str, Any]:
    return {
        "format": "shuffledp-tally-1",
        "protocol": identity(mode).record,
        "levels": [1.0],
        "people": [[3]],
        "counts": [[[2]]],
    }


def packed(text: str | bytes) -> bytes:
    return HEADER + zlib.compress(text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "shuffledp-tally-2"),
        ("format", None),
        ("protocol", None),
        ("protocol", {}),
        ("protocol", "frequency"),
        ("protocol", identity("agnostic").record | {"mode": "both"}),
        ("levels", None),
        ("levels", 1.0),
        ("levels", [[1.0]]),
        ("levels", ["1.0"]),
        ("levels", [True]),
        ("levels", [float("nan")]),
        ("levels", [float("inf")]),
        ("levels", [-1.0]),
        ("levels", [701.0]),
        ("levels", [10**400]),
        ("levels", [1.0, 1.0]),
        ("levels", [2.0, 1.0]),
        ("levels", [1.0, 2.0]),
        ("people", None),
        ("people", []),
        ("people", 3),
        ("people", [3]),
        ("people", [[[3]]]),
        ("people", [[]]),
        ("people", [[-3]]),
        ("people", [[3.0]]),
        ("people", [[True]]),
        ("people", [["3"]]),
        ("people", [[None]]),
        ("people", [[float("nan")]]),
        ("people", [[3, 4]]),
        ("people", [[3], [4]]),
        ("people", [[3], [4, 5]]),
        ("people", [[10**11]]),
        ("people", [[2**64]]),
        ("people", [[10**400]]),
        ("people", [[0]]),
        ("counts", None),
        ("counts", []),
        ("counts", [[2]]),
        ("counts", [[[2.0]]]),
        ("counts", [[[2.5]]]),
        ("counts", [[[float("nan")]]]),
        ("counts", [[["2"]]]),
        ("counts", [[[True]]]),
        ("counts", [[[None]]]),
        ("counts", [[[2]], [[2]]]),
        ("counts", [[[2], [2]]]),
        ("counts", [[[2, [2]]]]),
        ("counts", [[[[2]]]]),
        ("counts", {"0": 2}),
    ],
)
def test_what_is_no_tally_is_refused(key: str, value: Any) -> None:
    changed = record() | {key: value}

    with pytest.raises(DataError, match="Expected"):
        Tally.from_dict(changed)
    with pytest.raises(DataError, match="Expected"):
        Tally.from_bytes(packed(json.dumps(changed)))


@pytest.mark.parametrize("key", sorted(record()))
def test_incomplete_tallies_are_refused(key: str) -> None:
    changed = record()
    del changed[key]

    with pytest.raises(DataError, match="Expected"):
        Tally.from_dict(changed)


@pytest.mark.parametrize("what", [None, [], "tally", 3, {}, record() | {"more": 1}])
def test_anything_else_is_refused(what: Any) -> None:
    with pytest.raises(DataError, match="Expected a tally"):
        Tally.from_dict(what)


def nested(depth: int) -> str:
    return json.dumps(record()).replace("[[[2]]]", "[" * depth + "]" * depth)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        HEADER,
        b"shuffledp-tally-2\n" + packed(json.dumps(record()))[len(HEADER) :],
        json.dumps(record()).encode(),
        HEADER + json.dumps(record()).encode(),
        packed(json.dumps(record()))[:-1],
        packed(json.dumps(record()))[:-4] + b"0000",
        packed(json.dumps(record())) + b"0",
        packed(json.dumps(record())) + packed(json.dumps(record()))[len(HEADER) :],
        packed(json.dumps(record()) + "{}"),
        packed(json.dumps([record()])),
        packed(json.dumps(record())[:-1]),
        packed(json.dumps(record()).replace("[[3]]", "[[NaN]]")),
        packed(json.dumps(record()).replace("[1.0]", "[Infinity]")),
        packed(json.dumps(record()).replace('"levels"', '"levels": [2.0], "levels"')),
        packed(json.dumps(record()).encode("utf-16")),
        packed(b"\xff\xfe" + json.dumps(record()).encode()),
        packed(json.dumps(record()).replace("[[[2]]]", "[[[" + "9" * 5000 + "]]]")),
        packed(nested(200)),
        packed(nested(100_000)),
        None,
        "text",
        bytearray(packed(json.dumps(record()))),
    ],
    ids=range(23),
)
def test_bytes_that_are_no_tally_are_refused(content: Any) -> None:
    assert Tally.from_bytes(packed(json.dumps(record()))).num_users == 3

    with pytest.raises(DataError, match="Expected"):
        Tally.from_bytes(content)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_are_read_as_anything_by_accident(content: bytes) -> None:
    for tried in (content, HEADER + content, packed(content)):
        with pytest.raises(DataError):
            Tally.from_bytes(tried)


@settings(deadline=None)
@given(data=st.data())
def test_one_wrong_byte_is_noticed(data: st.DataObject) -> None:
    good = packed(json.dumps(record()))
    place = data.draw(st.integers(0, len(good) - 1))
    flipped = bytes([good[place] ^ data.draw(st.integers(1, 255))])

    try:
        read = Tally.from_bytes(good[:place] + flipped + good[place + 1 :])
    except DataError:
        return
    # Some bits of a compressed stream say nothing.
    assert read == Tally.from_dict(record())


@pytest.mark.slow
@pytest.mark.parametrize(
    "inside",
    [
        b"[",
        *(pytest.param(one, marks=pytest.mark.slow) for one in (b"0", b'{"levels":')),
    ],
)
def test_a_few_bytes_do_not_fill_the_memory(inside: bytes) -> None:
    bomb = packed(inside * (2**28 // len(inside)))
    assert len(bomb) < 2**22

    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="Expected"):
            Tally.from_bytes(bomb)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # Never more of it than may be read, and a copy.
    assert most < 3 * 2**26


def test_what_could_not_be_read_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tally = Tally.from_dict(record())
    size = len(json.dumps(tally.to_dict(), separators=(",", ":")))

    monkeypatch.setattr("shuffledp.tally._MOST_BYTES", size)
    assert Tally.from_bytes(tally.to_bytes()) == tally
    monkeypatch.setattr("shuffledp.tally._MOST_BYTES", size - 1)
    with pytest.raises(InvalidInputError, match="at most"):
        tally.to_bytes()


def test_tallies_of_other_protocols_cohorts_and_numbers_are_not_added() -> None:
    one = Tally.from_dict(record())
    others = [
        (record("stratified"), "stratified"),
        (record() | {"people": [[3], [3]], "counts": [[[2]], [[2]]]}, "cohorts"),
        (record() | {"counts": [[[2, 2]]]}, "numbers"),
        (record() | {"levels": []}, "levels"),
    ]

    for other, message in others:
        with pytest.raises(InvalidInputError, match=message):
            _ = one + Tally.from_dict(other)
        with pytest.raises(InvalidInputError, match=message):
            _ = Tally.from_dict(other) + one
    with pytest.raises(TypeError):
        _ = one + 3


def test_more_people_than_there_are_are_not_added_up() -> None:
    half = Tally.from_dict(record() | {"people": [[6 * 10**9]]})

    with pytest.raises(InvalidInputError, match="people"):
        _ = half + half


def test_tallies_differ_in_everything_they_hold() -> None:
    tally = Tally.from_dict(record())
    others: list[dict[str, Any]] = [
        {"protocol": identity("stratified").record},
        {"protocol": identity("agnostic").record | {"mechanism": "another"}},
        {"levels": [2.0]},
        {"people": [[4]]},
        {"counts": [[[3]]]},
    ]

    assert tally == Tally.from_dict(record())
    assert tally != "tally"
    for other in others:
        assert tally != Tally.from_dict(record() | other)


@pytest.mark.parametrize(
    ("levels", "people", "counts"),
    [
        (np.ones((1, 1)), np.ones((1, 1), dtype=int), np.ones((1, 1, 1), dtype=int)),
        (
            np.ones(1, dtype=int),
            np.ones((1, 1), dtype=int),
            np.ones((1, 1, 1), dtype=int),
        ),
        (np.ones(1), np.ones((1, 1)), np.ones((1, 1, 1), dtype=int)),
        (np.ones(1), np.ones((1, 1), dtype=int), np.ones((1, 1, 1))),
        (np.ones(1), np.ones((1, 1), dtype=int), np.ones((1, 1), dtype=int)),
        (np.ones(1), np.ones((1, 1), dtype=int), np.array([[[1.5]]], dtype=object)),
        (np.ones(1), np.ones((1, 1), dtype=int), np.array([[[None]]], dtype=object)),
        (np.ones(1), np.zeros((0, 1), dtype=int), np.ones((0, 1, 1), dtype=int)),
        (np.ones(1), np.ones((1, 1), dtype=np.int32), np.ones((1, 1, 1), dtype=int)),
    ],
)
def test_arrays_of_wrong_shapes_and_kinds_are_refused(
    levels: Any, people: Any, counts: Any
) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        Tally(identity("agnostic"), levels, people, counts)
