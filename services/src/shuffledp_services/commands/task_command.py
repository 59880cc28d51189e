"""`shuffledp task`: creation of a task, and the operator's commands for its epochs."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from shuffledp.cli.waiting import working
from shuffledp.errors import DataError, InvalidInputError
from shuffledp_services.commands.audit_dummies import open_command
from shuffledp_services.commands.service_options import ca_option
from shuffledp_services.commands.task_agreement import (
    FOLDER,
    create_command,
    init_command,
    sign_command,
)
from shuffledp_services.commands.task_rotation import rotate_command

SHUFFLER = click.option(
    "--shuffler", required=True, metavar="URL", help="Where the shuffler answers."
)


@click.group("task")
def task_group() -> None:
    """A question that real people answer: agree on it; close and begin its epochs.

    \b
    1. Each party draws its keys:    shuffledp task init analyst|shuffler|enroller survey
       Shuffler and enroller send their *.public.json to the analyst.
    2. The analyst makes the task:   shuffledp task create survey ...
       The analyst sends task.json and task.analyst.sig to both.
    3. Both read and sign it:        shuffledp task sign survey
       All three get the three signatures; people get task.json.
    4. The enroller makes tokens:    shuffledp enrol survey --count 1000
       The shuffler gets roster-1.bin, people get one token each.
    5. Two run their service:        shuffledp serve --help
    6. Enough people answered:       shuffledp task close survey --shuffler URL
    7. Once more, a month later:     shuffledp task next survey --shuffler URL

    A month in which too few people answer: shuffledp task skip. A database of the shuffler
    that was lost: shuffledp task resume. Keys that were stolen, lost, or are old: shuffledp
    task rotate.

    No secret file ever leaves the machine it was drawn on.
    """


for command in (
    init_command,
    create_command,
    sign_command,
    rotate_command,
    open_command,
):
    task_group.add_command(command)


@task_group.command("status")
@FOLDER
@SHUFFLER
@ca_option
def status_command(folder: Path, shuffler: str, ca: Path | None) -> None:
    """Print exactly how many people have answered; all others see rounded numbers.

    Refused reports are counted since the task began, in all epochs and steps together.
    FOLDER needs task.json and shuffler.json.
    """
    from shuffledp_services.analyst.progress import read_progress
    from shuffledp_services.storage.key_files import load_task

    task = load_task(folder)
    answer = _operate(folder, shuffler, ca, "status")
    now = read_progress(answer, task)
    click.echo(f"Epoch {now.epoch}, step {now.stage}: {now.phase}.")
    if now.phase == "open" and answer.get("enrolment") is None:
        click.echo(
            f"  nobody is enrolled: roster-{now.epoch}.bin is not in the shuffler's folder"
        )
    # `counted` is shorter than `minimum` where all choices are counted together.
    for choice, people, minimum in zip(
        task.counted, now.people, task.minimum, strict=False
    ):
        click.echo(f"  {task.named(choice)}: {people:,} of {minimum:,} people")
    for reason, count in now.refused:
        # The shuffler counts them without a name, epoch or step.
        click.echo(f"  refused since the task began: {count:,} ({reason})")


@task_group.command("close")
@FOLDER
@SHUFFLER
@ca_option
def close_command(folder: Path, shuffler: str, ca: Path | None) -> None:
    """Close the open step: shuffle its reports, and hand them to the analyst.

    Refused while a level has fewer people than the task promises. FOLDER needs task.json
    and shuffler.json. Waits some seconds for the analyst's answer.
    """
    from shuffledp_services.operator.shuffler_commands import refused_for

    now = _operate(folder, shuffler, ca, "close")
    # The step is closed all the same: only the hand-over failed.
    if reason := refused_for(now):
        raise DataError(
            f"The step is closed, and the analyst refused its batch: {reason}. Without a "
            "remedy, end its epoch: shuffledp task skip."
        )
    # As texts: a list from the network could not be looked up.
    step = str(now.get("phase")), str(now.get("stage"))
    click.echo(_CLOSED.get(step, "The step is closed.").format(epoch=_epoch(now)))


@task_group.command("skip")
@FOLDER
@SHUFFLER
@ca_option
def skip_command(folder: Path, shuffler: str, ca: Path | None) -> None:
    """End an epoch that cannot be finished, and drop its reports.

    Too few people came, say, or the analyst refused the batch, as a level has too little
    left. Nothing is spent in the analyst's ledger; but an epoch in which a batch was closed
    counts against those that the task pays for, as the batch was sent. A closed batch that
    the analyst may have accepted is not dropped: it is handed over until the analyst
    answers.
    """
    now = _operate(folder, shuffler, ca, "skip")
    click.echo(
        f"Epoch {_epoch(now)} is skipped, and what was collected in it is dropped; the "
        "next epoch can begin."
    )


@task_group.command("resume")
@FOLDER
@SHUFFLER
@ca_option
def resume_command(folder: Path, shuffler: str, ca: Path | None) -> None:
    """Go on after the shuffler's database was lost.

    A new database begins at epoch 1. The shuffler asks the analyst which epoch is expected:
    that one was interrupted and counts as skipped, and the one after it begins. People need
    new tokens for it. If epoch 1 is expected: shuffledp task skip.
    """
    now = _operate(folder, shuffler, ca, "resume")
    epoch = _epoch(now)
    click.echo(
        f"Epoch {epoch} is open; it takes answers once roster-{epoch}.bin is in the "
        "shuffler's folder: shuffledp enrol."
        if now.get("enrolment") is None
        else f"Epoch {epoch} is open."
    )


@task_group.command("next")
@FOLDER
@SHUFFLER
@ca_option
def next_command(folder: Path, shuffler: str, ca: Path | None) -> None:
    """Begin the next epoch, once this one is over; people need new tokens for it."""
    now = _operate(folder, shuffler, ca, "next")
    epoch = _epoch(now)
    click.echo(
        f"Epoch {epoch} is open; it takes answers once roster-{epoch}.bin is in the "
        "shuffler's folder: shuffledp enrol."
        if now.get("enrolment") is None
        else f"Epoch {epoch} is open."
    )


_WAITING = (
    "Epoch {epoch}: closed. The analyst does not have it yet; the shuffler goes on "
    "trying."
)
# By phase and step, as the shuffler names them after the command.
_CLOSED = {
    ("delivered", "answer"): "Epoch {epoch}: delivered; the analyst has it.",
    (
        "delivered",
        "choice",
    ): "Epoch {epoch}: choices are delivered; no plan follows: the epoch is over.",
    (
        "open",
        "answer",
    ): "Choices are closed; people now send their answers; then close again.",
    ("closed", "answer"): _WAITING,
    ("closed", "choice"): _WAITING,
}


@task_group.command("deadline")
@FOLDER
@SHUFFLER
@ca_option
@click.option(
    "--at",
    required=True,
    metavar="TIME",
    help="With its zone: 2027-01-31T18:00+01:00, or 2027-01-31T17:00Z.",
)
def deadline_command(folder: Path, shuffler: str, ca: Path | None, at: str) -> None:
    """Let the open step take no more reports once a time has passed.

    It closes then if every level has enough people; otherwise it waits for you: another
    deadline opens it again, and shuffledp task skip drops it. A second deadline replaces
    the first.
    """
    now = _operate(folder, shuffler, ca, "deadline", at=_seconds(at))
    click.echo(f"Epoch {_epoch(now)} takes reports until {at}.")


def _seconds(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        # A text that is not a time is refused with the same sentence, below.
        moment = None
    # In year 1 or 9999 an offset can lead out of the calendar, which `timestamp` refuses.
    if moment is None or moment.tzinfo is None or not 1970 < moment.year < 9999:
        raise InvalidInputError(
            "Expected --at as a time with its zone, from 1971 to 9998: "
            "2027-01-31T18:00+01:00."
        )
    return int(moment.timestamp())


def _operate(
    folder: Path, shuffler: str, ca: Path | None, what: str, *, at: int | None = None
) -> dict[str, Any]:
    # Imported here: services need an extra.
    from shuffledp_services.operator.shuffler_commands import operate
    from shuffledp_services.wire.command import Action

    # One that does not answer is asked again for some time: it may be restarting.
    with working("wait for the shuffler"):
        return asyncio.run(operate(folder, shuffler, Action(what), at=at, ca=ca))


def _epoch(now: dict[str, Any]) -> int:
    epoch = now.get("epoch")
    # A text of the shuffler could hold control characters for the terminal.
    if not isinstance(epoch, int):
        raise DataError("Expected the shuffler to name an epoch.")
    return epoch
