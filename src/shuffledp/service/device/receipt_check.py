"""Is what receipts are for among what a result was computed from?"""

from collections.abc import Sequence
from pathlib import Path

from shuffledp.extras import require
from shuffledp.service.http.http_client import (
    TIMEOUT,
    UnreachableError,
    ask,
    service_url,
)
from shuffledp.service.http.trusted_certificates import service_client
from shuffledp.service.wire.canonical import canonical
from shuffledp.service.wire.inclusion import (
    KeptReceipt,
    check_list,
    check_result,
    includes,
)
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.succession import check_succession
from shuffledp.service.wire.task import Task
from shuffledp.service.wire.task_reading import read_task
from shuffledp.statistics.survey import EpochStage

require("httpx", extra="service", what="A client of a service")

import httpx  # noqa: E402


async def former_task(
    digest: bytes,
    task: Task,
    analyst: str,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    ca: Path | None = None,
) -> Task:
    """Returns the task of this digest: the one that is given, or one before it.

    Every task names the digest of the one before, so that it does not matter who sends
    their texts.

    Args:
        digest: Of the task that is looked for, 32 bytes.
        task: From whoever asks the question.
        analyst: Address of her service.
        transport: How to reach it; the network if None.
        ca: As in `trusted_certificates`.

    Raises:
        Refusal: If there is none, or she sends another one.
        UnreachableError: If she does not answer.
    """
    url = f"{service_url(analyst)}/tasks/{task.identity}/former"
    async with service_client(TIMEOUT, ca=ca, transport=transport) as client:
        while task.digest != digest:
            if task.succeeds is None:
                raise Refusal(
                    Reason.UNKNOWN_TASK,
                    "Expected a receipt of this task, or of one whose keys it replaced.",
                )
            reply = await ask(client, "GET", f"{url}/{task.succeeds.hex()}")
            former = read_task(canonical(reply.document))
            check_succession(task, former)
            task = former
    return task


async def missing_messages(
    kept: Sequence[KeptReceipt],
    task: Task,
    analyst: str,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    ca: Path | None = None,
) -> int:
    """Returns how many messages of receipts the published batch lacks.

    The whole list is downloaded: nobody is asked about one message.

    Args:
        kept: Receipts for answers of one epoch: no list of choices is published.
        task: Whose shuffler signed it.
        analyst: Address of her service.
        transport: How to reach it; the network if None.
        ca: As in `trusted_certificates`.

    Raises:
        Refusal: If nothing is published, or the analyst did not sign what is.
        UnreachableError: If she does not answer.
    """
    ((epoch, stage),) = {(each.receipt.epoch, each.receipt.stage) for each in kept}
    assert stage == EpochStage.ANSWER
    url = f"{service_url(analyst)}/tasks/{task.identity}/epochs/{epoch}"
    async with service_client(TIMEOUT, ca=ca, transport=transport) as client:
        reply = await ask(client, "GET", url)
        digest = check_result(reply.document, task, epoch)
        try:
            response = await client.get(f"{url}/messages")
            response.raise_for_status()
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"Expected a list of messages at {url}/messages."
            ) from error
    check_list(response.content, digest)
    messages = (message for each in kept for message in each.messages)
    return sum(not includes(response.content, message) for message in messages)
