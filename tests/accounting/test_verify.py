"""A certificate survives JSON, and holds only as it was written."""

import dataclasses
import itertools
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from covering import covering

import shuffledp as sdp
from shuffledp.accounting.certificate import read_certificate
from shuffledp.accounting.exposure import SingleMessages
from shuffledp.accounting.verification import Verification, population_of, recompute
from shuffledp.errors import DataError

PROTOCOL = sdp.Frequency(4)
STRINGS = sdp.Strings(16, num_cohorts=2, one_given_zero=0.25)
# Many rounds of it are composed fastest.
NUMBER = sdp.OneBit(0, 1)
PEOPLE = sdp.Population.from_counts({0.5: 50, 1.0: 100, 2.0: 50})
NUMBERS = (
    "epsilon_local", "count", "hides_among", "epsilon_central",
    "epsilon_central_lower", "slack",
)  # fmt: skip


class Twice:
    """A protocol of which two things are seen, each for itself."""

    identity = sdp.Identity.of("twice", "anything", {}, "agnostic")

    def exposures(self, people: sdp.Population) -> tuple[SingleMessages, ...]:
        few, many = sdp.KRandomizedResponse(3), sdp.KRandomizedResponse(9)
        return (
            SingleMessages("a few", few, "agnostic", people),
            SingleMessages("many", many, "agnostic", people),
        )


@cache
def written(protocol: Any, asked: frozenset[tuple[str, Any]]) -> str:
    return json.dumps(sdp.account(protocol, PEOPLE, **dict(asked)).to_dict())


def certificate(protocol: Any = PROTOCOL, **asked: Any) -> dict[str, Any]:
    text = written(protocol, frozenset((asked or {"delta": 1e-6}).items()))
    record: dict[str, Any] = json.loads(text)
    return record


def recomputed(record: dict[str, Any], protocol: Any = PROTOCOL) -> Verification:
    guarantee = read_certificate(record)
    return recompute(guarantee, protocol, population_of(guarantee))


@pytest.mark.slow
@covering(
    (
        "asked",
        [
            {"delta": 1e-6},
            {"epsilon": 0.05},
            {"delta": 1e-6, "absent": 10, "rounds": 2},
            {"delta": 1e-9, "levels": [1.0]},
            {"delta": 1e-6, "quantiles": True},
        ],
    ),
    ("protocol", [PROTOCOL, STRINGS, NUMBER]),
)
def test_what_was_written_is_read_back_and_holds(
    asked: dict[str, Any], protocol: Any
) -> None:
    guarantee = sdp.account(protocol, PEOPLE, **asked)

    read = read_certificate(json.loads(json.dumps(guarantee.to_dict())))
    found = recompute(read, protocol, population_of(read))

    assert read == guarantee
    assert found.problems == ()
    assert found.holds
    assert found.recomputed == guarantee
    assert found.num_levels == 3


def _smaller_epsilon(record: dict[str, Any]) -> None:
    record["levels"][2]["epsilon_central"] *= 0.999


def _larger_lower(record: dict[str, Any]) -> None:
    record["levels"][0]["epsilon_central_lower"] *= 1.01


def _not_a_number(record: dict[str, Any]) -> None:
    record["levels"][0]["epsilon_central"] = float("nan")


def _absent_hidden(record: dict[str, Any]) -> None:
    record["absent"] = 0


def _fewer_rounds(record: dict[str, Any]) -> None:
    record["rounds"] = 1


def _fewer_coordinates(record: dict[str, Any]) -> None:
    record["coordinates"] = 1


def _other_words(record: dict[str, Any]) -> None:
    record["assumptions"] = record["assumptions"][1:]


def _other_theorem(record: dict[str, Any]) -> None:
    record["theorem"] = "my own"


def _other_numerics(record: dict[str, Any]) -> None:
    record["numerics"].append("All numbers are exact.")


def _more_people(record: dict[str, Any]) -> None:
    record["num_users"] = 10_000


def _bigger_crowd(record: dict[str, Any]) -> None:
    record["people"][0][1] = 10_000


def _other_digest(record: dict[str, Any]) -> None:
    record["people_digest"] = "0" * 64


def _smaller_delta(record: dict[str, Any]) -> None:
    record["delta"] = 1e-7


def _larger_delta(record: dict[str, Any]) -> None:
    record["delta"] = 1e-5


def _without_a_level(record: dict[str, Any]) -> None:
    record["levels"][1] = record["levels"][0]


def _other_about(record: dict[str, Any]) -> None:
    record["about"] = "everything, for ever"


