"""What the shuffler's operator asks it to do."""

import asyncio
import time
from pathlib import Path
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.service.http.http_client import (
    ATTEMPTS,
    TIMEOUT,
    Refused,
    UnreachableError,
    ask,
    service_url,
)
from shuffledp.service.http.trusted_certificates import service_client
from shuffledp.service.operator.task_signatures import load_agreed
from shuffledp.service.storage.key_files import SHUFFLER_FILE, ShufflerSecrets
from shuffledp.service.wire.canonical import canonical, from_text
from shuffledp.service.wire.command import CHALLENGE_SIZE, Action, Command
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task

HAND_OVER_SECONDS = 15.0
_POLL = 0.25
_PAUSE = 0.5


async def operate(
    folder: Path,
    shuffler: str,
    what: Action,
    *,
    at: int | None = None,
    ca: Path | None = None,
) -> dict[str, Any]:
    """Asks for exact numbers, closes or skips what is open, drops a batch, or goes on.

    After closing it waits for the analyst's answer, `HAND_OVER_SECONDS` at most.

    Args:
        folder: Of the task, with the shuffler's keys.
        shuffler: Its URL.
        what: To be done.
        at: When a deadline passes, in seconds since 1970 UTC.
        ca: As in `trusted_certificates`.

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
    now = await operate_with(task, secrets, shuffler, what, at=at, ca=ca)
    if what is not Action.CLOSE:
        return now
    url, end = f"{service_url(shuffler)}/tasks/{task.identity}", HAND_OVER_SECONDS
    end += time.monotonic()
    async with service_client(TIMEOUT, ca=ca) as client:
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
    ca: Path | None = None,
) -> dict[str, Any]:
    """As `operate`, with what its files hold."""
    url = f"{service_url(shuffler)}/tasks/{task.identity}"
    begun: dict[str, Any] | None = None
    async with service_client(TIMEOUT, ca=ca) as client:
        for left in reversed(range(ATTEMPTS)):
            now = (await ask(client, "GET", url)).document
            begun = begun or now
            if _place(now) != _place(begun):
                # Heard before without being answered, it was done then.
                return now
            # Nothing is heard twice, so every attempt is signed anew; and it must not
            # close what follows.
            signed = _command(now, task, what, at).signed(task, secrets.signing_key)
            try:
                reply = await ask(
                    client,
                    "POST",
                    f"{url}/commands",
                    content=canonical(signed),
                    attempts=1,
                )
            except UnreachableError:
                if not left:
                    raise
                await asyncio.sleep(_PAUSE)
                continue
            except Refused as refusal:
                if not left or refusal.reason is not Reason.STORAGE:
                    raise
                await asyncio.sleep(_PAUSE)
                continue
            if what is Action.STATUS:
                return reply.document
            break
        return (await ask(client, "GET", url)).document


def _command(now: dict[str, Any], task: Task, what: Action, at: int | None) -> Command:
    """Returns a command for where the task stands.

    Raises:
        Refusal: If that is not said, or it is another task.
    """
    epoch, stage = now.get("epoch"), now.get("stage")
    if type(epoch) is not int or not isinstance(stage, str):
        raise Refusal(Reason.MALFORMED, "Expected where the task stands.")
    if (digest := now.get("digest", task.fingerprint)) != task.fingerprint:
        raise Refusal(
            Reason.UNKNOWN_TASK,
            f"Expected the shuffler to serve the task of {task.fingerprint}, got "
            f"{str(digest)[:64]!r}: were keys replaced?",
        )
    challenge = from_text(now.get("challenge"), CHALLENGE_SIZE, "a challenge")
    return Command(what, epoch, stage, challenge, at)


def _place(now: dict[str, Any]) -> tuple[object, ...]:
    return tuple(now.get(name) for name in ("epoch", "stage", "phase", "deadline"))
