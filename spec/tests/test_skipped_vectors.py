"""Vectors of a form with numbers that were skipped, recomputed from the text."""

import hmac
import json
import struct
from typing import Any

import pytest

import write_vectors
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.signed_plan import (
    PublishedPlan,
    check_plan,
    prove_plan_rule,
)
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task
from skipped_vectors import skipped_vectors
from stored_vectors import VECTORS, decoded, stored
from vector_parties import ANALYST_PRIVATE

STORED = stored("skipped.json")
TASK = read_task(STORED["task"])
EPOCH = STORED["epoch"]
PLAN = PublishedPlan.read(json.loads(STORED["served"])["plan"], TASK, EPOCH).protocol
STEP = Step(TASK, EPOCH, EpochStage.ANSWER, PLAN)
GROUPS = PLAN.record["parameters"]["groups"]
SKIPPED = bytes.fromhex("7ff8000000000000")

every_report = pytest.mark.parametrize(
    "report", STORED["reports"], ids=["nothing", "age", "way", "everything"]
)


def test_the_library_writes_the_vectors_of_skips_to_the_byte() -> None:
    written = {"about": STORED["about"], **skipped_vectors()}

    text = (VECTORS / "skipped.json").read_text(encoding="utf-8")

    assert write_vectors.as_text(written) == text


def test_the_plan_is_one_of_the_rule_that_the_task_states() -> None:
    prove_plan_rule(TASK)
    check_plan(PLAN, sum(TASK.minimum), TASK)

    # Two ways; three ranges of age, two halves and two quarters, and a skip of each.
    sizes = [(each["buckets"], each["most"]) for each in GROUPS]
    assert sizes == [(2, 1), (4, 1), (3, 1), (3, 1)]


@every_report
def test_the_context_holds_one_spelling_of_a_skip(report: dict[str, Any]) -> None:
    numbers = [
        SKIPPED if number is None else struct.pack(">d", number)
        for number in [*report["picked"], *report["numbers"]]
    ]
    text = b"shuffledp coins 1" + TASK.digest + EPOCH.to_bytes(4, "big") + b"\x00"
    text += STEP.plan_digest + STORED["choice_position"].to_bytes(2, "big")

    context = hmac.digest(
        decoded(STORED["link_secret"]), text + b"".join(numbers), "sha256"
    )

    assert decoded(report["context"]) == context


@every_report
def test_a_skip_is_the_last_bucket_of_each_group_and_is_sent(
    report: dict[str, Any],
) -> None:
    age, way = report["numbers"]
    first, sent = 0, []
    for group, bucket in zip(GROUPS, report["buckets"], strict=True):
        if bucket < group["buckets"]:
            # A message + of a bucket is twice its number; this target sends everything.
            sent.append(2 * (first + bucket))
        first += group["buckets"]

    skips = [
        bucket == group["buckets"] - 1
        for group, bucket in zip(GROUPS, report["buckets"], strict=True)
    ][1:]

    assert skips == [age is None, way is None, way is None]
    assert set(sent) <= set(report["entries"])
    assert len(report["entries"]) == PLAN.record["parameters"]["report_size"]


@every_report
def test_sealed_messages_open(report: dict[str, Any]) -> None:
    opener = Opener(TASK.suite, ANALYST_PRIVATE, STEP.info())

    opened = [opener.open(decoded(sealed)) for sealed in report["sealed"]]

    assert decoded(STORED["info"]) == STEP.info()
    assert opened == [decoded(plain) for plain in report["plain"]]
    assert opened == [b"\x01" + struct.pack(">Q", each) for each in report["entries"]]
