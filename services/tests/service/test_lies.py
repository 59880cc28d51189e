"""Servers that ask again: a device says the same twice, or nothing."""

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from service_parties import Parties, answers, parties, publish

from shuffledp.cli.main import main
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.device.device_state import DeviceState
from shuffledp_services.device.permanent_randomness import PermanentRandomness
from shuffledp_services.device.simulated_devices import send
from shuffledp_services.device.uploads import SimulatedPeople
from shuffledp_services.http import http_client
from shuffledp_services.wire.invitation import Invitation, draw_invitations
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import read_reports

COUNT = 30
# Message of each token, for every upload that came.
Heard = list[dict[bytes, tuple[bytes, ...]]]


def spent() -> httpx.Response:
    problem = Refusal(Reason.TOKEN_SPENT, "Used.").problem
    return httpx.Response(problem.status, json=problem.to_dict())


def closed() -> httpx.Response:
    problem = Refusal(Reason.NOT_OPEN, "Closed.").problem
    return httpx.Response(problem.status, json=problem.to_dict())


def broken() -> httpx.Response:
    return httpx.Response(500)


@dataclass
class Liar:
    """Shuffler and analyst in one: opens what is sent, and answers with a lie."""

    made: Parties
    lie: Callable[[], httpx.Response] = spent
    epoch: int = 1
    plan: PublishedPlan | None = None
    heard: Heard = field(default_factory=list)

    @property
    def step(self) -> Step:
        stages = self.made.task.stages
        stage = stages[0] if self.plan is None else EpochStage.ANSWER
        plan = None if self.plan is None else self.plan.protocol
        return Step(self.made.task, self.epoch, stage, plan)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        step = self.step
        if request.method == "GET":
            document = {
                "task": self.made.task.to_dict(),
                "epoch": step.epoch,
                "stage": step.stage.name.lower(),
                "phase": "open",
                "enrolment": self.made.enroller.enrolment(1).to_dict(),
                "plan": self.plan and self.plan.to_dict(),
            }
            return httpx.Response(200, json=document)
        self.heard.append({})
        for report in read_reports(step, request.content):
            group = report.choice if step.linked else 0
            opener = Opener(
                step.task.suite, self.made.analyst.private_key, step.info(group)
            )
            opened = [opener.open(sealed) for sealed in report.sealed]
            assert None not in opened
            self.heard[-1][report.token] = tuple(filter(None, opened))
        return self.lie()


@dataclass
class Devices:
    """The devices of some people, which share a state."""

    made: Parties
    path: Path
    invitations: list[Invitation]
    values: np.ndarray[Any, Any]
    levels: np.ndarray[Any, Any]

    def answer(
        self, liar: Liar, *, allow_changes: bool = False
    ) -> ShuffledpError | None:
        """Tries once, as a program that was just started; returns why it failed."""

        async def sending() -> None:
            transport = httpx.MockTransport(liar)
            async with httpx.AsyncClient(transport=transport) as client:
                with DeviceState(self.path) as state:
                    await send(
                        SimulatedPeople(
                            self.values,
                            self.levels,
                            [each.token for each in self.invitations],
                        ),
                        shuffler="http://localhost",
                        identity=self.made.task.identity,
                        expected=self.made.task.digest,
                        rng=PermanentRandomness(
                            state, self.invitations, allow_changes=allow_changes
                        ),
                        patience=0.0,
                        client=client,
                    )

        try:
            asyncio.run(sending())
        except ShuffledpError as error:
            return error
        return None


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "_FIRST_PAUSE", 0.0)


def devices(
    made: Parties, folder: Path, *, epoch: int = 1, count: int = COUNT
) -> Devices:
    rng = np.random.default_rng(3)
    values = answers(made.task.question.survey.words.name, count, rng)
    levels = rng.choice(np.array(made.task.choices), count)
    invitations = draw_invitations(made.task, epoch, count)
    return Devices(made, folder / "device.db", invitations, values, levels)


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("lie", [spent, closed, broken])
@pytest.mark.parametrize("statistic", ["frequency", "mean"])
def test_whoever_records_a_message_and_lies_gets_the_same_one_again(
    statistic: str, lie: Callable[[], httpx.Response], tmp_path: Path
) -> None:
    made = parties(statistic)
    liar, people = Liar(made, lie), devices(made, tmp_path)

    for _ in range(3):
        people.answer(liar)

    assert len(liar.heard) >= 3
    assert all(messages == liar.heard[0] for messages in liar.heard)
    # People are told apart: streams are not one and the same.
    assert len(liar.heard[0]) == COUNT
    assert len(set(liar.heard[0].values())) > 1


