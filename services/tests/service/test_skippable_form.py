"""Numbers that people skip behind the services: tasks, devices, files and results."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyst_parties import Service, serve
from analyst_parties import parties as analyst_parties
from command_line import Command
from service_parties import (
    SKIPPABLE_FORM,
    Parties,
    allowed_plan,
    parties,
    publish,
    question,
)

from shuffledp.errors import InvalidInputError, ShuffledpError
from shuffledp.identity import Identity
from shuffledp.statistics.counts.survey import CountsSurvey
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.audit.result_verification import problems_in
from shuffledp_services.commands.task_display import show_task
from shuffledp_services.device.device_state import DeviceState
from shuffledp_services.device.permanent_randomness import (
    PermanentRandomness,
    stream_contexts,
)
from shuffledp_services.wire.invitation import draw_invitations
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.signed_plan import (
    Acknowledgement,
    PublishedPlan,
    prove_plan_rule,
)
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task_reading import read_task


@cache
def made() -> Parties:
    return parties(question=question("counts", questions=SKIPPABLE_FORM))


def answering(who: Parties) -> Step:
    return Step(who.task, 1, EpochStage.ANSWER, allowed_plan(who.task))


def values(num_users: int, *, seed: int = 1) -> Any:
    """Ways as positions of options, then ages and minutes, a third of which are skipped."""
    rng = np.random.default_rng(seed)
    numbers = np.column_stack(
        [rng.uniform(16.0, 110.0, num_users), rng.uniform(0.0, 120.0, num_users)]
    )
    numbers[rng.random(numbers.shape) < 1 / 3] = np.nan
    return np.column_stack([rng.integers(0, 5, num_users), numbers])


@pytest.mark.slow
def test_a_task_with_skips_is_read_as_it_was_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    task = made().task

    again = read_task(task.to_json())

    assert again == task
    assert again.question.survey == CountsSurvey(SKIPPABLE_FORM)
    groups = task.protocol.record["parameters"]["groups"]
    # Ways; two levels of six ranges and skips; three digits or skips; three digits by way.
    assert [group["buckets"] for group in groups] == [4, 2, 7, 3, 3, 3, 8, 8, 8]
    published = publish(task, made().analyst.signing_key)
    assert PublishedPlan.read(published.to_dict(), task, 1) == published
    show_task(task)
    shown = " ".join(capsys.readouterr().out.split())
    assert "sent as one of 2, 7 buckets, the last for people who skip it" in shown


@pytest.mark.parametrize(
    "change",
    [
        lambda asked: asked[1].update(skippable=False),
        lambda asked: asked[1].pop("skippable"),
        lambda asked: asked[1].update(levels=[[4, 2], [1, 6]]),
        lambda asked: asked[2].pop("skippable"),
        lambda asked: asked[2].update(skippable=1),
        lambda asked: asked[2].update(skippable=None),
        lambda asked: asked[2]["levels"][0].__setitem__(1, 2),
        lambda asked: asked[0].update(skippable=True),
        lambda asked: asked[3].update(skippable=True),
        lambda asked: asked[3]["groups"][0][1].__setitem__(2, 3),
    ],
)
def test_a_task_with_forged_skips_is_refused(change: Any) -> None:
    value = json.loads(made().task.to_json())

    change(value["question"]["terms"]["questions"])

    with pytest.raises(ShuffledpError):
        read_task(json.dumps(value))


def test_devices_repeat_a_skip_and_refuse_a_number_after_it(tmp_path: Path) -> None:
    who = made()
    step, given = answering(who), values(3)
    given[1] = [2.0, np.nan, np.nan]
    levels = np.full(3, who.task.choices[2])
    invitations = draw_invitations(who.task, 1, 3)
    sent = []

    def send(answers: Any) -> None:
        with DeviceState(tmp_path / "device.db") as state:
            rng = PermanentRandomness(state, invitations).streams(step, answers, levels)
            sent.append(step.run.randomize(answers, levels, rng=rng))

    send(given)
    # Another spelling of the same skip.
    send(np.where(np.isnan(given), -np.nan, given))
    other = given.copy()
    other[1, 2] = 30.0

    assert np.array_equal(sent[0], sent[1])
    with pytest.raises(InvalidInputError, match="sent before"):
        send(other)


def test_streams_of_skips_and_of_numbers_differ() -> None:
    step = answering(made())
    rows = np.array([[2.0, np.nan, 0.0], [2.0, 0.0, np.nan], [2.0, 0.0, 0.0]])

    contexts = stream_contexts(step, [b"s"] * 3, np.zeros(3, np.int64), rows)

    assert len(set(contexts)) == 3


def test_skips_and_numbers_are_sent_as_equally_many_messages() -> None:
    step = answering(made())
    given = np.array([[2.0, 44.0, 30.0], [4.0, np.nan, np.nan]])

    sent = step.run.randomize(given, np.full(2, 2.0), rng=np.random.default_rng(1))

    assert sent.shape == (2, step.messages_per_report)


@pytest.mark.parametrize(
    ("age", "minutes", "why"),
    [
        ("", "", "none.txt"),
        ("NA", "35", "none.txt"),
        ("15", "", "got '15' in row 2"),
        ("old", "", "got 'old' in row 2"),
        ("44", "inf", "got 'inf' in row 2"),
    ],
)
def test_an_empty_cell_is_a_skip_in_a_file(
    tmp_path: Path, command: Command, age: str, minutes: str, why: str
) -> None:
    task, file = tmp_path / "task.json", tmp_path / "answers.csv"
    task.write_bytes(made().task.to_json())
    file.write_text(f"way,age,minutes,level\ncar,{age},{minutes},1\n", encoding="utf-8")
    given = [f"--value={name}" for name in ("way", "age", "minutes")]

    # With answers that are taken, it is the tokens that are missing.
    options = ["--level=level", f"--task={task}", f"--tokens={tmp_path / 'none.txt'}"]
    shuffler = "--shuffler=http://127.0.0.1:9"
    outcome = command("device", "send", str(file), *given, *options, shuffler)

    assert outcome.is_refusal
    assert why in outcome.err


@pytest.mark.slow
def test_what_those_who_answered_say_is_published_and_verified(tmp_path: Path) -> None:
    targets = (4.0, 8.0)
    asked = Question("How do you get around?", CountsSurvey(SKIPPABLE_FORM))
    who = analyst_parties(
        question=asked,
        choices=targets,
        minimum=(150, 150),
        promise=targets,
        allowance=(40.0, 80.0),
    )
    task, levels = who.task, np.repeat(targets, 80)
    prove_plan_rule(task)
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
    names = [row["name"] for row in numbers]
    assert names[5:8] == [
        "How old are you?: answered",
        "How long is the way?: mean",
        "How long is the way?: answered",
    ]
    for name in names[5:8]:
        assert name in page
    for row, column in ((numbers[5], 1), (numbers[7], 2)):
        truth = int(np.sum(~np.isnan(given[:, column])))
        assert abs(row["value"] - truth) <= 5.0 * row["standard_error"]
    assert problems_in(result, task) == ()
    forged = json.loads(json.dumps(result))
    forged["estimate"]["numbers"][5]["value"] = 160.0
    assert any("numbers" in line for line in problems_in(forged, task))
