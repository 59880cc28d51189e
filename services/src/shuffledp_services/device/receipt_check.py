"""Check that the messages of receipts are among those that a result was computed from."""

from collections.abc import Sequence
from pathlib import Path

import httpx

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.http.http_client import (
    TIMEOUT,
    UnreachableError,
    ask,
    service_url,
)
from shuffledp_services.http.trusted_certificates import service_client
from shuffledp_services.wire.canonical import canonical
from shuffledp_services.wire.inclusion import (
    KeptReceipt,
    check_list,
    check_result,
    includes,
)
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.succession import check_succession
from shuffledp_services.wire.task import Task
from shuffledp_services.wire.task_reading import read_task


async def former_task(
    digest: bytes,
    task: Task,
    analyst: str,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    ca: Path | None = None,
) -> Task:
    """Returns the task with a digest: `task` itself, or one of its predecessors.

    Every task names the digest of its predecessor, so the sender of their texts need not be
    trusted.

    Args:
        digest: SHA-256 of the wanted task, 32 bytes.
        task: Obtained from the party that asks the question.
        analyst: URL of the analyst's service.
        transport: Transport for tests; None for the network.
        ca: As in `trusted_certificates`.

    Raises:
        Refusal: If there is no such task, or the analyst sends another one.
        UnreachableError: If the analyst does not answer.
    """
    url = f"{service_url(analyst)}/tasks/{task.identity}/former"
    async with service_client(TIMEOUT, ca=ca, transport=transport) as client:
        while task.digest != digest:
            if task.succeeds is None:
                raise Refusal(
                    Reason.UNKNOWN_TASK,
                    "Expected a receipt of this task, or of one whose keys it replaced.",
                )
            # Asked by the digest in the later task: the answer must be its predecessor.
            reply = await ask(client, "GET", f"{url}/{task.succeeds.hex()}")
            former = read_task(canonical(reply.document))
            # Compares the digest of the received task, among others, with
            # `task.succeeds`.
            check_succession(task, former)
            task = former
    return task


async def missing_messages(
    receipts: Sequence[KeptReceipt],
    task: Task,
    analyst: str,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    ca: Path | None = None,
) -> int:
    """Returns the number of messages in receipts that the published batch lacks.

    Downloads the whole list, so that the analyst does not learn which messages are checked.

    Args:
        receipts: Receipts for answers of one epoch: no list of choices is published.
        task: Task whose shuffler signed them.
        analyst: URL of the analyst's service.
        transport: Transport for tests; None for the network.
        ca: As in `trusted_certificates`.

    Raises:
        Refusal: If no result is published, or the analyst did not sign it.
        UnreachableError: If the analyst does not answer.
    """
    ((epoch, stage),) = {
        (receipt.receipt.epoch, receipt.receipt.stage) for receipt in receipts
    }
    assert stage == EpochStage.ANSWER
    url = f"{service_url(analyst)}/tasks/{task.identity}/epochs/{epoch}"
    async with service_client(TIMEOUT, ca=ca, transport=transport) as client:
        reply = await ask(client, "GET", url)
        # The digest of the list is in the signed result, so that the list itself needs
        # none.
        digest = check_result(reply.document, task, epoch)
        try:
            response = await client.get(f"{url}/messages")
            response.raise_for_status()
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"Expected a list of messages at {url}/messages."
            ) from error
    check_list(response.content, digest)
    # Searched on this machine: a request for single messages would reveal them.
    messages = (message for receipt in receipts for message in receipt.messages)
    return sum(not includes(response.content, message) for message in messages)
