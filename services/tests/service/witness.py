"""Who watches devices: what they sent, and what was confirmed to them.

Counts alone would not tell a report that was lost beside one that counts twice: the account
is made of the hashes of sealed messages, which every published result lists.
"""

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray
from service_parties import Parties

from shuffledp.population import Population
from shuffledp.reports import Reports
from shuffledp.shuffler.shuffle import shuffle
from shuffledp.statistics.items.items_framework import ItemsFramework
from shuffledp.statistics.items.protocol import Items
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.collection.planning import best_plan
from shuffledp_services.device.simulated_devices import TaskSnapshot
from shuffledp_services.wire.inclusion import HASH_SIZE, check_list, check_result
from shuffledp_services.wire.receipt import Receipt
from shuffledp_services.wire.refusal import Reason
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.step import UNLINKED, Step
from shuffledp_services.wire.upload_format import (
    Report,
    read_header,
    read_messages,
    read_reports,
)

Place = tuple[int, EpochStage]


@dataclass(frozen=True)
class Told:
    """How a published epoch compares with what devices know.

    Attributes:
        lost: Confirmed reports that are not in it.
        doubled: Reports of people who have another one in it.
        wrong: What else is wrong; empty if its numbers are those of its messages.
    """

    lost: int
    doubled: int
    wrong: str = ""


class Witness(httpx.AsyncBaseTransport):
    """Stands between devices and the network, and writes down what passes.

    Args:
        who: All keys.
        network: What it passes on to; None for the real one.

    Attributes:
        steps: As the shuffler named them last, with their plans.
    """

    def __init__(
        self, who: Parties, network: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._who = who
        self._network = network or httpx.AsyncHTTPTransport(verify=False)
        self.steps = dict[Place, Step]()
        self._sent: dict[Place, list[Report]] = defaultdict(list)
        self._confirmed: dict[Place, dict[bytes, Report]] = defaultdict(dict)
        self._bodies = Counter[bytes]()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Passes it on."""
        body = await request.aread()
        if request.method == "POST":
            self._bodies[body] += 1
            if self._bodies[body] == 1:
                self._sent[_place(body)] += self._reports(body)
        answer = await self._network.handle_async_request(request)
        await answer.aread()
        if answer.is_success:
            if request.method == "POST":
                self._confirm(body, answer.json())
            else:
                step = TaskSnapshot.read(answer.json(), self._who.task.digest).step
                self.steps[step.epoch, step.stage] = step
        return answer

    async def aclose(self) -> None:
        """Ends its connections."""
        await self._network.aclose()

    def confirmed(self, epoch: int, stage: EpochStage) -> int:
        """How many reports of a step were confirmed."""
        return len(self._confirmed[epoch, stage])

    def forget(self, epoch: int, stage: EpochStage) -> int:
        """Takes all reports of a step for over and done with.

        Returns:
            How many of them were confirmed.
        """
        self._sent.pop((epoch, stage), None)
        return len(self._confirmed.pop((epoch, stage), {}))

    def compare(self, result: dict[str, Any], listed: bytes) -> Told:
        """Compares an epoch that was published, and the list of its messages."""
        epoch, answer = result["epoch"], EpochStage.ANSWER
        check_list(listed, check_result(result, self._who.task, epoch))
        hashes = {
            listed[at : at + HASH_SIZE] for at in range(0, len(listed), HASH_SIZE)
        }
        kept = [
            report
            for report in self._sent[epoch, answer]
            if any(_hash(message) in hashes for message in report.sealed)
        ]
        there = sum(_hash(message) in hashes for one in kept for message in one.sealed)
        known = set(map(_key, kept))
        confirmed = self._confirmed[epoch, answer].values()
        lost = sum(_key(report) not in known for report in confirmed)
        doubled = len(kept) - len({report.token for report in kept})
        wrong = []
        if there != sum(len(one.sealed) for one in kept):
            wrong.append("reports are there in part")
        if there != len(hashes):
            wrong.append("messages are there that nobody sent, or that were dropped")
        if result["people"] != self._people(kept):
            wrong.append(f"people are {result['people']}")
        if not wrong and not self._equal(result, kept):
            wrong.append("other numbers than in one process")
        return Told(lost, doubled, "; ".join(wrong))

    def _confirm(self, body: bytes, document: dict[str, Any]) -> None:
        receipt = Receipt.read(document, self._who.task.shuffler_signing_key)
        refused = dict(receipt.refused)
        for place, report in enumerate(self._reports(body)):
            # Sent before without being heard, it was accepted then: so a device says.
            known = refused.get(place) is Reason.MESSAGE_REPEATED
            again = self._bodies[body] > 1 and known
            if place not in refused or again:
                self._confirmed[_place(body)][report.token] = report

    def _reports(self, body: bytes) -> list[Report]:
        return read_reports(self.steps[_place(body)], body)

    def _people(self, reports: list[Report]) -> list[int]:
        found = Counter(report.choice for report in reports)
        if UNLINKED in found:
            return [found.total()]
        return [found[place] for place in range(len(self._who.task.choices))]

    def _equal(self, result: dict[str, Any], kept: list[Report]) -> bool:
        """Tells whether the protocol finds the same of these reports, in one process."""
        task, epoch = self._who.task, result["epoch"]
        step, order = self.steps[epoch, EpochStage.ANSWER], np.random.default_rng(5)
        messages = self._opened(step, kept)
        found: Any
        if step.plan is None:
            levels = np.array(task.choices)[[report.choice for report in kept]]
            identity = step.answer_run.protocol.identity
            seen = shuffle(Reports(identity, messages[:, 0], levels), rng=order)
            protocol: Any = step.answer_run.protocol
            found = protocol.estimate(seen, Population.from_budgets(levels))
        else:
            choosing = self.steps[epoch, EpochStage.CHOICE]
            chosen = list(self._confirmed[epoch, EpochStage.CHOICE].values())
            named = self._opened(choosing, chosen)
            counted = choosing.choice_run.tally(named.ravel(), None)
            if best_plan(task, counted) != step.plan:
                return False
            counts = ItemsFramework(
                4, 2, task.choices, task.delta, absent=0
            ).count_choices(counted)
            found = Items.from_record(step.plan.record).estimate(
                shuffle(Reports(step.plan, messages, None, "pool"), rng=order), counts
            )
        rows = result["estimate"]["rows"]
        values = [row["value"] for row in rows], [row["standard_error"] for row in rows]
        alone = np.atleast_1d(found.value), np.atleast_1d(found.standard_error)
        return values == (alone[0].tolist(), alone[1].tolist())

    def _opened(self, step: Step, reports: list[Report]) -> NDArray[Any]:
        """What reports say, one row each."""
        key, suite = self._who.analyst.private_key, self._who.task.suite
        openers = [Opener(suite, key, step.info(group)) for group in range(step.groups)]
        plain = [
            openers[report.choice if step.linked else 0].open(message) or b""
            for report in reports
            for message in report.sealed
        ]
        messages, _, _ = read_messages(b"".join(plain), step.run.code.entry)
        return messages.reshape(len(reports), -1)


def _place(body: bytes) -> Place:
    header = read_header(body)
    return header.epoch, header.stage


def _key(report: Report) -> tuple[bytes, tuple[bytes, ...]]:
    return report.token, report.sealed


def _hash(message: bytes) -> bytes:
    return hashlib.sha256(message).digest()
