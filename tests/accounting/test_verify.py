"""A certificate survives JSON, and holds only as it was written."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.verify import population_of, verify
from shuffledp.errors import DataError, ShuffledpError

PROTOCOL = sdp.Frequency(17)
PEOPLE = sdp.Population.from_counts({0.5: 250, 1.0: 500, 2.0: 250})


def certificate(**asked: Any) -> dict[str, Any]:
    guarantee = sdp.account(PROTOCOL, PEOPLE, **(asked or {"delta": 1e-6}))
    record: dict[str, Any] = json.loads(json.dumps(guarantee.to_dict()))
    return record


def problems(record: dict[str, Any]) -> tuple[str, ...]:
    guarantee = sdp.Guarantee.from_dict(record)
    return verify(guarantee, PROTOCOL, population_of(guarantee)).problems


@pytest.mark.parametrize(
    "asked",
    [
        {"delta": 1e-6},
        {"epsilon": 0.05},
        {"delta": 1e-9, "levels": [1.0]},
        {"delta": 1e-6, "absent": 100, "rounds": 3},
        {"delta": 1e-6, "quantiles": True},
    ],
)
def test_what_was_written_is_read_back_and_holds(asked: dict[str, Any]) -> None:
    guarantee = sdp.account(PROTOCOL, PEOPLE, **asked)

    read = sdp.Guarantee.from_dict(json.loads(json.dumps(guarantee.to_dict())))

    assert read == guarantee
    assert verify(read, PROTOCOL, population_of(read)).holds


def _smaller_epsilon(record: dict[str, Any]) -> None:
    record["levels"][2]["epsilon_central"] *= 0.999


def _larger_lower(record: dict[str, Any]) -> None:
    record["levels"][0]["epsilon_central_lower"] *= 1.01


def _not_a_number(record: dict[str, Any]) -> None:
    record["levels"][0]["epsilon_central"] = float("nan")


def _absent_hidden(record: dict[str, Any]) -> None:
    record["absent"] = 0


def _other_words(record: dict[str, Any]) -> None:
    record["assumptions"] = record["assumptions"][1:]


def _more_people(record: dict[str, Any]) -> None:
    record["num_users"] = 10_000


def _bigger_crowd(record: dict[str, Any]) -> None:
    record["people"][0][1] = 10_000


@pytest.mark.parametrize(
    "tamper",
    [
        _smaller_epsilon,
        _larger_lower,
        _not_a_number,
        _absent_hidden,
        _other_words,
        _more_people,
        _bigger_crowd,
    ],
)
def test_a_changed_certificate_does_not_hold(
    tamper: Callable[[dict[str, Any]], None],
) -> None:
    record = certificate(delta=1e-6, absent=100)

    tamper(record)

    try:
        found = problems(record)
    except ShuffledpError:
        return
    assert found


@pytest.mark.parametrize(
    "key", ["levels", "people", "people_digest", "rounds", "parameters", "format"]
)
def test_an_incomplete_certificate_is_refused(key: str) -> None:
    record = certificate()

    del record[key]

    with pytest.raises(DataError):
        sdp.Guarantee.from_dict(record)


@pytest.mark.parametrize("record", [None, [], "x", {}, {"format": "other"}])
def test_anything_else_is_refused(record: Any) -> None:
    with pytest.raises(DataError, match="certificate"):
        sdp.Guarantee.from_dict(record)


def test_many_levels_are_not_listed_but_their_digest_must_fit() -> None:
    budgets = np.linspace(0.5, 1.0, 10_001)
    people = sdp.Population.from_budgets(budgets)
    guarantee = sdp.account(PROTOCOL, people, delta=1e-6)

    with pytest.raises(DataError, match="digest"):
        population_of(guarantee)

    assert verify(guarantee, PROTOCOL, people).holds
    with pytest.raises(DataError, match="digest"):
        verify(guarantee, PROTOCOL, sdp.Population.from_budgets(budgets[1:]))
