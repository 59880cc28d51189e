"""Tasks and plans whose shuffler adds the noise, and its secret."""

import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dummy_oracles import (
    seed_of,
)
from noisy_collections import (
    answering,
    made,
    plan_of,
)
from service_parties import (
    allowed_plan,
    parties,
    publish,
    question,
)

from shuffledp.accounting.account import account
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp.identity import Identity
from shuffledp.population import Population
from shuffledp_services.commands.task_display import show_task
from shuffledp_services.operator.task_signatures import (
    check_alone,
    draw_keys,
    load_dummies,
    load_dummy_commitment,
)
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.storage.key_files import DummySecrets, ShufflerSecrets
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.signed_plan import PublishedPlan, prove_plan_rule
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task_reading import read_task


def test_those_who_leave_a_question_out_send_as_many_messages() -> None:
    who, step = made(), answering(made())
    given = np.array([[0, 4, 6], [0, 4, 8], [8, 8, 8]])
    levels = np.array(who.task.choices)

    messages = step.run.randomize(given, levels, rng=np.random.default_rng(1))

    assert messages.shape == (3, step.messages_per_report)
    # Buckets of options, and the last of each question for no answer.
    assert messages.tolist() == [[0, 5, 8], [0, 5, 10], [4, 7, 10]]


def test_the_plan_keeps_every_target_for_any_people() -> None:
    task = made().task
    prove_plan_rule(task)
    for num_users in (1, 1_000):
        people = Population.from_counts(dict.fromkeys(task.choices, num_users))
        guarantee = account(plan_of(made()), people, delta=task.delta)
        for level in guarantee.levels:
            assert level.epsilon_central <= task.choices[0] <= (level.target or 0.0)


def changed_plan(change: Callable[[dict[str, Any]], Any]) -> Identity:
    record = json.loads(json.dumps(allowed_plan(made().task).record))
    change(record["parameters"])
    return Identity.from_record(record)


@pytest.mark.parametrize(
    "change",
    [
        lambda terms: terms["groups"][0]["noise"]["shuffler"].update(dummies=1),
        lambda terms: terms["groups"][0]["noise"]["shuffler"].update(decay=0.1),
        lambda terms: terms["groups"][0].update(buckets=4),
        lambda terms: terms.update(rates=[0.5, 1.0, 1.0]),
        lambda terms: terms.update(meaning="something else"),
        lambda terms: terms.update(local_epsilon=1.0),
        lambda terms: [
            group.update(noise={"poisson": {"mean": 1e5}}) for group in terms["groups"]
        ],
    ],
    ids=["dummies", "decay", "buckets", "rates", "meaning", "floor", "devices"],
)
def test_a_plan_that_is_not_the_task_s_is_refused(
    change: Callable[[dict[str, Any]], Any],
) -> None:
    task, key = made().task, made().analyst.signing_key
    honest = publish(task, key)
    assert PublishedPlan.read(honest.to_dict(), task, 1) == honest

    hostile = publish(task, key, changed_plan(change))

    with pytest.raises(Refusal):
        PublishedPlan.read(hostile.to_dict(), task, 1)


def test_a_task_says_that_its_shuffler_adds_the_noise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    task = made().task

    assert read_task(task.to_json()) == task
    assert task.protocol.record["parameters"]["noise"] == "shuffler"
    show_task(task)
    shown = " ".join(capsys.readouterr().out.split())
    assert "is trusted to draw its dummies as it should" in shown
    assert "nothing is left of the promises" in shown
    assert task.dummy_commitment is not None
    assert task.dummy_commitment.hex() in shown.replace(" ", "")


@pytest.mark.parametrize(
    "change",
    [
        lambda task: task.pop("dummy_commitment"),
        lambda task: task.update(dummy_commitment=task["dummy_commitment"][:-2]),
        lambda task: task.update(dummy_commitment=None),
        lambda task: task["question"]["terms"].pop("noise"),
        lambda task: task["question"]["terms"].update(noise="nobody"),
        lambda task: task["plan_rule"]["shuffler"].update(dummies=0),
        lambda task: task["plan_rule"]["shuffler"].update(dummies=30.0),
        lambda task: task["plan_rule"]["shuffler"].update(decay=1),
        lambda task: task["plan_rule"].update(more=1),
        lambda task: task.update(plan_rule={"noise": [1.0]}),
        lambda task: task["protocol"]["parameters"].pop("noise"),
        lambda task: task.update(allowance=[1e6] * 3),
    ],
)
def test_a_forged_task_is_refused(change: Callable[[dict[str, Any]], Any]) -> None:
    value = json.loads(made().task.to_json())

    change(value)

    with pytest.raises(ShuffledpError):
        read_task(canonical(value))


def test_a_rule_with_too_little_noise_is_not_proven() -> None:
    value = json.loads(made().task.to_json())
    value["plan_rule"]["shuffler"]["dummies"] = 2

    with pytest.raises(Refusal, match="proven"):
        prove_plan_rule(read_task(canonical(value)))


def test_a_commitment_where_devices_draw_the_noise_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="commitment"):
        parties("counts", dummy_commitment=bytes(32))
    with pytest.raises(InvalidInputError, match="--dummies"):
        parties(question=question("counts", noise="shuffler"))


def test_the_secret_is_the_shuffler_s_alone(tmp_path: Path) -> None:
    folder, other = tmp_path / "shuffler", tmp_path / "analyst"
    draw_keys(folder, Role.SHUFFLER, Suite.X25519, dummies=True)
    part = folder / "shuffler.public.json"
    committed = load_dummy_commitment(part)
    task = replace(made().task, dummy_commitment=committed)

    dummies = load_dummies(folder, task)

    path = folder / "dummies.json"
    assert dummies is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert seed_of(dummies.secret, 0) == committed
    assert dummies.seed(3).secret == seed_of(dummies.secret, 3)
    assert dummies.secret.hex() not in part.read_text()
    for epoch in (0, 65_537):
        with pytest.raises(InvalidInputError):
            dummies.seed(epoch)
    # Another secret, and none, are refused by words that say what to do.
    with pytest.raises(DataError, match="copy the file that was drawn with"):
        load_dummies(folder, made().task)
    other.mkdir()
    with pytest.raises(DataError, match="Copy the file from the folder"):
        load_dummies(other, task)
    path.rename(other / "dummies.json")
    with pytest.raises(DataError, match="at the analyst"):
        check_alone(other, Role.ANALYST)


def test_a_host_without_the_secret_does_not_collect() -> None:
    who = made()
    for dummies in (None, DummySecrets.new()):
        with pytest.raises(InvalidInputError, match="secret of the dummies"):
            ShufflerHost(
                who.task, who.shuffler, who.enroller.roster, lambda: 0, dummies=dummies
            )


def test_other_keys_keep_the_commitment() -> None:
    task, other = made().task, ShufflerSecrets.new().verify_key
    after = replace(task, shuffler_signing_key=other, succeeds=task.digest)

    assert check_succession(after, task) == (Role.SHUFFLER,)
    with pytest.raises(Refusal, match="nothing else changed"):
        check_succession(replace(after, dummy_commitment=bytes(32)), task)