@pytest.mark.parametrize("statistic", ["frequency", "mean", "items"])
def test_what_somebody_says_does_not_depend_on_who_else_is_asked(
    statistic: str, tmp_path: Path
) -> None:
    made = parties(statistic)
    plan = (
        publish(made.task, made.analyst.signing_key) if statistic == "items" else None
    )
    liar, everybody = Liar(made, plan=plan), devices(made, tmp_path)
    order = np.random.default_rng(5).permutation(COUNT)[:7]
    few = replace(
        everybody,
        values=everybody.values[order],
        levels=everybody.levels[order],
        invitations=[everybody.invitations[place] for place in order],
    )

    everybody.answer(liar)
    few.answer(liar)

    whole, part = liar.heard
    assert part == {each.token: whole[each.token] for each in few.invitations}


def test_items_are_the_same_and_another_plan_is_refused(tmp_path: Path) -> None:
    made = parties("items")
    plan = publish(made.task, made.analyst.signing_key)
    liar, people = Liar(made, plan=plan), devices(made, tmp_path)

    for _ in range(2):
        people.answer(liar)
    before = len(liar.heard)
    parameters: Any = plan.protocol.record["parameters"]
    rates = tuple(0.5 * rate for rate in parameters["rates"])
    record = parameters | {"rates": rates, "num_items": parameters["items"]}
    del record["items"]
    other = Items(**record).identity
    liar.plan = publish(made.task, made.analyst.signing_key, other)
    why = people.answer(liar)

    assert before >= 2
    assert all(messages == liar.heard[0] for messages in liar.heard)
    assert len(liar.heard) == before
    assert isinstance(why, Refusal)
    assert why.reason is Reason.PLAN_REFUSED


def test_a_link_is_good_for_its_own_epoch_alone(tmp_path: Path) -> None:
    made = parties("frequency")
    liar, people = Liar(made), devices(made, tmp_path, epoch=2)

    refusals = []
    for liar.epoch in (1, 2, 3):
        refusals.append(people.answer(liar))

    assert len(liar.heard) == 1
    for refusal in (refusals[0], refusals[2]):
        assert isinstance(refusal, Refusal)
        assert refusal.reason is Reason.WRONG_EPOCH


def test_a_device_takes_part_in_no_more_epochs_than_the_task_has(
    tmp_path: Path,
) -> None:
    made = parties("frequency")
    task = replace(made.task, allowance=tuple(2.5 * each for each in made.task.promise))
    made = replace(made, task=task)
    liar = Liar(made)

    refusals = []
    for liar.epoch in (1, 2, 3):
        refusals.append(devices(made, tmp_path, epoch=liar.epoch).answer(liar))

    assert task.epochs == 2
    assert len(liar.heard) == 2
    assert isinstance(refusals[2], Refusal)
    assert refusals[2].reason is Reason.ALLOWANCE_SPENT


def test_a_task_with_other_keys_asks_nobody_again_in_an_epoch(tmp_path: Path) -> None:
    made = parties("frequency")
    people = devices(made, tmp_path)
    people.answer(Liar(made))

    other = parties("frequency")
    keys: dict[str, Any] = {**other.task.keys, "succeeds": made.task.digest}
    task = replace(made.task, **keys)
    renamed = replace(other, task=task)
    liar = Liar(renamed)
    why = devices(renamed, tmp_path).answer(liar)

    assert liar.heard == []
    assert isinstance(why, Refusal)
    assert why.reason is Reason.UNKNOWN_TASK


def test_a_changed_answer_is_sent_only_by_whoever_accepts_what_it_costs(
    tmp_path: Path,
) -> None:
    made = parties("frequency")
    liar, people = Liar(made, broken), devices(made, tmp_path)
    people.levels[:] = made.task.choices[0]

    people.answer(liar)
    first = len(liar.heard)
    other = replace(people, values=(people.values + 1) % 4)
    why = other.answer(liar)
    unheard = len(liar.heard)
    other.answer(liar, allow_changes=True)
    second = len(liar.heard)
    people.answer(liar, allow_changes=True)

    assert isinstance(why, InvalidInputError)
    assert f"got {COUNT} others" in str(why)
    assert "one more whole local level" in str(why)
    assert first == unheard < second < len(liar.heard)
    # At this level a message hardly depends on the answer: its coins are others.
    assert liar.heard[first] != liar.heard[0]
    # Whoever changes back says what she said before.
    assert liar.heard[second] == liar.heard[0]


