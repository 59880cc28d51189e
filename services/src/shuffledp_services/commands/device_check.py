"""`shuffledp device check`: a check of receipts and of the messages they stand for."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shuffledp.cli.waiting import working
from shuffledp.errors import DataError
from shuffledp_services.commands.service_options import ca_option, task_option

if TYPE_CHECKING:
    from shuffledp_services.wire.inclusion import KeptReceipt

# One that does not answer is asked again for some time: it may be restarting.
_WAITING = "wait for the analyst"


@click.command("check")
@click.argument("receipts", type=click.Path(path_type=Path, dir_okay=False))
@task_option
@click.option("--analyst", required=True, metavar="URL", help="Where results are.")
@ca_option
def check_command(receipts: Path, path: Path, analyst: str, ca: Path | None) -> None:
    """Check RECEIPTS, and that their messages counted.

    They are a file that the participant's page saved, or `shuffledp device send`. The
    shuffler signed the messages that it accepted; the result is signed by the analyst, and
    names the list of the messages that it was computed from. The whole list is downloaded,
    so that the request does not reveal a message. If the task's keys were replaced since,
    the present task.json works as well.

    Where answers follow a plan, receipts name its digest. People who put their receipts
    into one file find out whether all of them were shown the same plan.
    """
    # Imported here: devices need the extra of services.
    from shuffledp.statistics.survey import EpochStage
    from shuffledp_services.device.receipt_check import (
        former_task,
        missing_messages,
    )
    from shuffledp_services.storage.key_files import load_task, read_file
    from shuffledp_services.wire.inclusion import KeptReceipt

    task = load_task(path)
    lines = read_file(receipts).splitlines()
    if not lines:
        raise DataError(f"Expected receipts in {receipts}, got none.")
    # A receipt that was saved twice counts once.
    lines = list(dict.fromkeys(lines))
    named = [KeptReceipt.task_of(line) for line in lines]
    # A receipt names its task by digest, which is a former one if keys were replaced since.
    with working(_WAITING):
        tasks = {
            digest: asyncio.run(former_task(digest, task, analyst, ca=ca))
            for digest in set(named)
        }
    kept_receipts = [
        KeptReceipt.read(line, tasks[digest])
        for digest, line in zip(named, lines, strict=True)
    ]
    many = (
        "this receipt"
        if len(kept_receipts) == 1
        else f"all {len(kept_receipts):,} receipts"
    )
    click.echo(f"The task's shuffler signed {many}.")
    answers = [
        each for each in kept_receipts if each.receipt.stage == EpochStage.ANSWER
    ]
    _show_plans(answers)
    if len(answers) < len(kept_receipts):
        click.echo("Choices are in no list: messages are listed for answers alone.")
    for epoch in sorted({each.receipt.epoch for each in answers}):
        concerned = [each for each in answers if each.receipt.epoch == epoch]
        messages = sum(len(each.messages) for each in concerned)
        missing = 0
        for digest, of in tasks.items():
            # Each task apart: it names the keys that signed its results and receipts.
            own = [each for each in concerned if each.receipt.task == digest]
            if own:
                # The whole list is read: a request for some would name their sender's
                # messages.
                with working(_WAITING):
                    missing += asyncio.run(missing_messages(own, of, analyst, ca=ca))
        if missing:
            raise DataError(
                f"{missing:,} of {messages:,} messages are missing in the batch that "
                f"the result of epoch {epoch:,} was computed from, though the shuffler "
                "signed that it keeps them."
            )
        click.echo(
            f"The signed result of epoch {epoch:,} counts "
            + ("its message." if messages == 1 else f"all {messages:,} messages.")
        )


def _show_plans(answers: "Sequence[KeptReceipt]") -> None:
    """Prints the plan that the answers of each epoch follow.

    Raises:
        DataError: If receipts of one epoch name two plans.
    """
    plans: dict[tuple[bytes, int], set[bytes]] = {}
    for each in answers:
        if each.receipt.plan is not None:
            key = each.receipt.task, each.receipt.epoch
            plans.setdefault(key, set()).add(each.receipt.plan)
    for (_, epoch), digests in sorted(plans.items()):
        named = ", ".join(sorted(digest.hex() for digest in digests))
        if len(digests) > 1:
            raise DataError(
                f"Expected one plan for all answers of epoch {epoch:,}: the shuffler "
                f"signed receipts that name {named}."
            )
        click.echo(f"Answers of epoch {epoch:,} follow the plan {named}.")