@pytest.mark.slow
@pytest.mark.parametrize(
    "tamper",
    [
        _smaller_epsilon,
        _larger_lower,
        _absent_hidden,
        _fewer_rounds,
        _fewer_coordinates,
        _other_words,
        _other_theorem,
        _other_numerics,
        _more_people,
        _smaller_delta,
        _larger_delta,
        _without_a_level,
        _other_about,
    ],
)
def test_a_changed_certificate_does_not_hold(
    tamper: Callable[[dict[str, Any]], None],
) -> None:
    record = certificate(NUMBER, delta=1e-6, absent=10, rounds=2, coordinates=2)

    tamper(record)

    found = recomputed(record, NUMBER)
    assert found.problems
    # Users write `assert sdp.verify(certificate)`.
    assert not found


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (_not_a_number, "finite number >= 0"),
        (_bigger_crowd, "digest is different"),
        (_other_digest, "digest is different"),
    ],
)
def test_a_certificate_that_contradicts_itself_is_refused(
    tamper: Callable[[dict[str, Any]], None], said: str
) -> None:
    record = certificate(NUMBER, delta=1e-6, absent=10, rounds=2, coordinates=2)

    tamper(record)

    with pytest.raises(DataError, match=said):
        recomputed(record, NUMBER)


@pytest.fixture(scope="module")
def of_strings() -> str:
    return json.dumps(certificate(STRINGS))


@pytest.fixture(scope="module")
def of_both() -> str:
    return json.dumps(certificate(Twice()))


@pytest.mark.few_cases(1)
@covering(
    (("part", "key"), list(itertools.product(["main", "also"], NUMBERS))),
    ("place", [0, 2]),
)
def test_every_number_of_every_statement_is_compared(
    of_both: str, part: str, key: str, place: int
) -> None:
    record = json.loads(of_both)
    statement = record if part == "main" else record["also"][0]
    level = statement["levels"][place]
    # What claims more than is proven.
    claims_more = {
        "epsilon_local": level["epsilon_local"] * (1.0 - 1e-15),
        "count": level["count"] + 1,
        "hides_among": level["hides_among"] + 1,
        "epsilon_central": level["epsilon_central"] * (1.0 - 1e-6),
        "epsilon_central_lower": level["epsilon_central_lower"] * (1.0 + 1e-6),
        "slack": 0.0,
    }
    assert level[key] != claims_more[key]

    level[key] = claims_more[key]

    if (part, key) == ("main", "epsilon_local"):
        # A level that nobody has cannot be asked for.
        with pytest.raises(sdp.UnknownLevelError):
            recomputed(record, Twice())
        return
    (problem,) = recomputed(record, Twice()).problems
    assert f"level {level['epsilon_local']!r}" in problem


@pytest.mark.few_cases(0)
@pytest.mark.slow
def test_numbers_of_strings_are_compared_for_any_number_of_reports(
    of_strings: str,
) -> None:
    record = json.loads(of_strings)
    assert recomputed(record, STRINGS).holds

    record["also"][0]["levels"][0]["epsilon_central"] *= 1.0 - 1e-6

    (problem,) = recomputed(record, STRINGS).problems
    assert "level 0.5: epsilon_central" in problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("about", "a few"),
        ("delta", 1e-7),
        ("also", []),
        ("also", 2),
    ],
)
def test_further_statements_are_those_that_the_protocol_makes(
    of_both: str, key: str, value: Any
) -> None:
    record = json.loads(of_both)
    if key == "also":
        record["also"] = value if value == [] else record["also"] * value
    else:
        record["also"][0][key] = value

    assert recomputed(record, Twice()).problems


def test_a_further_statement_about_no_level_is_no_certificate(of_both: str) -> None:
    record = json.loads(of_both)
    record["also"][0]["levels"] = []

    with pytest.raises(sdp.DataError, match="`levels` to list at least one level"):
        recomputed(record, Twice())


@pytest.mark.slow
def test_weaker_claims_hold(of_both: str) -> None:
    record = json.loads(of_both)
    for statement in (record, record["also"][0]):
        for level in statement["levels"]:
            level["epsilon_central"] *= 1.01
            level["epsilon_central_lower"] *= 0.99

    found = recomputed(record, Twice())
    assert found.holds
    assert len(found.weaker) == 12
    assert "and 0." in found.weaker[0]
    assert "is proven; its `slack`" in found.weaker[0]


