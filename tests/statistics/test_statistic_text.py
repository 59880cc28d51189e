"""Statistics as texts of the command line: the objects that Python makes, and refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.statistics.statistic_text import read_statistic, signature

SPELLED: dict[str, Any] = {
    "frequency(num_categories=17)": sdp.Frequency(17),
    " frequency( num_categories = 17 , mode=stratified ) ": sdp.Frequency(
        17, "stratified"
    ),
    "frequency(num_categories=9, mechanism=subset-selection(subset_size=2))": (
        sdp.Frequency(9, randomizer=sdp.SubsetSelection(9, 2))
    ),
    "mean(low=0, high=10)": sdp.Mean(0, 10),
    "mean(low=-1, high=1e1, mechanism=laplace)": sdp.Mean(
        -1, 10, randomizer=sdp.Laplace(-1, 10)
    ),
    "mean(low=2, high=4, mechanism=grid-response(values=8))": sdp.Mean(
        2, 4, randomizer=sdp.GridResponse(2, 4, num_values=8)
    ),
    "sum": sdp.BinarySum(),
    "sum()": sdp.BinarySum(),
    "strings(num_bits=64, num_cohorts=4)": sdp.Strings(64, num_cohorts=4),
    "laplace(low=0, high=4)": sdp.SingleMessage(sdp.Laplace(0, 4)),
    "laplace(low=0, mode=stratified, high=4)": sdp.SingleMessage(
        sdp.Laplace(0, 4), "stratified"
    ),
    "kary-response(mode = agnostic, categories=4)": sdp.SingleMessage(
        sdp.KRandomizedResponse(4)
    ),
}


@pytest.mark.parametrize("text", SPELLED)
def test_a_text_is_what_python_makes(text: str) -> None:
    assert read_statistic(text).identity == SPELLED[text].identity


@pytest.mark.parametrize(
    "text",
    [
        "",
        "median(low=0)",
        "items(num_items=3)",
        "frequency",
        "frequency(17)",
        "frequency(num_categories=1.5)",
        "frequency(num_categories=four)",
        "frequency(num_categories=4, num_categories=4)",
        "frequency(num_categories=4, color=red)",
        "frequency(num_categories=4",
        "frequency(num_categories=4) and more",
        "frequency(num_categories=4, mechanism=laplace)",
        "frequency(num_categories=4, mechanism=kary-response(categories=5))",
        "frequency(num_categories=4, mechanism=kary-response(categories=4)",
        "frequency(num_categories=4, mode=other)",
        "mean(low=0, high=nan)",
        "mean(low=0, high=1e-400)",
        "mean(low=0)",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        read_statistic(text)


def test_refusals_name_the_parameters() -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_statistic("mean(1, 2)")
    assert signature("mean") in str(refused.value)


def test_a_file_stands_for_the_protocol_of_its_certificate(tmp_path: Path) -> None:
    people = sdp.Population.from_counts({1.0: 100})
    path = tmp_path / "known.json"
    certificate = sdp.account(sdp.Frequency(3), people, delta=1e-3)
    path.write_text(json.dumps(certificate.to_dict()))

    assert read_statistic(str(path)).identity == sdp.Frequency(3).identity
    with pytest.raises(DataError):
        read_statistic(str(tmp_path / "absent.json"))


@pytest.mark.parametrize(
    ("times", "stated"),
    [
        ({"rounds": 2}, "it states rounds"),
        ({"coordinates": 3, "absent": 1}, "it states coordinates and absent people"),
    ],
)
def test_a_certificate_of_more_than_one_round_names_no_statistic(
    times: dict[str, Any], stated: str, tmp_path: Path
) -> None:
    people = sdp.Population.from_counts({1.0: 50})
    certificate = sdp.account(sdp.OneBit(0, 1), people, delta=1e-3, **times)
    path = tmp_path / "rounds.json"
    path.write_text(json.dumps(certificate.to_dict()))

    with pytest.raises(sdp.DataError, match=stated):
        read_statistic(str(path))
