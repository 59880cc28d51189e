"""What the shuffler's operator asks it to do."""

import asyncio
import time
from pathlib import Path
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.extras import require
from shuffledp.service.agreement import load_agreed
from shuffledp.service.calls import TIMEOUT, Refused, ask, service_url
from shuffledp.service.secrets import SHUFFLER_FILE, ShufflerSecrets
from shuffledp.service.wire.canonical import canonical
from shuffledp.service.wire.command import Action, Command
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task

require("httpx", extra="service", what="An operator")

import httpx  # noqa: E402

HAND_OVER_SECONDS = 15.0
_POLL = 0.25


async def operate(
    folder: Path, shuffler: str, what: Action, *, at: int | None = None
) -> dict[str, Any]:
    """Asks for exact numbers, closes or skips what is open, drops a batch, or goes on.

    After closing it waits for the analyst's answer, `HAND_OVER_SECONDS` at most.

    Args:
        folder: Of the task, with the shuffler's keys.
        shuffler: Its URL.
        what: To be done.
        at: When a deadline passes, in seconds since 1970 UTC.

    Returns:
        What the shuffler says of the task afterwards.

    Raises:
        Refusal: If it refuses.
        UnreachableError: If it does not answer.
        DataError: If a file is missing or damaged.
        InvalidInputError: If keys belong to another task.
    """
    task = load_agreed(folder)
    secrets = ShufflerSecrets.load(folder / SHUFFLER_FILE)
    if secrets.verify_key != task.shuffler_signing_key:
        raise InvalidInputError("Expected the secret keys that belong to the task.")
    now = await operate_with(task, secrets, shuffler, what, at=at)
    if what is not Action.CLOSE:
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
    *,
    at: int | None = None,
) -> dict[str, Any]:
    """As `operate`, with what its files hold."""
    url = f"{service_url(shuffler)}/tasks/{task.identity}"
    async with httpx.AsyncClient(timeout=TIMEOUT, trust_env=False) as client:
        now = (await ask(client, "GET", url)).document
        epoch, stage = now.get("epoch"), now.get("stage")
        if type(epoch) is not int or not isinstance(stage, str):
            raise Refusal(Reason.MALFORMED, "Expected where the task stands.")
        if (digest := now.get("digest", task.fingerprint)) != task.fingerprint:
            raise Refusal(
                Reason.UNKNOWN_TASK,
                f"Expected the shuffler to serve the task of {task.fingerprint}, got "
                f"{str(digest)[:64]!r}: were keys replaced?",
            )
        # Should an answer be lost, asking again must not close what follows.
        command = Command(what, epoch, stage, at).signed(task, secrets.signing_key)
        content = canonical(command)
        try:
            reply = await ask(client, "POST", f"{url}/commands", content=content)
        except Refused as refusal:
            after = (await ask(client, "GET", url)).document
            # Heard before without being answered, it was done then.
            if refusal.attempts == 1 or _place(after) == _place(now):
                raise
            return after
        if what is Action.STATUS:
            return reply.document
        return (await ask(client, "GET", url)).document


def _place(now: dict[str, Any]) -> tuple[object, ...]:
    return tuple(now.get(name) for name in ("epoch", "stage", "phase"))