@pytest.mark.slow
def test_more_caution_than_recomputed_is_refused(of_both: str) -> None:
    record = json.loads(of_both)
    honest = recomputed(record, Twice())

    record["levels"][0]["slack"] = 0.3

    (problem,) = recomputed(record, Twice()).problems
    assert (honest.problems, honest.weaker) == ((), ())
    assert "of its delta 0.3 is said to be numerical caution" in problem


def test_less_caution_than_the_smallest_is_refused() -> None:
    record = certificate(delta=1e-6)
    (level, *_) = record["levels"]
    assert 1e-9 < level["slack"] < 1.1e-9

    level["slack"] = 1e-10

    (problem,) = recomputed(record).problems
    assert "of its delta 1e-10 is said to be numerical caution" in problem


@pytest.mark.slow
def test_a_certificate_for_a_larger_delta_says_less(of_both: str) -> None:
    record = json.loads(of_both)
    for statement in (record, record["also"][0]):
        statement["delta"] *= 10.0
        for level in statement["levels"]:
            level["epsilon_central_lower"] = 0.0

    found = recomputed(record, Twice())

    assert found.holds
    assert len([line for line in found.weaker if "is proven" in line]) == 6


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"theorem": "x"}, "its theorem is not that of this computation"),
        ({"numerics": []}, "its numerics are not those of this computation"),
    ],
)
def test_problems_are_said_in_sentences(
    of_both: str, change: dict[str, Any], said: str
) -> None:
    record = json.loads(of_both) | change

    assert recomputed(record, Twice()).problems == (said,)


@pytest.mark.parametrize(
    "other",
    [
        sdp.Frequency(5),
        sdp.Frequency(4, "stratified"),
        sdp.Frequency(4, randomizer=sdp.SubsetSelection(4, 1)),
        sdp.KRandomizedResponse(4),
        sdp.SingleMessage(sdp.KRandomizedResponse(4)),
        sdp.Mean(0, 4),
        STRINGS,
    ],
    ids=repr,
)
def test_another_protocol_is_refused_by_name(other: Any) -> None:
    with pytest.raises(DataError) as caught:
        recomputed(certificate(), other)

    named = (
        sdp.SingleMessage(other)
        if isinstance(other, sdp.KRandomizedResponse)
        else other
    )
    assert str(PROTOCOL.identity) in str(caught.value)
    assert str(named.identity) in str(caught.value)


@pytest.mark.slow
def test_a_certificate_of_a_bare_randomizer_holds_for_its_messages_and_back() -> None:
    for device in (sdp.KRandomizedResponse(3), sdp.UnaryEncoding(3)):
        bare, named = device, sdp.SingleMessage(device)

        for first, second in ((bare, named), (named, bare)):
            assert recomputed(certificate(first), second).holds


@pytest.mark.parametrize(
    "key", ["levels", "people", "people_digest", "rounds", "protocol", "also", "format"]
)
def test_an_incomplete_certificate_is_refused(key: str) -> None:
    record = certificate()

    del record[key]

    with pytest.raises(DataError):
        read_certificate(record)


@pytest.mark.parametrize("record", [None, [], "x", {}, {"format": "other"}])
def test_anything_else_is_refused(record: Any) -> None:
    with pytest.raises(DataError, match="certificate"):
        read_certificate(record)


def test_many_levels_are_not_listed_but_their_digest_must_fit() -> None:
    budgets = np.linspace(0.5, 1.0, 10_001)
    people = sdp.Population.from_budgets(budgets)
    guarantee = sdp.account(PROTOCOL, people, delta=1e-6)

    with pytest.raises(DataError, match="digest"):
        population_of(guarantee)

    assert recompute(guarantee, PROTOCOL, people).holds
    with pytest.raises(DataError, match="digest"):
        recompute(guarantee, PROTOCOL, sdp.Population.from_budgets(budgets[1:]))


def test_a_level_listed_twice_is_refused() -> None:
    record = certificate()
    record["people"].append(record["people"][0])

    with pytest.raises(DataError, match="once"):
        recomputed(record)


@pytest.mark.parametrize("key", ["people", "levels"])
def test_levels_that_fall_are_refused(key: str) -> None:
    record = certificate()
    record[key].reverse()

    with pytest.raises(DataError, match="levels rise"):
        sdp.verify(record)


def test_a_guarantee_of_its_own_people_in_another_order_is_refused() -> None:
    guarantee = read_certificate(certificate())
    assert guarantee.people is not None
    turned = dataclasses.replace(guarantee, people=guarantee.people[::-1])

    with pytest.raises(DataError, match="people whose levels rise"):
        sdp.verify(turned)
