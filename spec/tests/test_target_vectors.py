"""Vectors of a result where people chose targets, recomputed from the text."""

import hashlib
import json
import math
import struct
from typing import Any

import pytest

import write_vectors
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.wire.signed_plan import (
    PublishedPlan,
    check_plan,
    prove_plan_rule,
)
from shuffledp_services.wire.task_reading import read_task
from stored_vectors import VECTORS, stored
from target_vectors import target_vectors

STORED = stored("targets.json")
TASK = read_task(STORED["task"])
RESULT = json.loads(STORED["result"])


@pytest.mark.slow
def test_the_library_writes_the_vectors_of_targets_to_the_byte() -> None:
    written = {"about": STORED["about"], **target_vectors()}

    text = (VECTORS / "targets.json").read_text(encoding="utf-8")

    assert write_vectors.as_text(written) == text


def test_the_result_verifies_with_a_target_without_people() -> None:
    assert problems_in(RESULT, TASK) == ()
    assert RESULT["chosen"]["counts"] == [[[10, 0, 30]]]
    # The second target has no people, and pays all the same.
    assert min(RESULT["spent"]) > 0


@pytest.mark.parametrize("entry", STORED["not_verified"], ids=lambda e: e["mistake"])
def test_results_with_a_mistake_are_not_verified(entry: dict[str, Any]) -> None:
    assert problems_in(json.loads(entry["result"]), TASK) != ()


@pytest.mark.slow
def test_the_plan_follows_the_rule_of_the_task_and_is_certified() -> None:
    prove_plan_rule(TASK)
    published = PublishedPlan.read(json.loads(STORED["plan"]), TASK, STORED["epoch"])

    check_plan(published.protocol, TASK.minimum[0], TASK)

    certificate, tally = RESULT["certificate"], RESULT["tally"]
    assert published.protocol.record == certificate["protocol"] == tally["protocol"]


def people_of_targets(chosen: list[int]) -> list[int]:
    """Returns how many people of each target a certificate has, as result.md says."""
    left = sum(chosen) - len(chosen)
    low, high = 0.0, float(max(chosen))
    for _ in range(100):
        middle = (low + high) / 2
        above = sum(max(n - 1 - middle, 0.0) for n in chosen)
        low, high = (middle, high) if above > left else (low, middle)
    real = [max(round(n - 1 - low, 9), 0.0) for n in chosen]
    people = [1 + math.floor(each) for each in real]
    order = sorted(range(len(chosen)), key=lambda j: math.floor(real[j]) - real[j])
    for j in order[: sum(chosen) - sum(people)]:
        people[j] += 1
    return people


def test_people_of_the_certificate_are_as_stated() -> None:
    ((chosen,),) = RESULT["chosen"]["counts"]
    people = people_of_targets(chosen)
    targets = json.loads(STORED["task"])["choices"]
    packed = struct.pack("<3d3q", *targets, *people)

    certificate = RESULT["certificate"]

    assert people == [10, 1, 29]
    assert people_of_targets([3, 1, 4]) == [3, 1, 4]
    assert certificate["people_digest"] == hashlib.sha256(packed).hexdigest()
    assert [level["target"] for level in certificate["levels"]] == targets
    assert [level["epsilon_central"] for level in certificate["levels"]] == RESULT[
        "spent"
    ]


def test_absent_people_are_those_of_the_task_spoiled_and_missing() -> None:
    ((chosen,),) = RESULT["chosen"]["counts"]
    missing = sum(chosen) - RESULT["people"][0]

    absent = RESULT["certificate"]["absent"]

    assert absent == TASK.absent + RESULT["spoiled"] + missing == 3 + 1 + 1
