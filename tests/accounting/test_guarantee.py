"""What a guarantee says can be written down, read back and looked up."""

import hashlib
import json
import re
import struct
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from shuffledp import Frequency, Laplace, Population, Strings, account
from shuffledp.accounting.account import digest
from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import DataError, UnknownLevelError

PEOPLE = Population.from_counts({0.5: 100, 2.0: 400})
MANY = Population.from_budgets(np.random.default_rng(2).uniform(0.1, 1.0, 200))

STRINGS = Strings(16, num_cohorts=4, one_given_zero=0.25)
# What is accounted for, and for what; for quantiles, several are the same level.
ASKED: list[tuple[Any, Population, dict[str, Any]]] = [
    (Frequency(4), PEOPLE, {"delta": 1e-6}),
    (Frequency(4), PEOPLE, {"epsilon": 0.1}),
    (Frequency(4), PEOPLE, {"epsilon": 0.0}),
    (Frequency(4), PEOPLE, {"delta": 1e-300}),
    (Frequency(4, "stratified"), PEOPLE, {"delta": 1e-6, "absent": 7}),
    (Frequency(4), PEOPLE, {"delta": 1e-6, "rounds": 2, "coordinates": 3}),
    (Frequency(4), PEOPLE, {"delta": 1e-6, "levels": [2.0]}),
    (Frequency(4), MANY, {"delta": 1e-6}),
    (STRINGS, PEOPLE, {"delta": 1e-6}),
    (replace(STRINGS, mode="stratified"), PEOPLE, {"epsilon": 0.1}),
    (Laplace(0, 1), PEOPLE, {"delta": 1e-6}),
    (STRINGS, PEOPLE, {"delta": 1e-6, "quantiles": True}),
]


@cache
def guarantee_of(case: int) -> Guarantee:
    protocol, people, asked = ASKED[case]
    return account(protocol, people, **asked)


def at_delta() -> Guarantee:
    return guarantee_of(0)


def of_strings() -> Guarantee:
    """Two statements."""
    return guarantee_of(8)


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(ASKED)))
def test_what_is_written_as_json_is_read_back(case: int) -> None:
    guarantee = guarantee_of(case)
    text = json.dumps(guarantee.to_dict(), allow_nan=False)

    assert read_certificate(json.loads(text)) == guarantee


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(ASKED) - 1))
def test_every_reported_level_is_found_by_its_budget(case: int) -> None:
    guarantee = guarantee_of(case)

    for entry in guarantee.levels:
        assert entry.chosen == entry.epsilon_local
        assert guarantee.level(entry.chosen) is entry


@pytest.mark.parametrize("budget", [0.4999999, 1.0, -1.0, float("nan")])
def test_levels_that_were_not_reported_are_not_found(budget: float) -> None:
    with pytest.raises(UnknownLevelError, match="one of the reported levels"):
        at_delta().level(budget)


def test_people_are_listed_with_their_digest() -> None:
    assert at_delta().people == ((0.5, 100), (2.0, 400))
    assert at_delta().people_digest == digest(PEOPLE)
    assert digest(PEOPLE) == digest(Population.from_budgets(PEOPLE.budgets()))
    numbers = struct.pack("<ddqq", 0.5, 2.0, 100, 400)
    assert digest(PEOPLE) == hashlib.sha256(numbers).hexdigest()
    assert digest(PEOPLE) != digest(Population.from_counts({0.5: 101, 2.0: 399}))
    assert digest(PEOPLE) != digest(Population.from_counts({0.5: 100, 2.1: 400}))


def test_only_the_digest_is_kept_of_very_many_levels() -> None:
    people = Population.from_budgets(np.linspace(0.1, 1.0, 10_001))

    guarantee = account(Frequency(4), people, delta=1e-6, levels=[1.0])

    assert guarantee.people is None
    assert guarantee.people_digest == digest(people)
    assert read_certificate(guarantee.to_dict()) == guarantee


@pytest.mark.parametrize(
    "key",
    [
        "format", "protocol", "protocol_digest", "certified", "about", "num_users",
        "absent", "rounds", "coordinates", "levels", "also", "theorem", "assumptions",
        "numerics", "people", "people_digest", "version", "delta",
    ],
)  # fmt: skip
def test_incomplete_certificates_are_refused(key: str) -> None:
    record = at_delta().to_dict()
    del record[key]

    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("key", ["about", "delta", "levels"])
