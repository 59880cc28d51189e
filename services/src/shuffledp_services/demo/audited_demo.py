"""Demonstration of a collection with an auditor, and optionally with saboteurs.

The auditor has a folder and tokens of their own, sends canaries among the users' reports,
reads the sealed batches that the analyst keeps for them, and hands over the evidence.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from shuffledp.file_writing import write_file
from shuffledp.randomness import SystemRandom
from shuffledp_services.audit.canary_records import (
    CanaryAssignment,
    canary_record,
    draw_canaries,
    with_receipts,
)
from shuffledp_services.audit.canary_uploads import (
    open_step,
    seal_canaries,
    send_canaries,
)
from shuffledp_services.audit.disclosed_batch import read_disclosed_batch
from shuffledp_services.audit.epoch_audit import audit_epoch
from shuffledp_services.demo.demo_collection import Demo
from shuffledp_services.demo.local_parties import (
    ANSWERS,
    enrol,
    run_services,
    sign_task,
    simulate_users,
    wait_for,
)
from shuffledp_services.device.simulated_devices import Delivery, ignore_progress, send
from shuffledp_services.device.uploads import SimulatedPeople
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.evidence import Evidence
from shuffledp_services.http.http_client import TIMEOUT
from shuffledp_services.operator.shuffler_commands import operate_with
from shuffledp_services.storage.key_files import (
    SHUFFLER_FILE,
    ShufflerSecrets,
)
from shuffledp_services.storage.new_files import make_folder, write_new
from shuffledp_services.wire.command import Action
from shuffledp_services.wire.task import Task

EPOCHS, SABOTAGED, CANARIES = 4, 3, 60

_HONEST = ("shuffledp",)
# Both services: an honest analyst would refuse the batch of a sabotaged shuffler.
_SABOTEUR = ("shuffledp_services.demo.saboteur", str(SABOTAGED))
# Users' reports come in this many uploads, and canaries between them.
_UPLOADS = 20


@dataclass(frozen=True)
class AuditedDemo:
    """Collection whose last epoch is finished; its services still run.

    Attributes:
        last: Last epoch.
        evidence: The auditor's evidence on all epochs.
    """

    last: Demo
    evidence: Evidence


@dataclass
class _Auditor:
    """Folder, evidence and canary records of the auditor."""

    folder: Path
    published: Path
    evidence: Evidence
    records: list[Canaries] = field(default_factory=list)

    def hand_over(self) -> None:
        """Writes the evidence for the analyst, who then shows it instead of the former."""
        for path in (self.folder / "evidence.json", self.published):
            write_file(path, self.evidence.to_json())


@contextmanager
def audited_demo(
    folder: Path,
    *,
    num_users: int,
    saboteur: bool,
    progress: Callable[[int, int], None] = ignore_progress,
    say: Callable[[str], None] = lambda _step: None,
) -> Iterator[AuditedDemo]:
    """Runs `EPOCHS` epochs with `CANARIES` canaries in each; the services stay up.

    Args:
        folder: Folder for keys and databases, with one folder per party.
        num_users: Number of simulated users, at least `MIN_USERS`.
        saboteur: Whether the shuffler keeps the order of arrival in epoch `SABOTAGED`,
            and the analyst accepts it.
        progress: Called with the number of users' finished reports and of all reports.
        say: Called with a description of each step before it begins.

    Raises:
        InvalidInputError: If there are too few users.
        UnreachableError: If a service does not start, or no result is published in time.
    """
    say("draw keys and agree")
    task = sign_task(folder, num_users)
    secrets = ShufflerSecrets.load(folder / "shuffler" / SHUFFLER_FILE)
    batches, own = folder / "analyst" / "batches-for-the-auditor", folder / "auditor"
    make_folder(own)
    # In the folder of the analyst, whose service reads it for every page.
    published = folder / "analyst" / "evidence.json"
    auditor = _Auditor(own, published, Evidence(task.fingerprint))
    # Empty evidence, because the analyst's service reads the file when it starts.
    auditor.hand_over()
    options = [
        *("--keep-batches", str(batches), "--audit", str(published)),
        *("--auditor", "the auditor of the demonstration"),
    ]
    program = _SABOTEUR if saboteur else _HONEST
    say("start the shuffler and the analyst")
    # Canaries take part with tokens of their own.
    tokens = enrol(folder, task, epoch=1, count=num_users + CANARIES)
    with run_services(folder, analyst_options=options, program=program) as (
        shuffler,
        analyst,
    ):
        for epoch in range(1, EPOCHS + 1):
            # The first epoch is open from the beginning.
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
            _audit(auditor, task, result, url, batches / f"{task.identity}.{epoch}")
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
    """Sends the reports of users and canaries; returns their delivery and true shares."""
    rng = SystemRandom()
    levels, values = simulate_users(num_users)
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
        # Before the first canary is sent: a later record could be adjusted to the outcome.
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
        # Together, so that canaries arrive among users' reports.
        delivery, _ = await asyncio.gather(people, canaries)
    auditor.records.append(with_receipts(record, receipts, task))
    return delivery, _truth(values, drawn)


def _truth(values: NDArray[Any], drawn: CanaryAssignment) -> NDArray[Any]:
    # The analyst cannot tell canaries from users, so that the estimate counts both.
    all_values = np.concatenate([values, drawn.values])
    return np.bincount(all_values, minlength=len(ANSWERS)) / all_values.size


def _audit(
    auditor: _Auditor, task: Task, result: dict[str, Any], url: str, batch: Path
) -> None:
    # Without proxies of the environment, which may not reach this machine.
    response = httpx.get(f"{url}/messages", trust_env=False)
    # The last record is that of this epoch.
    *earlier, canaries = auditor.records
    epoch_test = audit_epoch(
        task,
        canaries,
        result,
        listed=response.content,
        disclosed=read_disclosed_batch(batch, task),
        earlier=earlier,
    )
    auditor.evidence = auditor.evidence.with_epoch(epoch_test)
    auditor.hand_over()
