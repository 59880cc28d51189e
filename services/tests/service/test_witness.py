"""What the tests of killed services count with finds what it is for."""

import asyncio
import hashlib
from typing import Any

import httpx
import numpy as np
import pytest
from service_parties import LEVELS, Parties, parties
from witness import Told, Witness

from shuffledp.population import Population
from shuffledp.reports import Reports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp_services.device.simulated_devices import send
from shuffledp_services.device.uploads import SimulatedPeople
from shuffledp_services.wire.canonical import sha256, to_text
from shuffledp_services.wire.inclusion import RESULT
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import Report, read_reports

PEOPLE = 30
CHOICES = np.repeat(LEVELS, PEOPLE // len(LEVELS))


class Network(httpx.AsyncBaseTransport):
    """A shuffler that keeps uploads, and answers as it is told."""

    def __init__(self, who: Parties) -> None:
        self.who, self.kept, self.silent = who, list[Report](), False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        who, step = self.who, Step(self.who.task, 1)
        if request.method == "GET":
            status = {
                "task": who.task.to_dict(),
                "epoch": 1,
                "stage": "answer",
                "phase": "open",
                "enrolment": who.enroller.enrolment(1).to_dict(),
            }
            return httpx.Response(200, json=status)
        body = await request.aread()
        sent = read_reports(step, body)
        self.kept += sent
        if self.silent:
            return httpx.Response(404)
        digest = messages_digest(hashed(sent))
        receipt = Receipt(who.task.digest, 1, 0, digest, PEOPLE, ())
        return httpx.Response(200, content=receipt.signed(who.shuffler.signing_key))


class Epoch:
    """One that everybody answered, as it may be published."""

    def __init__(self) -> None:
        self.who = parties()
        self.network = Network(self.who)
        self.witness = Witness(self.who, self.network)
        self.tokens = self.who.enroller.tokens(PEOPLE)
        self.values = np.random.default_rng(1).integers(0, 4, PEOPLE)

    def answer(self) -> None:
        people = SimulatedPeople(self.values, CHOICES, self.tokens)

        async def everybody() -> None:
            async with httpx.AsyncClient(transport=self.witness) as client:
                await send(
                    people,
                    shuffler="http://localhost",
                    identity=self.who.task.identity,
                    rng=np.random.default_rng(2),
                    client=client,
                )

        asyncio.run(everybody())

    def told(self, kept: list[Report], *, shift: float = 0.0) -> Told:
        """What is said of a result that these reports are in."""
        who, listed = self.who, sorted(hashed(kept))
        step = Step(who.task, 1)
        messages = step.run.randomize(
            self.values, CHOICES, rng=np.random.default_rng(2)
        )
        places = [self.tokens.index(report.token) for report in kept]
        protocol: Any = step.answer_run.protocol
        levels = CHOICES[places]
        reports = Reports(protocol.identity, messages[places, 0], levels)
        found = protocol.estimate(
            shuffle(reports, rng=np.random.default_rng(3)),
            Population.from_budgets(levels),
        )
        said = {
            "task": who.task.identity,
            "digest": who.task.fingerprint,
            "epoch": 1,
            "batch": {"messages": to_text(sha256(b"".join(listed)))},
            "people": [int((levels == level).sum()) for level in LEVELS],
            "estimate": {
                "rows": [
                    {"value": value + shift, "standard_error": error}
                    for value, error in zip(
                        found.value.tolist(), found.standard_error.tolist(), strict=True
                    )
                ]
            },
        }
        result = signed(RESULT, said, who.analyst.signing_key)
        return self.witness.compare(result, b"".join(listed))


def hashed(reports: list[Report]) -> list[bytes]:
    return [hashlib.sha256(one).digest() for report in reports for one in report.sealed]


@pytest.fixture
def epoch() -> Epoch:
    answered = Epoch()
    answered.answer()
    return answered


def test_an_epoch_that_has_everybody_once_is_as_it_should_be(epoch: Epoch) -> None:
    assert epoch.told(epoch.network.kept) == Told(0, 0, "")


def test_reports_that_are_missing_are_counted(epoch: Epoch) -> None:
    assert epoch.told(epoch.network.kept[3:]) == Told(3, 0, "")


def test_somebody_with_two_reports_is_counted(epoch: Epoch) -> None:
    # The answer to a second upload of the same people is lost.
    epoch.network.silent = True
    with pytest.raises(Exception, match="Expected a service of this package"):
        epoch.answer()
    first, again = epoch.network.kept[:PEOPLE], epoch.network.kept[PEOPLE:]

    assert epoch.told(first + again[:2]) == Told(0, 2, "")
    # In place of the one that is said to be kept, hers is lost.
    assert epoch.told([*again[:1], *first[1:]]) == Told(1, 0, "")


def test_messages_that_nobody_sent_or_that_were_dropped_are_named(epoch: Epoch) -> None:
    stage = Step(epoch.who.task, 1).stage

    confirmed = epoch.witness.forget(1, stage)
    told = epoch.told(epoch.network.kept)

    assert confirmed == PEOPLE
    assert "nobody sent, or that were dropped" in told.wrong


def test_other_numbers_than_those_of_the_messages_are_named(epoch: Epoch) -> None:
    assert epoch.told(epoch.network.kept, shift=1e-9) == Told(
        0, 0, "other numbers than in one process"
    )
