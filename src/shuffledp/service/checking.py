"""Is what a receipt is for among what a result was computed from?"""

from shuffledp.extras import require
from shuffledp.service.calls import TIMEOUT, UnreachableError, ask, service_url
from shuffledp.service.wire.inclusion import (
    KeptReceipt,
    check_list,
    check_result,
    includes,
)
from shuffledp.service.wire.task import Task
from shuffledp.statistics.survey import EpochStage

require("httpx", extra="service", what="A client of a service")

import httpx  # noqa: E402


async def missing_messages(
    kept: KeptReceipt,
    task: Task,
    analyst: str,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
) -> int:
    """Returns how many of a receipt's messages the published batch lacks.

    The whole list is downloaded: nobody is asked about one message.

    Args:
        kept: A receipt for answers, not for choices: of these alone a list is published.
        task: Whose shuffler signed it.
        analyst: Address of her service.
        transport: How to reach it; the network if None.

    Raises:
        Refusal: If nothing is published, or the analyst did not sign what is.
        UnreachableError: If she does not answer.
    """
    assert kept.receipt.stage == EpochStage.ANSWER
    url = f"{service_url(analyst)}/tasks/{task.identity}/epochs/{kept.receipt.epoch}"
    async with httpx.AsyncClient(
        timeout=TIMEOUT, transport=transport, trust_env=False
    ) as client:
        reply = await ask(client, "GET", url)
        digest = check_result(reply.document, task, kept.receipt.epoch)
        try:
            response = await client.get(f"{url}/messages")
            response.raise_for_status()
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"Expected a list of messages at {url}/messages."
            ) from error
    check_list(response.content, digest)
    return sum(not includes(response.content, message) for message in kept.messages)