def test_neither_secret_alone_gives_the_coins_away(tmp_path: Path) -> None:
    made = parties("frequency")
    liar, people = Liar(made), devices(made, tmp_path, count=200)
    people.answer(liar)
    # Who made the links, and tries every answer on a device of her own.
    other_device = replace(people, path=tmp_path / "another.db")
    other_device.answer(liar)
    # Who has the device, and no links.
    links = [replace(each, secret=os.urandom(32)) for each in people.invitations]
    (tmp_path / "copy").mkdir()
    copied = tmp_path / "copy" / "device.db"
    copied.write_bytes(people.path.read_bytes())
    replace(people, path=copied, invitations=links).answer(liar, allow_changes=True)

    known, *others = liar.heard
    for tried in others:
        same = sum(known[token] == tried[token] for token in known)
        assert len(others) == 2
        assert same < len(known)


def test_the_state_is_its_owners_alone_and_of_one_program_at_a_time(
    tmp_path: Path,
) -> None:
    path = tmp_path / "device.db"

    with DeviceState(path) as state:
        secret = state.secret
        with pytest.raises(DataError, match="another process has it open"):
            DeviceState(path)
    with DeviceState(path) as state:
        assert state.secret == secret
        assert secret.hex() not in repr(state)
    with DeviceState(tmp_path / "second.db") as state:
        assert state.secret != secret

    assert len(secret) == 32
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(
        DataError, match=r"Could not write .*second\.db: .+ closed \w+\.$"
    ):
        state.remember(Step(parties().task, 1), [], [])
    path.write_bytes(b"no database" * 100)
    with pytest.raises(DataError, match=r"device\.db"):
        DeviceState(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("epoch=1", "epoch=01"),
        lambda text: text.replace("epoch=1", "epoch=4294967296"),
        lambda text: text.replace("&secret=", "&secret=A"),
        lambda text: text.replace("token=", "token=!"),
        lambda text: text.split("&")[0],
        lambda text: text[:-1],
        lambda text: f"{text}&more=1",
        lambda text: "",
    ],
)
def test_what_is_no_invitation_is_refused(change: Callable[[str], str]) -> None:
    (invitation,) = draw_invitations(parties("frequency").task, 1, 1)
    text = invitation.to_text()

    assert Invitation.read(text) == invitation
    assert Invitation.read(f"https://s.example/take-part#{text}\n") == invitation
    assert text.split("=")[1][:43] not in repr(invitation)
    with pytest.raises(Refusal):
        Invitation.read(change(text))


def test_the_command_says_the_same_again_and_what_another_answer_costs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = parties("frequency")
    liar, invitations = Liar(made), draw_invitations(made.task, 1, COUNT)
    client, transport = httpx.AsyncClient, httpx.MockTransport(liar)

    def through(**options: Any) -> httpx.AsyncClient:
        return client(**{**options, "transport": transport})

    monkeypatch.setattr(httpx, "AsyncClient", through)
    monkeypatch.chdir(tmp_path)
    Path("task.json").write_bytes(made.task.to_json())
    lines = "".join(f"{each.to_text()}\n" for each in invitations)
    Path("tokens.txt").write_text(lines)

    def command(answer: str, *more: str) -> str:
        rows = "".join(f"{answer},0.5\n" for _ in invitations)
        Path("people.csv").write_text(f"answer,level\n{rows}")
        words = (
            *("shuffledp", "device", "send", "people.csv", "--value", "answer"),
            *("--level", "level", "--shuffler", "https://shuffler.example"),
            *("--task", "task.json", "--tokens", "tokens.txt", *more),
        )
        monkeypatch.setattr(sys, "argv", list(words))
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 2
        return capsys.readouterr().err

    command("red")
    command("red")
    refused = command("blue")
    command("blue", "--allow-changed-answers")
    command("red", "--state", "another.db")

    assert "one more whole local level" in refused
    first, again, changed, elsewhere = liar.heard
    assert first == again
    assert changed != first
    assert elsewhere != first
    assert Path("device.db").stat().st_mode & 0o077 == 0
