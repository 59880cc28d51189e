"""What a guarantee says can be written down, read back and looked up."""

import hashlib
import json
import struct
from typing import Any

import numpy as np
import pytest

from shuffledp import Frequency, Laplace, Population, Strings, account
from shuffledp.accounting.account import digest
from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import DataError

PEOPLE = Population.from_counts({0.5: 100, 2.0: 400})
AT_DELTA = account(Frequency(4), PEOPLE, delta=1e-6)
MANY = Population.from_budgets(np.random.default_rng(2).uniform(0.1, 1.0, 200))

GUARANTEES = [
    AT_DELTA,
    account(Frequency(4), PEOPLE, epsilon=0.1),
    account(Frequency(4), PEOPLE, epsilon=0.0),
    account(Frequency(4), PEOPLE, delta=1e-300),
    account(Frequency(4, "stratified"), PEOPLE, delta=1e-6, absent=7),
    account(Frequency(4), PEOPLE, delta=1e-6, rounds=2, coordinates=3),
    account(Frequency(4), PEOPLE, delta=1e-6, levels=[2.0]),
    account(Frequency(4), MANY, delta=1e-6),
    account(Strings(16, num_cohorts=4), PEOPLE, delta=1e-6),
    account(Strings(16, num_cohorts=4, mode="stratified"), PEOPLE, epsilon=0.1),
    account(Laplace(0, 1), PEOPLE, delta=1e-6),
]
# Several quantiles are the same level.
QUANTILES = account(Strings(16, num_cohorts=4), PEOPLE, delta=1e-6, quantiles=True)
WITH_ALSO = account(Strings(16, num_cohorts=4), PEOPLE, delta=1e-6)


@pytest.mark.parametrize("guarantee", [*GUARANTEES, QUANTILES])
def test_what_is_written_as_json_is_read_back(guarantee: Guarantee) -> None:
    text = json.dumps(guarantee.to_dict(), allow_nan=False)

    assert read_certificate(json.loads(text)) == guarantee


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_every_reported_level_is_found_by_its_budget(guarantee: Guarantee) -> None:
    for entry in guarantee.levels:
        assert entry.chosen == entry.epsilon_local
        assert guarantee.level(entry.chosen) is entry


@pytest.mark.parametrize("budget", [0.4999999, 1.0, -1.0, float("nan")])
def test_levels_that_were_not_reported_are_not_found(budget: float) -> None:
    with pytest.raises(KeyError):
        AT_DELTA.level(budget)


def test_people_are_listed_with_their_digest() -> None:
    assert AT_DELTA.people == ((0.5, 100), (2.0, 400))
    assert AT_DELTA.people_digest == digest(PEOPLE)
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
    record = AT_DELTA.to_dict()
    del record[key]

    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)


@pytest.mark.parametrize("key", ["about", "delta", "levels"])
def test_incomplete_further_statements_are_refused(key: str) -> None:
    record = WITH_ALSO.to_dict()
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
    record = WITH_ALSO.to_dict()
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
    record = WITH_ALSO.to_dict()
    record["also"][0]["levels"][0][key] = value

    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)


@pytest.mark.parametrize("where", ["certificate", "statement", "level"])
def test_what_a_certificate_does_not_say_is_refused(where: str) -> None:
    record = WITH_ALSO.to_dict()
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
    record = AT_DELTA.to_dict()
    record["protocol"]["parameters"]["categories"] = 5

    with pytest.raises(DataError, match="protocol_digest"):
        read_certificate(record)


def test_statements_come_in_one_order() -> None:
    first, second = WITH_ALSO.statements

    assert (first.about, first.levels) == (WITH_ALSO.about, WITH_ALSO.levels)
    assert (second,) == WITH_ALSO.also
    assert first.delta == second.delta == WITH_ALSO.delta == 1e-6
    assert [entry.chosen for entry in second.levels] == [0.5, 2.0]


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"format": "shuffledp-guarantee-0"},
        [],
        None,
        "text",
        AT_DELTA.to_dict() | {"format": None},
        AT_DELTA.to_dict() | {"num_users": "many"},
        AT_DELTA.to_dict() | {"delta": "small"},
        AT_DELTA.to_dict() | {"levels": [{}]},
        AT_DELTA.to_dict() | {"levels": [3]},
        AT_DELTA.to_dict() | {"levels": None},
        AT_DELTA.to_dict() | {"protocol": 3},
        AT_DELTA.to_dict() | {"protocol": {}},
        AT_DELTA.to_dict() | {"protocol_digest": "0" * 64},
        AT_DELTA.to_dict() | {"certified": False},
        AT_DELTA.to_dict() | {"certified": 1},
        AT_DELTA.to_dict() | {"epsilon": 1.0},
        AT_DELTA.to_dict() | {"about": 3},
        AT_DELTA.to_dict() | {"also": None},
        AT_DELTA.to_dict() | {"also": [3]},
        AT_DELTA.to_dict() | {"also": [{}]},
        AT_DELTA.to_dict() | {"rounds": 1.0},
        AT_DELTA.to_dict() | {"absent": True},
        AT_DELTA.to_dict() | {"assumptions": "none"},
        AT_DELTA.to_dict() | {"assumptions": [1]},
        AT_DELTA.to_dict() | {"people": [[1.0]]},
        AT_DELTA.to_dict() | {"people": 3},
    ],
)
def test_records_that_are_no_certificates_are_refused(record: Any) -> None:
    with pytest.raises(DataError, match="Expected"):
        read_certificate(record)