def test_incomplete_further_statements_are_refused(key: str) -> None:
    record = of_strings().to_dict()
    del record["also"][0][key]

    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)


@pytest.mark.parametrize(
    "key",
    [
        "epsilon_local", "count", "hides_among", "epsilon_central",
        "epsilon_central_lower", "slack",
    ],
)  # fmt: skip
@pytest.mark.parametrize("what", ["main", "also"])
def test_incomplete_levels_are_refused(key: str, what: str) -> None:
    record = of_strings().to_dict()
    statement = record if what == "main" else record["also"][0]
    del statement["levels"][0][key]

    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), "1", True, None])
@pytest.mark.parametrize(
    "key",
    [
        "epsilon_local", "count", "hides_among", "epsilon_central",
        "epsilon_central_lower", "slack",
    ],
)  # fmt: skip
def test_numbers_that_are_none_are_refused(key: str, value: Any) -> None:
    record = of_strings().to_dict()
    record["also"][0]["levels"][0][key] = value

    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)


@pytest.mark.parametrize("where", ["certificate", "statement", "level"])
def test_what_a_certificate_does_not_say_is_refused(where: str) -> None:
    record = of_strings().to_dict()
    part = {
        "certificate": record,
        "statement": record["also"][0],
        "level": record["levels"][0],
    }[where]
    part["epsilon_total"] = 0.0

    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)


def test_a_certificate_says_what_ran() -> None:
    protocol = Frequency(4, "stratified")

    guarantee = account(protocol, PEOPLE, delta=1e-6)

    assert guarantee.protocol == protocol.identity
    assert guarantee.to_dict()["protocol"] == protocol.identity.record
    assert guarantee.to_dict()["protocol_digest"] == protocol.identity.digest
    assert guarantee.mechanism == "kary-response"
    assert guarantee.parameters == {"categories": 4}
    assert guarantee.mode == "stratified"


def test_digest_and_protocol_are_the_same() -> None:
    record = at_delta().to_dict()
    record["protocol"]["parameters"]["categories"] = 5

    with pytest.raises(DataError, match="protocol_digest"):
        read_certificate(record)


def test_statements_come_in_one_order() -> None:
    first, second = of_strings().statements

    assert (first.about, first.levels) == (of_strings().about, of_strings().levels)
    assert (second,) == of_strings().also
    assert first.delta == second.delta == of_strings().delta == 1e-6
    assert [entry.chosen for entry in second.levels] == [0.5, 2.0]


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"format": "shuffledp-guarantee-0"},
        [],
        None,
        "text",
    ],
)
def test_records_that_are_no_certificates_are_refused(record: Any) -> None:
    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)


@pytest.mark.parametrize(
    "change",
    [
        {"format": None},
        {"num_users": "many"},
        {"delta": "small"},
        {"levels": [{}]},
        {"levels": [3]},
        {"levels": None},
        {"protocol": 3},
        {"protocol": {}},
        {"protocol_digest": "0" * 64},
        {"certified": False},
        {"certified": 1},
        {"epsilon": 1.0},
        {"about": 3},
        {"also": None},
        {"also": [3]},
        {"also": [{}]},
        {"rounds": 1.0},
        {"absent": True},
        {"assumptions": "none"},
        {"assumptions": [1]},
        {"people": [[1.0]]},
        {"people": 3},
        {"people": [3]},
        {"people": [["1", 2]]},
        {"people": [[10**400, 2]]},
        {"delta": 10**400},
        {"levels": []},
        {"levels": [{"slack": 2}]},
        {"x": 1},
    ],
)
def test_certificates_that_say_something_else_are_refused(
    change: dict[str, Any],
) -> None:
    with pytest.raises(DataError, match="Expected") as caught:
        read_certificate(at_delta().to_dict() | change)

    # In words, and in no words of Python's.
    said = str(caught.value)
    assert not re.search(r"Error|Exception|object is|NoneType|argument", said)
    assert said.endswith(".")
