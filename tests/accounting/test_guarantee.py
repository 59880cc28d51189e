"""What a guarantee says can be written down, read back and looked up."""

import hashlib
import json
import struct
from typing import Any

import numpy as np
import pytest

from shuffledp import Frequency, Population, account
from shuffledp.accounting.account import digest
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
]


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_what_is_written_as_json_is_read_back(guarantee: Guarantee) -> None:
    text = json.dumps(guarantee.to_dict(), allow_nan=False)

    assert Guarantee.from_dict(json.loads(text)) == guarantee


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_every_reported_level_is_found_by_its_budget(guarantee: Guarantee) -> None:
    for entry in guarantee.levels:
        assert guarantee.level(entry.epsilon_local) is entry


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
    assert Guarantee.from_dict(guarantee.to_dict()) == guarantee


@pytest.mark.parametrize(
    "key",
    [
        "mechanism", "parameters", "mode", "num_users", "absent", "rounds",
        "coordinates", "levels", "theorem", "assumptions", "numerics", "people",
        "people_digest", "version", "delta",
    ],
)  # fmt: skip
def test_incomplete_certificates_are_refused(key: str) -> None:
    record = AT_DELTA.to_dict()
    del record[key]

    with pytest.raises(DataError, match="Expected"):
        Guarantee.from_dict(record)


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
        AT_DELTA.to_dict() | {"parameters": 3},
        AT_DELTA.to_dict() | {"people": [[1.0]]},
        AT_DELTA.to_dict() | {"people": 3},
    ],
)
def test_records_that_are_no_certificates_are_refused(record: Any) -> None:
    with pytest.raises(DataError, match="Expected"):
        Guarantee.from_dict(record)
