"""A collection of several epochs with an auditor, and with saboteurs if wanted.

All of it is what `demo` does, and what an auditor does: she has a folder and tokens of her
own, sends canaries among everybody's answers, gets the sealed batch from an analyst who
agrees, and hands her evidence over. Saboteurs are in the place of both services: an honest
analyst would have refused the batch, and an honest shuffler would have made another one.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.collection.canaries import Canaries
from shuffledp.audit.collection.evidence import Evidence
from shuffledp.extras import require
from shuffledp.randomness import SystemRandom
from shuffledp.report.writing import write_file
from shuffledp.service.audit.canaries import open_step, seal_canaries, send_canaries
from shuffledp.service.audit.canary_records import (
    CanaryAssignment,
    canary_record,
    draw_canaries,
    with_receipts,
)
from shuffledp.service.audit.disclosed_batch import read_disclosed_batch
from shuffledp.service.audit.epoch_audit import audit_epoch
from shuffledp.service.demo.collection import Demo
from shuffledp.service.demo.stage import (
    ANSWERS,
    agree,
    enrol,
    invented_people,
    services,
    wait_for,
)
from shuffledp.service.device.simulated_devices import Delivery, ignore_progress, send
from shuffledp.service.device.uploads import SimulatedPeople
from shuffledp.service.http.http_client import TIMEOUT
from shuffledp.service.operator.shuffler_commands import operate_with
from shuffledp.service.storage.key_files import (
    SHUFFLER_FILE,
    ShufflerSecrets,
    make_folder,
    write_new,
)
from shuffledp.service.wire.command import Action
from shuffledp.service.wire.task import Task

require("httpx", extra="service", what="The demo")

import httpx  # noqa: E402

EPOCHS, SABOTAGED, CANARIES = 4, 3, 60

_HONEST = ("shuffledp",)
_SABOTEUR = ("shuffledp.service.demo.saboteur", str(SABOTAGED))
# Everybody's answers come in so many uploads, and canaries between them.
_UPLOADS = 20


@dataclass(frozen=True)
class AuditedDemo:
    """A collection whose last epoch is over; its services still run.

    Attributes:
        last: Its last epoch.
        evidence: What the auditor found.
    """

    last: Demo
    evidence: Evidence


@dataclass
class _Auditor:
    """What the auditor keeps from epoch to epoch."""

    folder: Path
    shown: Path
    evidence: Evidence
    records: list[Canaries] = field(default_factory=list)

    def hand_over(self) -> None:
        """Gives her evidence to the analyst, in the place of what she gave before."""
        for path in (self.folder / "evidence.json", self.shown):
            write_file(path, self.evidence.to_json())


@contextmanager
def audited_demo(
    folder: Path,
    *,
    num_users: int,
    saboteur: bool,
    progress: Callable[[int, int], None] = ignore_progress,
    say: Callable[[str], None] = lambda _what: None,
) -> Iterator[AuditedDemo]:
    """Runs `EPOCHS` epochs with `CANARIES` canaries in each; services stay up.

    Args:
        folder: For keys and databases; every party gets a folder in it.
        num_users: How many people are simulated, at least `LEAST_PEOPLE`.
        saboteur: Whether the shuffler keeps the order in epoch `SABOTAGED`, and the
            analyst lets her.
        progress: Is told how many people's reports are done, of how many.
        say: Is told what is being done.

    Raises:
        InvalidInputError: If there are too few people.
        UnreachableError: If a service does not start, or nothing is published in time.
    """
    say("draw keys and agree")
    task = agree(folder, num_users)
    secrets = ShufflerSecrets.load(folder / "shuffler" / SHUFFLER_FILE)
    kept, own = folder / "analyst" / "batches-for-the-auditor", folder / "auditor"
    make_folder(own)
    shown = folder / "analyst" / "evidence.json"
    auditor = _Auditor(own, shown, Evidence(task.fingerprint))
    auditor.hand_over()
    options = [
        *("--keep-batches", str(kept), "--audit", str(shown)),
        *("--auditor", "the auditor of the demonstration"),
    ]
    program = _SABOTEUR if saboteur else _HONEST
    say("start the shuffler and the analyst")
    tokens = enrol(folder, task, epoch=1, count=num_users + CANARIES)
    with services(folder, analyst_options=options, program=program) as (
        shuffler,
        analyst,
    ):
        for epoch in range(1, EPOCHS + 1):
            if epoch > 1:
                tokens = enrol(folder, task, epoch=epoch, count=num_users + CANARIES)
                asyncio.run(operate_with(task, secrets, shuffler, Action.NEXT))
            say(f"epoch {epoch}: answer")
            delivery, truth = asyncio.run(
                _answer(task, tokens, shuffler, auditor, num_users, progress)
            )
            say(f"epoch {epoch}: shuffle, open and count")
            asyncio.run(operate_with(task, secrets, shuffler, Action.CLOSE))
            url = f"{analyst}/tasks/{task.identity}/epochs/{epoch}"
            result = wait_for(url)
            say(f"epoch {epoch}: audit")
            _audit(auditor, task, result, url, kept / f"{task.identity}.{epoch}")
        last = Demo(task, shuffler, analyst, truth, delivery, result)
        yield AuditedDemo(last, auditor.evidence)


async def _answer(
    task: Task,
    tokens: Sequence[bytes],
    shuffler: str,
    auditor: _Auditor,
    num_users: int,
    progress: Callable[[int, int], None],
) -> tuple[Delivery, NDArray[Any]]:
    """Everybody answers, and so do canaries; returns what became of it, and the truth."""
    rng = SystemRandom()
    levels, values = invented_people(num_users)
    async with httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
        step = await open_step(client, shuffler, task=task)
        drawn = draw_canaries(task, CANARIES, rng=rng)
        uploads = seal_canaries(
            step,
            drawn.values,
            drawn.levels,
            tokens=tokens[num_users:],
            rng=rng,
        )
        record = canary_record(step, drawn, uploads)
        name = f"canaries-{step.epoch}.json"
        write_new(auditor.folder / name, record.to_json(), mode=0o600)
        receipts: list[bytes] = []
        people = send(
            SimulatedPeople(values, levels, tokens[:num_users]),
            shuffler=shuffler,
            identity=task.identity,
            expected=task.digest,
            rng=rng,
            reports_per_upload=-(-num_users // _UPLOADS),
            progress=progress,
        )
        canaries = send_canaries(
            client,
            uploads,
            step=step,
            shuffler=shuffler,
            keep=receipts.append,
            rng=rng,
        )
        delivery, _ = await asyncio.gather(people, canaries)
    auditor.records.append(with_receipts(record, receipts, task))
    return delivery, _truth(values, drawn)


def _truth(values: NDArray[Any], drawn: CanaryAssignment) -> NDArray[Any]:
    everybody = np.concatenate([values, drawn.values])
    return np.bincount(everybody, minlength=len(ANSWERS)) / everybody.size


def _audit(
    auditor: _Auditor, task: Task, result: dict[str, Any], url: str, batch: Path
) -> None:
    response = httpx.get(f"{url}/messages", trust_env=False)
    *earlier, canaries = auditor.records
    found = audit_epoch(
        task,
        canaries,
        result,
        listed=response.content,
        disclosed=read_disclosed_batch(batch, task),
        earlier=earlier,
    )
    auditor.evidence = auditor.evidence.with_epoch(found)
    auditor.hand_over()
