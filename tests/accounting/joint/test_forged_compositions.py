"""Certificates of several protocols hold for these protocols and people only."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.accounting.account import digest
from shuffledp.errors import DataError, ShuffledpError
from shuffledp.identity import Identity

PEOPLE = sdp.Population.from_counts({1.0: 20, 2.0: 10})
Record = dict[str, Any]


def record_of(protocols: list[Any]) -> Record:
    guarantee = sdp.account(protocols, PEOPLE, delta=1e-6)
    record: Record = json.loads(json.dumps(guarantee.to_dict()))
    return record


@pytest.fixture(scope="module")
def honest() -> Record:
    return record_of([sdp.Frequency(4), sdp.Frequency(5), sdp.Frequency(6)])


def sealed(record: Record) -> Record:
    record["protocol_digest"] = Identity.from_record(record["protocol"]).digest
    return record


def parts_of(record: Record) -> list[Any]:
    parts: list[Any] = record["protocol"]["parameters"]["parts"]
    return parts


def without_a_part(record: Record) -> None:
    del parts_of(record)[1]


def with_one_more(record: Record) -> None:
    parts_of(record).append(parts_of(record)[0])


def only_one(record: Record) -> None:
    del parts_of(record)[1:]


def no_list(record: Record) -> None:
    record["protocol"]["parameters"]["parts"] = "all"


def unknown_part(record: Record) -> None:
    parts_of(record)[0] = dict(parts_of(record)[0], mechanism="none")


def nested(record: Record) -> None:
    parts_of(record)[0] = copy.deepcopy(record["protocol"])


def more_parameters(record: Record) -> None:
    record["protocol"]["parameters"]["rounds"] = 1


def reordered_levels(record: Record) -> None:
    record["levels"].reverse()


def exchanged_numbers(record: Record) -> None:
    first, second = record["levels"]
    first["epsilon_central"], second["epsilon_central"] = (
        second["epsilon_central"],
        first["epsilon_central"],
    )


def other_people(record: Record) -> None:
    people = sdp.Population.from_counts({1.0: 10, 2.0: 5})
    record["people"] = [[1.0, 10], [2.0, 5]]
    record["people_digest"], record["num_users"] = digest(people), 15


def smaller_budget_of_a_coalition(record: Record) -> None:
    record["levels"][0]["epsilon_coalition"] = 1.0


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "forge",
    [
        without_a_part,
        with_one_more,
        only_one,
        no_list,
        unknown_part,
        nested,
        more_parameters,
        reordered_levels,
        exchanged_numbers,
        other_people,
        smaller_budget_of_a_coalition,
    ],
)
def test_forged_certificates_do_not_hold(
    honest: Record, forge: Callable[[Record], None]
) -> None:
    record = copy.deepcopy(honest)
    forge(record)

    try:
        holds = sdp.verify(sealed(record)).holds
    except ShuffledpError:
        holds = False

    assert not holds


@pytest.mark.slow
def test_what_is_forged_above_holds(honest: Record) -> None:
    assert sdp.verify(honest).holds


def test_another_digest_or_another_order_is_another_protocol(honest: Record) -> None:
    record = copy.deepcopy(honest)
    parts_of(record).reverse()

    with pytest.raises(DataError, match="protocol_digest"):
        sdp.verify(record)
    with pytest.raises(DataError, match="protocol of the certificate"):
        sdp.verify(honest, protocol=[sdp.Frequency(4), sdp.Frequency(6)])
