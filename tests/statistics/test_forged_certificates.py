"""A file that states an unproven number never holds, wherever the number stands."""

import copy
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import shuffledp as sdp
from shuffledp.statistics.certificate_parts import PUBLISHED_RESULT

PEOPLE = sdp.Population.from_counts({1.0: 3})
FORGED = 1e-9
# Keys under which a reader, or a program, may look for a certificate.
KEYS = ("certificate", "guarantee", "recomputed", "after_one_round", "also", "local")

Record = dict[str, Any]


@pytest.fixture(scope="module")
def honest() -> Record:
    guarantee = sdp.account(sdp.Frequency(2), PEOPLE, delta=1e-6)
    record: Record = json.loads(json.dumps(guarantee.to_dict()))
    return record


@pytest.fixture(scope="module")
def forged(honest: Record) -> Record:
    record = copy.deepcopy(honest)
    for level in record["levels"]:
        level["epsilon_central"] = level["epsilon_central_lower"] = FORGED
    return record


def promise(certificate: Record) -> Record:
    return {"note": "A training.", "certificate": certificate, "local": None}


def training(certificate: Record) -> Record:
    rest = {"settings": {"rounds": 2}, "accuracy": [0.5], "stated": []}
    return {**promise(certificate), "after_one_round": promise(certificate), **rest}


def published(certificate: Record) -> Record:
    return dict.fromkeys(PUBLISHED_RESULT, 1) | {"certificate": certificate}


KINDS: dict[str, Callable[[Record], Record]] = {
    "certificate": lambda certificate: certificate,
    "wrapped": lambda certificate: {"certificate": certificate},
    "promise": promise,
    "training": training,
    "published": published,
    "estimate": lambda certificate: {"guarantee": certificate, "delta": 1e-6},
    "verification": lambda certificate: {"recomputed": certificate, "holds": True},
}


def combinations(first: Record, second: Record) -> Iterator[tuple[str, Record]]:
    """Yields every file that is two things, one made of each certificate."""
    for outer, inner in itertools.product(KINDS, KINDS):
        around, within = KINDS[outer](first), KINDS[inner](second)
        yield f"{inner} over {outer}", {**around, **within}
        for key in KEYS:
            yield f"{inner} as {key} of {outer}", {**around, key: within}
            yield f"{inner} in {key} of {outer}", {**around, key: [within]}


def holds(record: Record) -> bool:
    # From a text: what two records share is written twice.
    record = json.loads(json.dumps(record))
    try:
        return sdp.verify(record).holds
    except sdp.DataError:
        return False


@pytest.mark.slow
def test_no_file_that_is_two_things_holds_if_one_of_them_is_forged(
    honest: Record, forged: Record
) -> None:
    tried, confirmed = 0, []
    for first, second in ((honest, forged), (forged, honest)):
        for name, record in combinations(first, second):
            # Merging may leave nothing of the forged one.
            if str(FORGED) not in json.dumps(record):
                continue
            tried += 1
            if holds(record):
                confirmed.append(name)

    assert confirmed == []
    assert tried == 1188


@pytest.mark.parametrize("kind", ["certificate", "wrapped", "promise", "training"])
def test_a_file_of_one_kind_holds_if_its_certificates_do(
    kind: str, honest: Record, forged: Record
) -> None:
    assert holds(KINDS[kind](honest))
    assert not holds(KINDS[kind](forged))


def test_both_certificates_of_a_training_are_verified(
    honest: Record, forged: Record
) -> None:
    record = training(honest)
    assert sdp.verify(record).parts == ("certificate", "after_one_round.certificate")

    record["after_one_round"] = promise(forged)

    problems = sdp.verify(record).problems
    assert problems
    assert all(p.startswith("after_one_round.certificate: ") for p in problems)


def test_the_answer_names_the_file_and_the_parts_that_were_read(
    honest: Record, tmp_path: Path
) -> None:
    whole, around = tmp_path / "whole.json", tmp_path / "around.json"
    whole.write_text(json.dumps(honest))
    around.write_text(json.dumps(published(honest)))

    first, second = sdp.verify(whole), sdp.verify(str(around))

    assert (first.file, first.parts) == (str(whole), ("all of it",))
    assert (second.file, second.parts) == (str(around), ("certificate",))
    assert second.to_dict()["parts"] == ["certificate"]
    assert sdp.verify(honest).file is None


def test_one_key_cannot_stand_for_two_certificates(
    honest: Record, forged: Record, tmp_path: Path
) -> None:
    file = tmp_path / "twice.json"
    for pair in ((honest, forged), (forged, honest)):
        members = ", ".join(f'"certificate": {json.dumps(one)}' for one in pair)
        file.write_text(f"{{{members}}}")

        with pytest.raises(sdp.DataError, match="once"):
            sdp.verify(file)


@pytest.mark.parametrize("key", ["version ", "Certificate", "epsilon_central", "x"])
def test_unknown_keys_beside_a_certificate_are_refused(
    key: str, honest: Record
) -> None:
    for record in ({**honest, key: 1}, {"certificate": honest, key: 1}):
        with pytest.raises(sdp.DataError, match="Expected"):
            sdp.verify(record)


def test_certified_numbers_elsewhere_are_refused_however_deep(honest: Record) -> None:
    deep: Any = {"epsilon_central": FORGED}
    for _ in range(10_000):
        deep = [deep]

    with pytest.raises(sdp.DataError, match="elsewhere"):
        sdp.verify({**promise(honest), "local": deep})


@pytest.mark.parametrize("slack", [0.3, 1.0])
def test_caution_that_nobody_took_is_refused(slack: float, honest: Record) -> None:
    record = copy.deepcopy(honest)
    record["levels"][0]["slack"] = slack

    (problem,) = sdp.verify(record).problems

    assert "numerical caution" in problem


@pytest.mark.parametrize(
    "weakened",
    [{"epsilon_coalition": 7.5}, {"epsilon_coalition": None}, {"delta_coalition": 0.5}],
)
def test_less_against_the_coalition_is_said_to_be_weaker(
    weakened: Record, honest: Record
) -> None:
    record = copy.deepcopy(honest)
    record["levels"][0] |= weakened

    verification = sdp.verify(record)

    assert verification.holds
    (line,) = verification.weaker
    assert line.startswith("level 1.0: against shuffler and analyst together it says")
    assert line.endswith("and epsilon 1.0 at delta 0.0 is proven")


@pytest.mark.parametrize("part", ["slack", "delta_coalition"])
def test_a_delta_above_1_is_no_statement(part: str, honest: Record) -> None:
    record = copy.deepcopy(honest)
    record["levels"][0][part] = 1e308

    with pytest.raises(sdp.DataError, match=f"`{part}` to be a part, from 0 to 1"):
        sdp.verify(record)


def test_a_weaker_statement_holds_and_is_said_to_be_weaker(honest: Record) -> None:
    record = copy.deepcopy(honest)
    record["levels"][0]["epsilon_central"] = 2.0

    first = sdp.verify(record)
    both = sdp.verify(training(honest) | {"after_one_round": promise(record)})

    assert first.holds
    assert sdp.verify(honest).weaker == ()
    assert "it says epsilon_central 2.0" in first.weaker[0]
    assert first.to_dict()["weaker"] == list(first.weaker)
    (line,) = both.weaker
    assert line.startswith("after_one_round.certificate: level 1.0: it says")
