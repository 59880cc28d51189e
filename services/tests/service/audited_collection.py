"""A published epoch with canaries in it, and all that an auditor has of it."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from analyst_parties import Parties, Service, answers, crowd_levels, serve
from whole_batches import write_whole

from shuffledp_services.audit.canary_records import (
    CanaryAssignment,
    canary_record,
    draw_canaries,
)
from shuffledp_services.audit.canary_uploads import seal_canaries
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.privacy_profiles import PrivacyProfiles
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.inclusion import keep_receipt
from shuffledp_services.wire.receipt import Receipt, messages_digest
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.upload_format import read_reports

Disorder = Callable[[list[bytes]], list[bytes]]


@dataclass(frozen=True)
class Audited:
    """What an auditor has.

    Attributes:
        drawn: What her canaries hold.
        record: As it was written before they were sent.
        receipts: Lines, one for each.
        result: What the analyst published.
        listed: The public list of its messages.
        batch: The folder that the analyst kept.
    """

    drawn: CanaryAssignment
    record: Canaries
    receipts: list[bytes]
    result: dict[str, Any]
    listed: bytes
    batch: Path


def collect(
    folder: Path,
    who: Parties,
    *,
    epoch: int = 1,
    count: int = 30,
    arrange: Disorder = lambda sealed: sorted(sealed, key=sha256),
    lost: int = 0,
    spoil: bool = False,
) -> Audited:
    """Canaries are first among those who answer; the shuffler arranges every pile.

    Args:
        folder: Of the analyst.
        who: Of the collection.
        epoch: Which.
        count: How many canaries.
        arrange: Puts what came into the order of the batch.
        lost: How many canaries the shuffler gives receipts for, and drops.
        spoil: Whether one canary sends what nobody can open.
    """
    task, step = who.task, Step(who.task, epoch)
    rng = np.random.default_rng(epoch)
    drawn = draw_canaries(task, count, rng=rng)
    tokens = [os.urandom(32) for _ in range(count)]
    uploads = seal_canaries(step, drawn.values, drawn.levels, tokens=tokens, rng=rng)
    levels = crowd_levels()
    crowd = [os.urandom(32) for _ in levels]
    reports = [read_reports(step, upload.body)[0] for upload in uploads][lost:]
    reports += seal_reports(step, answers(step, levels, seed=epoch), levels, crowd)
    piles: list[list[bytes]] = [[] for _ in range(step.groups)]
    for report in reports:
        piles[report.choice if step.linked else 0] += report.sealed
    if spoil:
        piles[0][-1] = os.urandom(len(piles[0][-1]))
    chosen = np.array([report.choice for report in reports])
    batch = write_whole(
        step,
        os.urandom(16),
        tuple(int((chosen == place).sum()) for place in range(len(task.choices))),
        [message for pile in piles for message in arrange(pile)],
        who.shuffler_key,
        enrolment=who.enroller.enrolment(epoch),
        after=epoch - 1,
    )
    kept = folder / "kept"
    keeping = replace(who, hosted=replace(who.hosted, retained_batches=kept))

    async def scenario(service: Service) -> tuple[dict[str, Any], bytes]:
        answer = await service.post(batch)
        assert answer.is_success, answer.text
        assert (await service.counted())["phase"] == "published"
        path = f"/tasks/{task.identity}/epochs/{epoch}/messages"
        listed = await service.client.get(path)
        return (await service.result(epoch)).json(), listed.content

    result, listed = serve(folder, keeping, scenario)
    receipts = []
    for upload in uploads:
        digest = messages_digest(upload.hashes)
        signed = Receipt(task.digest, epoch, 0, digest, 1, ()).signed(who.shuffler_key)
        receipts.append(keep_receipt(task, list(upload.hashes), json.loads(signed)))
    return Audited(
        drawn,
        canary_record(step, drawn, uploads),
        receipts,
        result,
        listed,
        kept / f"{task.identity}.{epoch}",
    )


def local_promises(task: Task, _people: object, *, spoiled: int = 0) -> PrivacyProfiles:
    """What devices alone promise: true, and at once."""
    levels = np.array(task.choices)
    return PrivacyProfiles(levels, levels[np.newaxis], np.zeros((1, levels.size)))
