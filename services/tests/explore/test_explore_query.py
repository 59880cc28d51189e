"""Queries read from addresses: valid parameters, and refused ones."""

from typing import Any

import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.catalog import mechanisms_for
from shuffledp_services.explore.explore_query import MECHANISMS, read_query
from shuffledp_services.explore.exports import command_of


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"levels": "2:3,0.5:1", "delta": "1e-09", "absent": "2", "rounds": "3"},
        {"statistic": "mean", "low": "-1", "high": "1", "mode": "stratified"},
        {"mechanism": "subset-selection", "subset_size": "5"},
        {"mechanism": "local-hashing", "buckets": "7"},
        {"statistic": "mean", "mechanism": "gaussian", "delta_local": "1e-09"},
        *({"statistic": s, "mechanism": m} for s, ms in MECHANISMS.items() for m in ms),
    ],
)
def test_a_query_is_read_back_from_its_own_text(given: dict[str, str]) -> None:
    query = read_query(given)

    texts = dict(pair.split("=") for pair in query.query_string.split("&"))
    assert read_query(texts) == query
    given = given | {"levels": query.levels_text}
    assert {name: texts[name] for name in given} == given
    assert query.protocol.identity.record["mechanism"] == query.mechanism


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"levels": "1:0"}, "people to be a whole number"),
        ({"levels": "1:50.5"}, "people to be a whole number"),
        ({"levels": "1:1_000"}, "people to be a whole number"),
        ({"levels": "1:10000000000000"}, "people to be a whole number"),
        ({"levels": "1:900000000000"}, "to 10,000,000,000"),
        ({"levels": "1"}, "EPSILON:PEOPLE"),
        ({"levels": "1:5,1.0:5"}, "each level once"),
        ({"levels": "nan:5"}, "a level to be a number"),
        ({"levels": "21:5"}, "from 0 to 20"),
        ({"levels": ",".join(f"{n}:5" for n in range(13))}, "at most 12 levels"),
        ({"delta": "0"}, "delta to be a number"),
        ({"delta": "1_0e-9"}, "delta to be a number"),
        ({"delta": "1e-6" + "0" * 30}, "delta to be a number"),
        ({"absent": "10000"}, "from 0 to 9,999"),
        ({"rounds": "1001"}, "from 1 to 1,000"),
        ({"categories": "1"}, "from 2 to 10,000"),
        ({"statistic": "median"}, "frequency, mean"),
        ({"statistic": "mean", "mechanism": "kary-response"}, "one-bit, laplace"),
        (
            {"mechanism": "subset-selection", "subset_size": "17"},
            "subset_size to be a whole number from 1 to 16",
        ),
        (
            {"mechanism": "local-hashing", "buckets": "1"},
            "buckets to be a whole number from 2 to 1,000",
        ),
        (
            {"statistic": "mean", "mechanism": "gaussian", "delta_local": "0"},
            "delta_local to be a number",
        ),
        ({"statistic": "mean", "low": "3", "high": "3"}, "low < high"),
        ({"value": "1.5"}, "from 0 to 1"),
        ({"mode": "both"}, "agnostic, stratified"),
        ({"color": "red"}, "got 'color'"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused(
    given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        read_query(given)

    assert str(refused.value).startswith("Expected ")
    assert len(str(refused.value)) < 160


def test_a_range_is_a_clip_for_a_mechanism_that_takes_one() -> None:
    given = {"statistic": "mean", "mechanism": "clip-laplace", "low": "4", "high": "10"}

    query = read_query(given | {"levels": "1:50"})

    assert "--mechanism 'clip-laplace(clip=3)' --levels" in command_of(query)
    assert (query.protocol.low, query.protocol.randomizer.clip) == (4.0, 3.0)


def test_every_mechanism_of_the_protocols_is_on_the_page() -> None:
    assert set(MECHANISMS["frequency"]) == set(mechanisms_for("categories"))
    assert set(MECHANISMS["mean"]) == set(mechanisms_for("numbers"))


def test_a_command_says_no_more_than_it_must() -> None:
    assert command_of(read_query({"levels": "1:50"})) == (
        "shuffledp account --mechanism 'kary-response(categories=17)' "
        "--levels 1:50 --delta 1e-06"
    )


def test_a_command_states_the_mode_with_the_mechanism() -> None:
    query = read_query({"levels": "1:50", "mode": "stratified"})

    assert "'kary-response(categories=17, mode=stratified)'" in command_of(query)
