"""Simulated devices, against a shuffler that misbehaves."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest
from service_parties import LEVELS, Parties, answers, parties, publish

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.device.simulated_devices import Delivery, send
from shuffledp_services.device.uploads import SimulatedPeople
from shuffledp_services.http import http_client
from shuffledp_services.http.http_client import UnreachableError, service_url
from shuffledp_services.wire.canonical import sha256, to_text
from shuffledp_services.wire.inclusion import KeptReceipt
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.signed_plan import PublishedPlan
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import (
    choices_offered,
    read_header,
    read_messages,
    read_reports,
)

Handler = Callable[[httpx.Request], httpx.Response]


class Shuffler:
    """Keeps reports in memory, and answers as the interface says."""

    def __init__(self, made: Parties) -> None:
        self.made, self.task = made, made.task
        self.step = Step(made.task, 1, made.task.stages[0])
        self.plan: PublishedPlan | None = None
        self.check = made.enroller.roster(1)
        self.spent: set[tuple[EpochStage, bytes]] = set()
        self.kept: list[tuple[Step, int, tuple[bytes, ...]]] = []
        self.uploads: list[int] = []
        self.looks = 0

    def publish(self) -> None:
        self.plan = publish(self.task, self.made.analyst.signing_key)
        self.step = Step(self.task, 1, EpochStage.ANSWER, self.plan.protocol)

    def document(self) -> dict[str, Any]:
        return {
            "task": self.task.to_dict(),
            "epoch": self.step.epoch,
            "stage": self.step.stage.name.lower(),
            "phase": "open",
            "enrolment": self.made.enroller.enrolment(1).to_dict(),
            "plan": self.plan and self.plan.to_dict(),
        }

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            self.looks += 1
            return httpx.Response(200, json=self.document())
        body = request.content
        header, reports = read_header(body), read_reports(self.step, body)
        assert (header.epoch, header.stage) == (1, self.step.stage)
        self.uploads.append(len(reports))
        refused = []
        for place, report in enumerate(reports):
            assert choices_offered(self.step, np.array([report.choice])).all()
            assert self.check.valid(report.token)
            if (self.step, report.choice, report.sealed) in self.kept:
                refused.append((place, Reason.MESSAGE_REPEATED))
                continue
            if (self.step.stage, report.token) in self.spent:
                refused.append((place, Reason.TOKEN_SPENT))
                continue
            self.spent.add((self.step.stage, report.token))
            self.kept.append((self.step, report.choice, report.sealed))
        if len(reports) == 1 and refused:
            problem = Refusal(refused[0][1], "Used.").problem
            return httpx.Response(problem.status, json=problem.to_dict())
        receipt = Receipt(
            self.task.digest,
            1,
            int(self.step.stage),
            messages_digest(sha256(part) for each in reports for part in each.sealed),
            len(reports) - len(refused),
            tuple(refused),
            None if self.plan is None else self.plan.digest,
        )
        return httpx.Response(
            200, content=receipt.signed(self.made.shuffler.signing_key)
        )


def crowd(made: Parties, count: int) -> SimulatedPeople:
    rng = np.random.default_rng(1)
    tokens = made.enroller.tokens(count)
    values = answers(made.task.question.survey.words.name, count, rng)
    return SimulatedPeople(values, rng.choice(np.array(LEVELS), count), tokens)


def sent(
    people: SimulatedPeople, made: Parties, handler: Handler, **named: Any
) -> Delivery:
    async def run() -> Delivery:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
            return await send(
                people,
                shuffler="https://shuffler.example",
                identity=made.task.identity,
                rng=np.random.default_rng(2),
                client=client,
                **named,
            )

    return asyncio.run(run())


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "_FIRST_PAUSE", 0.0)


def test_every_answer_arrives_once_as_the_protocol_randomized_it() -> None:
    made = parties("frequency", mode="stratified")
    people, shuffler = crowd(made, 250), Shuffler(made)
    told: list[tuple[int, int]] = []

    delivery = sent(
        people,
        made,
        shuffler,
        reports_per_upload=100,
        progress=lambda *numbers: told.append(numbers),
    )

    assert delivery == Delivery(250, {})
    assert sorted(shuffler.uploads) == [50, 100, 100]
    assert told[-1] == (250, 250)
    opened = []
    for step, level, (sealed,) in shuffler.kept:
        opener = Opener(made.task.suite, made.analyst.private_key, step.info(level))
        text = opener.open(sealed)
        assert text is not None
        opened.append((level, int(read_messages(text)[0][0])))
    # Uploads are randomized in the order of the people, each with the next coins.
    rng, expected = np.random.default_rng(2), []
    for start in (0, 100, 200):
        part = slice(start, start + 100)
        levels = people.choices[part]
        step = Step(made.task, 1)
        messages = step.run.randomize(people.values[part], levels, rng=rng)
        places = [LEVELS.index(level) for level in levels.tolist()]
        expected += list(zip(places, messages[:, 0].tolist(), strict=True))
    assert sorted(opened) == sorted(expected)


def test_dummies_look_like_answers_and_open_as_nothing() -> None:
    made = parties("items")
    shuffler, people = Shuffler(made), crowd(made, 12)

    def published(request: httpx.Request) -> httpx.Response:
        if shuffler.looks == 2:
            shuffler.publish()
        return shuffler(request)

    delivery = sent(people, made, published, dummy=True)

    assert delivery == Delivery(12, {})
    assert len(shuffler.kept) == 24
    for step, _, sealed in shuffler.kept:
        opener = Opener(made.task.suite, made.analyst.private_key, step.info(0))
        texts = [opener.open(message) for message in sealed]
        numbers, dummies, others = read_messages(
            b"".join(text or b"" for text in texts)
        )
        assert (numbers.size, dummies, others) == (0, step.messages_per_report, 0)


@pytest.mark.parametrize("size", [1, 7])
def test_an_upload_whose_answer_was_lost_is_sent_again_and_counted_once(
    size: int,
) -> None:
    made = parties()
    shuffler, people = Shuffler(made), crowd(made, 21)
    calls_so_far = Counter[bytes]()

    def lossy(request: httpx.Request) -> httpx.Response:
        answer = shuffler(request)
        # Each upload for itself: which ones are under way together is chance.
        calls_so_far[request.content] += 1
        if calls_so_far[request.content] == 1:
            raise httpx.ReadTimeout("The answer is lost.")
        return httpx.Response(503) if calls_so_far[request.content] == 2 else answer

    receipts: list[bytes] = []

    delivery = sent(people, made, lossy, reports_per_upload=size, keep=receipts.append)

    assert delivery == Delivery(21, {})
    assert len(shuffler.kept) == 21
    # None is kept that confirms nothing: who checks them would be told it is false.
    for line in receipts:
        assert KeptReceipt.read(line, made.task).messages


@pytest.mark.parametrize("size", [1, 10])
def test_tokens_that_were_spent_before_are_told(size: int) -> None:
    made = parties()
    shuffler, people = Shuffler(made), crowd(made, 10)
    shuffler.spent |= {(EpochStage.ANSWER, token) for token in people.tokens[:4]}

    delivery = sent(people, made, shuffler, reports_per_upload=size)

    assert delivery == Delivery(6, {Reason.TOKEN_SPENT: 4})


def test_items_are_sent_after_the_plan_was_published() -> None:
    made = parties("items")
    shuffler, people = Shuffler(made), crowd(made, 30)

    def slow(request: httpx.Request) -> httpx.Response:
        if shuffler.looks == 2:
            shuffler.publish()
        return shuffler(request)

    delivery = sent(people, made, slow)

    assert delivery == Delivery(30, {})
    stages = [step.stage for step, _, _ in shuffler.kept]
    assert stages == [EpochStage.CHOICE] * 30 + [EpochStage.ANSWER] * 30
    size = shuffler.step.messages_per_report
    assert {len(sealed) for _, _, sealed in shuffler.kept} == {1, size}


def test_a_plan_that_does_not_come_is_not_waited_for_for_ever() -> None:
    made = parties("items")

    with pytest.raises(UnreachableError, match="plan"):
        sent(crowd(made, 3), made, Shuffler(made), patience=0.3)


def test_a_receipt_by_anybody_else_or_of_another_upload_is_not_believed() -> None:
    made, other = parties(), parties()
    shuffler, people = Shuffler(made), crowd(made, 5)

    def forged(request: httpx.Request) -> httpx.Response:
        answer = shuffler(request)
        if request.method == "GET":
            return answer
        receipt = Receipt.read(answer.json(), made.task.shuffler_signing_key)
        return httpx.Response(200, content=receipt.signed(other.shuffler.signing_key))

    def replayed(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return shuffler(request)
        old = Receipt(made.task.digest, 1, 0, bytes(32), 5, ())
        return httpx.Response(200, content=old.signed(made.shuffler.signing_key))

    def of_other_messages(request: httpx.Request) -> httpx.Response:
        answer = shuffler(request)
        if request.method == "GET":
            return answer
        receipt = Receipt.read(answer.json(), made.task.shuffler_signing_key)
        other = replace(receipt, messages=bytes(32))
        return httpx.Response(200, content=other.signed(made.shuffler.signing_key))

    for handler in (forged, replayed, of_other_messages):
        with pytest.raises(Refusal) as refusal:
            sent(people, made, handler)
        assert refusal.value.reason is Reason.SIGNATURE_FORGED


def test_nothing_is_sent_for_another_task_than_people_agreed_to() -> None:
    made, other = parties(), parties()
    shuffler = Shuffler(other)

    with pytest.raises(Refusal) as refusal:
        sent(crowd(made, 5), made, shuffler, expected=made.task.digest)

    assert refusal.value.reason is Reason.UNKNOWN_TASK
    assert shuffler.uploads == []


@pytest.mark.parametrize(
    "changes",
    [
        {"task": None},
        {"task": {}},
        {"epoch": 2**40},
        {"epoch": "1"},
        {"stage": []},
        {"stage": "other"},
        {"phase": "closed"},
        {"enrolment": None},
    ],
    ids=str,
)
def test_a_document_that_makes_no_sense_is_refused(changes: dict[str, Any]) -> None:
    made = parties()
    shuffler = Shuffler(made)

    def odd(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={**shuffler.document(), **changes})

    with pytest.raises(Refusal):
        sent(crowd(made, 2), made, odd)


def test_answers_of_other_services_are_said_to_be_that() -> None:
    made, people = parties(), crowd(parties(), 2)
    odd: list[Handler] = [
        lambda _: httpx.Response(404, text="<html>"),
        lambda _: httpx.Response(500, text="<html>"),
        lambda _: httpx.Response(302, headers={"Location": "https://other.example"}),
    ]

    for handler in odd:
        with pytest.raises(UnreachableError):
            sent(people, made, handler)
    with pytest.raises(Refusal):
        sent(people, made, lambda _: httpx.Response(200, text="[" * 100_000))


def test_a_problem_document_is_shown_without_control_characters() -> None:
    made = parties()
    problem = Refusal(Reason.UNKNOWN_TASK, "Not\x1b[2J here.\n").problem.to_dict()

    with pytest.raises(Refusal) as refusal:
        sent(
            crowd(made, 1),
            made,
            lambda _: httpx.Response(404, content=json.dumps(problem)),
        )

    assert str(refusal.value) == "Not?[2J here.?"


@pytest.mark.parametrize(
    "url",
    [
        "http://shuffler.example",
        "ftp://host",
        "host",
        "",
        "https://",
        "http://[::1",
        "//h",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:65536",
        "http://127.0.0.1:0",
        "http://127.0.0.1:1:2",
        "https://a\nb",
        "https://a.example/\r\n",
        "https://a.example/x y",
        "https://a.example/x\u00a0y",
        "https://a.exam\u200bple",
        " https://a.example",
        "https://a.example\x1b[2J",
        "https://a.example?x",
        "https://a.example#x",
    ],
)
def test_tokens_do_not_travel_in_clear_or_to_nowhere(url: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        service_url(url)

    assert str(refusal.value).isprintable()


def test_addresses_of_services_are_read() -> None:
    good = ["http://127.0.0.1:80/", "http://[::1]:80", "https://a.example/path/"]

    assert [service_url(url) for url in good] == [
        "http://127.0.0.1:80",
        "http://[::1]:80",
        "https://a.example/path",
    ]


def test_a_crowd_has_one_of_each_per_person() -> None:
    with pytest.raises(InvalidInputError):
        SimulatedPeople(np.zeros(3), np.ones(3), [bytes(32)] * 2)


def test_receipts_are_kept_as_they_come_and_name_what_was_sent() -> None:
    made, lines = parties(), list[bytes]()
    shuffler, people = Shuffler(made), crowd(made, 7)

    sent(people, made, shuffler, reports_per_upload=3, keep=lines.append)

    kept = [KeptReceipt.read(line, made.task) for line in lines]
    found = [message for each in kept for message in each.messages]
    expected = [sha256(part) for _, _, sealed in shuffler.kept for part in sealed]
    assert sorted(found) == sorted(expected)
    assert len(lines) == 3
    tokens = [to_text(token).encode() for token in people.tokens]
    assert not any(token in line for token in tokens for line in lines)
