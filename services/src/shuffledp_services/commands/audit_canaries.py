"""`shuffledp audit canaries`: reports with secret random values, sent like any other."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from shuffledp.cli.console import show
from shuffledp.cli.number_types import NumberRange, WholeRange
from shuffledp.cli.waiting import share_bar, working
from shuffledp.datasets.table import read_lines
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.randomness import SystemRandom
from shuffledp_services.commands.invitation_file import invitations_in
from shuffledp_services.commands.receipts_file import receipts_file
from shuffledp_services.commands.service_options import ca_option, task_option

if TYPE_CHECKING:
    from shuffledp_services.device.simulated_devices import Delivery
    from shuffledp_services.wire.task import Task

# The ending of the name of a record's file of receipts.
RECEIPTS = ".receipts"


@click.command("canaries")
@task_option
@click.option("--shuffler", metavar="URL", help="Where it answers.")
@click.option(
    "--tokens",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="One link per line, from whoever enrols: each is a canary.",
)
@click.option(
    "--count",
    type=WholeRange(1, 100_000),
    help="How many canaries [all tokens of the file].",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A new file for what they hold, written before anything is sent; you alone can "
    f"read it. Receipts are kept beside it, in FILE{RECEIPTS}.",
)
@click.option(
    "--over",
    # At most a year.
    type=NumberRange(0.0, 525_600.0),
    default=0.0,
    show_default=True,
    metavar="MINUTES",
    help="Send them at random times within so many minutes, among everybody else.",
)
@ca_option
def canaries_command(
    path: Path,
    shuffler: str | None,
    tokens: Path | None,
    count: int | None,
    record: Path | None,
    over: float,
    ca: Path | None,
) -> None:
    """Send canaries to a collection, to audit later how it treated them.

    An auditor is given tokens like all other people. For each token the auditor draws a
    level, a pair of values, and by a fair coin which of the two it holds; the ordinary
    device software randomizes, seals and sends it. The record has the secret coins: a party
    that knows them before the result is published can make the audit blind.

    Without a shuffler, tokens and a record nothing is sent: the power of --count
    canaries is printed.

    \b
    The power of an audit:
      shuffledp audit canaries --task task.json --count 200
    Send them:
      shuffledp audit canaries --task task.json --tokens links.txt \\
        --shuffler https://shuffler.example --record canaries-1.json --over 600
    Then: shuffledp audit collection --help
    """
    from shuffledp_services.audit.canary_uploads import check_audited
    from shuffledp_services.http.http_client import UnreachableError
    from shuffledp_services.storage.key_files import load_task
    from shuffledp_services.wire.refusal import Refusal

    task = load_task(path)
    check_audited(task)
    if shuffler is None and tokens is None and record is None:
        if count is None:
            raise InvalidInputError(
                "Expected --shuffler, --tokens and --record; or --count alone, to see "
                "the power of so many canaries."
            )
        _show_power(task, count)
        return
    if shuffler is None or tokens is None or record is None:
        raise InvalidInputError("Expected --shuffler, --tokens and --record.")
    if record.exists():
        raise InvalidInputError(f"Expected no file {record} yet: it is kept as it is.")
    if count is None:
        # A link per line.
        count = len(read_lines(tokens))
    # Checked whole before anything is sent: a token can be spent only once.
    own = [each.token for each in invitations_in(tokens, count, task)]
    _show_power(task, count)
    sending = _send(task, own, shuffler, record, seconds=60.0 * over, ca=ca)
    try:
        delivery = asyncio.run(sending)
    except (Refusal, UnreachableError) as error:
        raise DataError(f"{error} {_so_far(record, count)}") from error
    except KeyboardInterrupt:
        # `main` prints the sentence of an Abort.
        raise click.Abort(_so_far(record, count)) from None
    click.echo(f"{delivery.accepted:,} of {count:,} canaries were taken in.")
    for reason, number in sorted(delivery.refused.items()):
        click.echo(f"{number:,} were refused: {reason.value}.")
    click.echo(f"What they hold is in {record}: keep it secret for good.")


def _show_power(task: "Task", count: int) -> None:
    with working("what can be seen"):
        sentences = _power(task, count)
    show(*sentences)


def _power(task: "Task", count: int) -> tuple[str, ...]:
    """Returns the power of `count` canaries among the smallest number of people."""
    from shuffledp_services.audit.epoch_audit import promised_profiles
    from shuffledp_services.evidence.canary_power import collection_power

    promises = promised_profiles(task, task.minimum[: len(task.counted)])
    levels = len(task.choices)
    # Canaries draw uniform levels; these are the expected numbers, rounded to sum to count.
    sent = np.array([(count + level) // levels for level in range(levels)])
    power = collection_power(sent, promises=promises, delta=task.delta)
    # Our services sort by hashes: no part of the order of arrival is left to test.
    sentences = replace(power, kept=(None, None)).sentences
    return (
        *sentences,
        "This task sets the order, that of hashes: any other is found with certainty, once "
        "the analyst hands the batch over.",
    )


def _so_far(record: Path, count: int) -> str:
    """Returns a report on an interrupted sending of canaries, with the next step."""
    receipts = _receipts_of(record)
    # A line each; an upload that was cut off may have arrived without one.
    taken = len(receipts.read_bytes().splitlines()) if receipts.exists() else 0
    if not record.exists():
        return "Nothing was sent."
    if not taken:
        return (
            f"No canary has a receipt: nothing can be tested with {record}. One may be on "
            "its way, and its token spent."
        )
    return (
        f"Before, {taken:,} of {count:,} canaries were taken in and their tokens spent, "
        f"perhaps one more: what they hold is in {record}, receipts are in {receipts}. "
        "The others cannot be sent any more; audit the epoch with this record, which "
        "leaves out those without a receipt."
    )


def _receipts_of(record: Path) -> Path:
    return record.with_name(f"{record.name}{RECEIPTS}")


async def _send(
    task: "Task",
    tokens: list[bytes],
    shuffler: str,
    record: Path,
    *,
    seconds: float,
    ca: Path | None,
) -> "Delivery":
    from shuffledp_services.audit.canary_records import canary_record, draw_canaries
    from shuffledp_services.audit.canary_uploads import (
        open_step,
        seal_canaries,
        send_canaries,
    )
    from shuffledp_services.http.http_client import TIMEOUT
    from shuffledp_services.http.trusted_certificates import service_client
    from shuffledp_services.storage.new_files import write_new

    # A party that can predict the draws can make the audit blind.
    rng = SystemRandom()
    async with service_client(TIMEOUT, ca=ca) as client:
        # One that does not answer is asked again for some time: it may be restarting.
        with working("wait for the shuffler"):
            step = await open_step(client, shuffler, task=task)
        drawn = draw_canaries(task, len(tokens), rng=rng)
        uploads = seal_canaries(
            step, drawn.values, drawn.levels, tokens=tokens, rng=rng
        )
        with share_bar("send") as bar, receipts_file(_receipts_of(record)) as keep:
            # Before anything is sent: without its record, a canary proves nothing.
            write_new(record, canary_record(step, drawn, uploads).to_json(), mode=0o600)
            return await send_canaries(
                client,
                uploads,
                step=step,
                shuffler=shuffler,
                keep=keep,
                rng=rng,
                seconds=seconds,
                progress=lambda done, total: bar(done / total),
            )
