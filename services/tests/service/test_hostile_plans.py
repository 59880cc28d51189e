"""Plans that break a promise are followed by nobody, whoever made and signed them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile_plans import (
    HOSTILE,
    closed,
    device_follows,
    honest,
    made,
    second_plan,
    shuffler_follows,
)

from shuffledp.errors import InvalidInputError
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.signed_plan import Acknowledgement, prove_plan_rule
from shuffledp_services.wire.task_reading import read_task


def test_a_plan_that_keeps_the_rule_is_followed() -> None:
    plan = honest().to_dict()

    assert device_follows(plan) is None
    assert shuffler_follows(plan) is None


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_plan_is_followed_by_neither_device_nor_shuffler(name: str) -> None:
    plan = HOSTILE[name]()

    assert device_follows(plan) is not None
    assert shuffler_follows(plan) == device_follows(plan)


def test_a_second_plan_of_an_epoch_is_refused(tmp_path: Path) -> None:
    assert second_plan(tmp_path / "device.db") == ("plan-refused", "malformed")


def test_the_shuffler_closes_no_step_of_fewer_answers_than_the_plan_relies_on() -> None:
    plan = honest()
    more = replace(plan, minimum=150)
    batch = Acknowledgement(made().task.digest, bytes(16), more)
    answers = closed().deliver(batch)

    with pytest.raises(Refusal) as refusal:
        answers.close((149,), bytes(16))
    assert refusal.value.reason is Reason.TOO_FEW_PEOPLE
    assert answers.close((150,), bytes(16))


def test_a_refused_plan_lets_the_epoch_be_skipped() -> None:
    after = closed().skip(refused=True)

    assert after.next_epoch().epoch == 2


def test_a_task_without_a_rule_or_with_promises_below_targets_is_refused() -> None:
    value = made().task.to_dict()
    del value["plan_rule"]

    with pytest.raises(InvalidInputError, match="rule"):
        read_task(json.dumps(value))
    with pytest.raises(InvalidInputError, match="promise"):
        replace(made().task, promise=(0.4, 1.0, 2.0))


def _larger_rate(rule: dict[str, Any]) -> None:
    rule["rates"][0][0] *= 1.05


def _less_noise(rule: dict[str, Any]) -> None:
    rule["noise"] = [0.9 * noise for noise in rule["noise"]]


def _larger_cut(rule: dict[str, Any]) -> None:
    rule["cut"] = 1e-3


def _larger_coin_error(rule: dict[str, Any]) -> None:
    rule["coin_error"] = 0.1


@pytest.mark.parametrize(
    "change", [_larger_rate, _less_noise, _larger_cut, _larger_coin_error]
)
def test_a_rule_that_cannot_be_proven_is_not_relied_on(change: Any) -> None:
    value = made().task.to_dict()
    change(value["plan_rule"])
    task = read_task(json.dumps(value))

    prove_plan_rule(made().task)
    with pytest.raises(Refusal) as refusal:
        prove_plan_rule(task)
    assert refusal.value.reason is Reason.PLAN_REFUSED


@pytest.mark.parametrize(
    "change",
    [
        {"noise": []},
        {"noise": [2.0, 1.0]},
        {"rates": [[0.1, 0.1]]},
        {"rates": "all"},
        {"cut": 2.0},
        {"cut": None},
        {"more": 1},
    ],
    ids=str,
)
def test_a_rule_of_another_form_is_refused(change: dict[str, Any]) -> None:
    value = made().task.to_dict()
    value["plan_rule"] |= change

    with pytest.raises(InvalidInputError):
        read_task(json.dumps(value))
