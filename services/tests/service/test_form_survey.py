"""Forms with numbers and combinations behind the services: encodings, devices, results."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyst_parties import Service, serve
from analyst_parties import parties as analyst_parties
from command_line import Command
from service_parties import FORM, Parties, allowed_plan, parties, publish, question

from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp.identity import Identity
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.commands.task_display import show_task
from shuffledp_services.device.device_state import DeviceState
from shuffledp_services.device.permanent_randomness import PermanentRandomness
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.invitation import draw_invitations
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.signed_plan import (
    Acknowledgement,
    PublishedPlan,
    prove_plan_rule,
)
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task

Change = Callable[[list[dict[str, Any]]], Any]


@cache
def made() -> Parties:
    return parties(question=question("counts", questions=FORM))


def values(num_users: int, *, seed: int = 1) -> Any:
    """Ways and parks as positions of options, then ages and minutes."""
    rng = np.random.default_rng(seed)
    picked = [rng.integers(0, 4, num_users), rng.integers(4, 7, num_users)]
    numbers = [rng.uniform(16.0, 110.0, num_users), rng.uniform(0.0, 120.0, num_users)]
    return np.column_stack([*picked, *numbers])


@pytest.mark.slow
def test_a_task_with_numbers_is_read_as_it_was_written() -> None:
    task = made().task

    again = read_task(task.to_json())

    assert again == task
    assert again.question.survey == CountsSurvey(FORM)
    groups = task.protocol.record["parameters"]["groups"]
    # Ways; two levels of ages; parks; four digits; both; four digits by way.
    sizes = [4, 2, 6, 2, 2, 2, 2, 2, 8, 8, 8, 8, 8]
    assert [group["buckets"] for group in groups] == sizes
    prove_plan_rule(task)


@pytest.mark.few_cases(11)
@pytest.mark.parametrize(
    "change",
    [
        lambda asked: asked[1]["levels"].pop(),
        lambda asked: asked[1]["levels"][0].reverse(),
        lambda asked: asked[1].update(levels=[[1, 2], [1, 6]]),
        lambda asked: asked[1].update(low=17.0),
        lambda asked: asked[1].update(low=float("nan")),
        lambda asked: asked[1].update(edges=[16.0, "25", 110.0]),
        lambda asked: asked[1].update(edges=[16.0, 110.0]),
        lambda asked: asked[1].update(steps=15),
        lambda asked: asked[1].update(most=1),
        lambda asked: asked[1].pop("unit"),
        lambda asked: asked[3].update(steps=16),
        lambda asked: asked[3].update(steps=15.0),
        lambda asked: asked[3]["levels"].reverse(),
        lambda asked: asked[3].update(high=1e400),
        lambda asked: asked[4].update(of=[2, 0]),
        lambda asked: asked[4].update(of=[0, 7]),
        lambda asked: asked[4].update(of=[0, -4]),
        lambda asked: asked[4].update(of=[0, 2, 3]),
        lambda asked: asked[4].update(groups=[]),
        lambda asked: asked[4].update(groups=[[[0, 1, 4], [2, 1, 2]]] * 2),
        lambda asked: asked[5]["groups"].pop(),
        lambda asked: asked[5]["groups"][0][1].__setitem__(2, 4),
        lambda asked: asked[0].update(most=2),
        lambda asked: asked.pop(0),
    ],
)
def test_a_task_with_a_forged_encoding_is_refused(change: Change) -> None:
    value = json.loads(made().task.to_json())

    change(value["question"]["terms"]["questions"])

    with pytest.raises(ShuffledpError):
        read_task(json.dumps(value))


def test_a_task_whose_protocol_counts_other_buckets_is_refused() -> None:
    value = json.loads(made().task.to_json())
    value["protocol"]["parameters"]["groups"][2]["buckets"] = 7

    with pytest.raises(Refusal, match="answered by"):
        read_task(canonical(value))


def changed_plan(change: Callable[[dict[str, Any]], Any]) -> Identity:
    record = json.loads(json.dumps(allowed_plan(made().task).record))
    change(record["parameters"])
    return Identity.from_record(record)


@pytest.mark.parametrize(
    "change",
    [
        lambda terms: terms["groups"].pop(),
        lambda terms: terms["groups"][2].update(buckets=5),
        lambda terms: terms["groups"][5].update(most=2),
        lambda terms: terms["groups"].reverse(),
        lambda terms: terms["groups"][12]["noise"]["poisson"].update(mean=1.0),
        lambda terms: terms.update(report_size=terms["report_size"] - 1),
        lambda terms: terms.update(rates=[1.0] * 3),
    ],
    ids=["fewer", "buckets", "most", "turned", "noise", "size", "rates"],
)
def test_a_plan_that_breaks_the_rule_of_a_form_is_refused(
    change: Callable[[dict[str, Any]], Any],
) -> None:
    task, key = made().task, made().analyst.signing_key
    honest = publish(task, key)
    assert PublishedPlan.read(honest.to_dict(), task, 1) == honest

    hostile = publish(task, key, changed_plan(change))

    with pytest.raises(Refusal):
        PublishedPlan.read(hostile.to_dict(), task, 1)


def answering(who: Parties) -> Step:
    return Step(who.task, 1, EpochStage.ANSWER, allowed_plan(who.task))


def test_devices_repeat_the_same_number_and_refuse_another(tmp_path: Path) -> None:
    who = made()
    step, given = answering(who), values(3)
    levels = np.full(3, who.task.choices[2])
    invitations = draw_invitations(who.task, 1, 3)
    sent = []

    def send(answers: Any) -> None:
        with DeviceState(tmp_path / "device.db") as state:
            permanent = PermanentRandomness(state, invitations)
            rng = permanent.streams(step, answers, levels)
            sent.append(step.run.randomize(answers, levels, rng=rng))

    send(given)
    send(given)
    other = given.copy()
    other[1, 3] = 120.0 - other[1, 3]

    assert np.array_equal(sent[0], sent[1])
    with pytest.raises(InvalidInputError):
        send(other)
    assert len(sent) == 2


def table(path: Path, **columns: str) -> Path:
    row = {"way": "car", "age": "44", "park": "", "minutes": "35", "level": "1"}
    row |= columns
    path.write_text(f"{','.join(row)}\n{','.join(row.values())}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"age": "15"}, "from 16 to 110 in column 'age'"),
        ({"minutes": "120.5"}, "from 0 to 120 in column 'minutes'"),
        ({"minutes": "-1"}, "from 0 to 120"),
        ({"minutes": "inf"}, "finite number"),
        ({"minutes": "soon"}, "number"),
        ({"minutes": "NaN"}, "minutes"),
        ({"minutes": ""}, "minutes"),
        ({"way": "train"}, "one of the 4 answers"),
        ({"way": "car;bus"}, "one of the 4 answers"),
        ({}, "none.txt"),
    ],
    ids=str,
)
def test_a_device_sends_no_answer_outside_the_form(
    tmp_path: Path,
    columns: dict[str, str],
    why: str,
    command: Command,
) -> None:
    task = tmp_path / "task.json"
    task.write_bytes(made().task.to_json())
    file = table(tmp_path / "answers.csv", **columns)
    given = [f"--value={name}" for name in ("way", "age", "park", "minutes")]

    # With answers that are taken, it is the tokens that are missing.
    options = ["--level=level", f"--task={task}", f"--tokens={tmp_path / 'none.txt'}"]
    shuffler = "--shuffler=http://127.0.0.1:9"
    outcome = command("device", "send", str(file), *given, *options, shuffler)

    assert outcome.is_refusal
    assert why in outcome.err


def test_signers_are_shown_what_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    show_task(made().task)

    shown = " ".join(capsys.readouterr().out.split())
    assert "from 16 to 110 years to How old are you?, sent as one of 2, 6" in shown
    assert "25, 35, 45, 55, 65" in shown
    assert "How do you get to work? & How long is the way?" in shown


@pytest.mark.slow
def test_means_and_quantiles_are_published_and_verified(tmp_path: Path) -> None:
    targets = (4.0, 8.0)
    asked = Question("How do you get around?", CountsSurvey(FORM))
    who = analyst_parties(
        question=asked,
        choices=targets,
        minimum=(150, 150),
        promise=targets,
        allowance=(40.0, 80.0),
    )
    task, levels = who.task, np.repeat(targets, 80)
    given = values(levels.size)

    async def scenario(service: Service) -> tuple[Identity, Any, dict[str, Any], str]:
        named = np.repeat([0, 1], 80)[:, None]
        first = Step(task, 1, EpochStage.CHOICE)
        answer = await service.post(who.batch(first, named, levels))
        published = Acknowledgement.read(answer.json(), task, 1).plan
        assert published is not None
        step = Step(task, 1, EpochStage.ANSWER, published.protocol)
        sent = step.run.randomize(given, levels, rng=np.random.default_rng(2))
        assert (await service.post(who.batch(step, sent, levels))).is_success
        await service.counted()
        result = (await service.result()).json()
        return published.protocol, sent, result, await service.page(1)

    plan, sent, result, page = serve(tmp_path, who, scenario)

    run = Step(task, 1, EpochStage.ANSWER, plan).answer_run
    chosen = asked.survey.choosing(task.offer).exact((80, 80))
    alone: Any = run.estimate(run.tally(sent.ravel(), None), chosen)
    numbers = result["estimate"]["numbers"]
    assert numbers == [json.loads(json.dumps(row.to_dict())) for row in alone.numbers()]
    rows = result["estimate"]["rows"]
    assert [row["value"] for row in rows] == alone.value.tolist()
    assert [row["name"] for row in numbers][4:6] == [
        "How old are you?: 90% are below",
        "How long is the way?: mean",
    ]
    assert "How long is the way?: mean" in page
    assert "no bound" in page or all(None not in row["interval"] for row in numbers)
    assert problems_in(result, task) == ()
    for name, value in (("value", 1.0), ("unit", "hours"), ("interval", [0.0, 1.0])):
        forged = json.loads(json.dumps(result))
        forged["estimate"]["numbers"][5][name] = value
        assert any("numbers" in line for line in problems_in(forged, task))


def test_a_form_is_translated_with_its_units() -> None:
    texts = made().task.question.texts

    assert texts[1:10] == (
        *("How do you get to work?", "bike", "bus", "car", "walk"),
        *("How old are you?", "years"),
        *("Is there a park near you?", "yes"),
    )
    with pytest.raises(InvalidInputError):
        replace(made().task.question, survey=CountsSurvey((*FORM, *FORM)))
