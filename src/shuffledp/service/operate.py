"""What the shuffler's operator asks it to do."""

import asyncio
import time
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import urlencode

from shuffledp.extras import require
from shuffledp.service.calls import TIMEOUT, ask, service_url
from shuffledp.service.secrets import SHUFFLER_FILE, ShufflerSecrets, load_task
from shuffledp.service.shuffler.hosted import ShufflerHost
from shuffledp.service.wire.canonical import to_text
from shuffledp.service.wire.refusal import Reason
from shuffledp.service.wire.task import Task

Action: TypeAlias = Literal["status", "close", "abandon", "epochs"]

require("httpx", extra="service", what="An operator")

import httpx  # noqa: E402

HAND_OVER_SECONDS = 15.0
_POLL = 0.25


async def operate(folder: Path, shuffler: str, what: Action) -> dict[str, Any]:
    """Asks for exact numbers, closes the open step, drops a closed batch, or goes on.

    After closing it waits for the analyst's answer, `HAND_OVER_SECONDS` at most.

    Args:
        folder: Of the task, with the shuffler's keys.
        shuffler: Its URL.
        what: "status", "close", "abandon", or "epochs" for the next one.

    Returns:
        What the shuffler says of the task afterwards.

    Raises:
        Refusal: If it refuses.
        UnreachableError: If it does not answer.
        DataError: If a file is missing or damaged.
        InvalidInputError: If keys belong to another task.
    """
    task = load_task(folder)
    secrets = ShufflerHost(task, ShufflerSecrets.load(folder / SHUFFLER_FILE)).secrets
    now = await operate_with(task, secrets, shuffler, what)
    if what != "close":
        return now
    url, end = f"{service_url(shuffler)}/tasks/{task.identity}", HAND_OVER_SECONDS
    end += time.monotonic()
    async with httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
        while (
            now.get("phase") == "closed"
            and refused_for(now) is None
            and time.monotonic() < end
        ):
            await asyncio.sleep(_POLL)
            now = (await ask(client, "GET", url)).document
    return now


def refused_for(now: dict[str, Any]) -> str | None:
    """Returns why the analyst refused a closed batch; None if she did not.

    Args:
        now: What the shuffler says of the task.
    """
    hand_over = now.get("hand_over")
    said = hand_over.get("refused") if isinstance(hand_over, dict) else None
    # It goes to a terminal.
    return str(said) if said in list(Reason) else None


async def operate_with(
    task: Task,
    secrets: ShufflerSecrets,
    shuffler: str,
    what: Action,
) -> dict[str, Any]:
    """As `operate`, with what its files hold."""
    url = f"{service_url(shuffler)}/tasks/{task.identity}"
    key = {"Authorization": f"Bearer {to_text(secrets.operator_key)}"}
    async with httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
        which = ""
        if what == "close":
            now = (await ask(client, "GET", url)).document
            # Should an answer be lost, asking again must not close what follows.
            which = (
                f"?{urlencode({name: now.get(name) for name in ('epoch', 'stage')})}"
            )
        reply = await ask(client, "POST", f"{url}/{what}{which}", headers=key)
        if what == "status":
            return reply.document
        return (await ask(client, "GET", url)).document
