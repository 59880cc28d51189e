"""Commands of the shuffler's operator."""

import asyncio
import time
from pathlib import Path
from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp_services.http.http_client import (
    ATTEMPTS,
    TIMEOUT,
    Refused,
    UnreachableError,
    ask,
    service_url,
)
from shuffledp_services.http.trusted_certificates import service_client
from shuffledp_services.operator.task_signatures import load_agreed
from shuffledp_services.storage.key_files import SHUFFLER_FILE, ShufflerSecrets
from shuffledp_services.wire.canonical import canonical, from_text
from shuffledp_services.wire.command import CHALLENGE_SIZE, Action, Command
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.task import Task

HAND_OVER_SECONDS = 15.0
_POLL = 0.25
_PAUSE = 0.5


async def operate(
    folder: Path,
    shuffler: str,
    action: Action,
    *,
    at: int | None = None,
    ca: Path | None = None,
) -> dict[str, Any]:
    """Sends a command to the shuffler, and returns the task's status afterwards.

    A command requests exact numbers, closes or skips the open step, drops a batch, or
    begins the next epoch. After closing, waits for the analyst's answer for at most
    `HAND_OVER_SECONDS`.

    Args:
        folder: Folder of the task with the shuffler's keys.
        shuffler: URL of the shuffler.
        action: Action of the command.
        at: Time of a deadline, in seconds since 1970 UTC.
        ca: As in `trusted_certificates`.

    Returns:
        The shuffler's answer about the task.

    Raises:
        Refusal: If the shuffler refuses.
        UnreachableError: If it does not answer.
        DataError: If a file is missing or damaged.
        InvalidInputError: If the keys belong to another task.
    """
    task = load_agreed(folder)
    secrets = ShufflerSecrets.load(folder / SHUFFLER_FILE)
    if secrets.verify_key != task.shuffler_signing_key:
        raise InvalidInputError("Expected the secret keys that belong to the task.")
    status = await operate_with(task, secrets, shuffler, action, at=at, ca=ca)
    if action is not Action.CLOSE:
        return status
    url, end = f"{service_url(shuffler)}/tasks/{task.identity}", HAND_OVER_SECONDS
    end += time.monotonic()
    async with service_client(TIMEOUT, ca=ca) as client:
        while (
            status.get("phase") == "closed"
            and refused_for(status) is None
            and time.monotonic() < end
        ):
            await asyncio.sleep(_POLL)
            status = (await ask(client, "GET", url)).document
    return status


def refused_for(status: dict[str, Any]) -> str | None:
    """Returns why the analyst refused a closed batch; None if the batch was not refused.

    Args:
        status: The shuffler's answer about the task.
    """
    hand_over = status.get("hand_over")
    reason = hand_over.get("refused") if isinstance(hand_over, dict) else None
    # Only known reasons: the text goes to a terminal.
    return str(reason) if reason in list(Reason) else None


async def operate_with(
    task: Task,
    secrets: ShufflerSecrets,
    shuffler: str,
    action: Action,
    *,
    at: int | None = None,
    ca: Path | None = None,
) -> dict[str, Any]:
    """Does the same as `operate`, with a task and keys that were read before."""
    url = f"{service_url(shuffler)}/tasks/{task.identity}"
    first_status: dict[str, Any] | None = None
    async with service_client(TIMEOUT, ca=ca) as client:
        for attempts_left in reversed(range(ATTEMPTS)):
            status = (await ask(client, "GET", url)).document
            first_status = first_status or status
            if _position(status) != _position(first_status):
                # An earlier attempt was carried out although its answer was lost.
                return status
            # The shuffler accepts a challenge once, so every attempt has its own signature
            # over the current step: a late command cannot close the next one.
            signed = _command(status, task, action, at).signed(
                task, secrets.signing_key
            )
            try:
                reply = await ask(
                    client,
                    "POST",
                    f"{url}/commands",
                    content=canonical(signed),
                    # Sent again below, with the challenge that is current then.
                    attempts=1,
                )
            # The command may have been carried out: the next turn finds out by the
            # status.
            except UnreachableError:
                if not attempts_left:
                    raise
                await asyncio.sleep(_PAUSE)
                continue
            except Refused as refusal:
                # A full disk may have room again; any other refusal is final.
                if not attempts_left or refusal.reason is not Reason.STORAGE:
                    raise
                await asyncio.sleep(_PAUSE)
                continue
            if action is Action.STATUS:
                return reply.document
            break
        return (await ask(client, "GET", url)).document


def _command(
    status: dict[str, Any], task: Task, action: Action, at: int | None
) -> Command:
    """Returns a command for the current step of the task.

    Raises:
        Refusal: If the status names no step, or belongs to another task.
    """
    epoch, stage = status.get("epoch"), status.get("stage")
    if type(epoch) is not int or not isinstance(stage, str):
        raise Refusal(Reason.MALFORMED, "Expected where the task stands.")
    if (digest := status.get("digest", task.fingerprint)) != task.fingerprint:
        raise Refusal(
            Reason.UNKNOWN_TASK,
            f"Expected the shuffler to serve the task of {task.fingerprint}, got "
            f"{str(digest)[:64]!r}: were keys replaced?",
        )
    challenge = from_text(status.get("challenge"), CHALLENGE_SIZE, "a challenge")
    return Command(action, epoch, stage, challenge, at)


def _position(status: dict[str, Any]) -> tuple[object, ...]:
    return tuple(status.get(name) for name in ("epoch", "stage", "phase", "deadline"))
