"""`shuffledp audit collection`: tests of an epoch's result against its canaries."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shuffledp.cli.console import show, show_json
from shuffledp.cli.shared_options import json_option
from shuffledp.cli.waiting import working
from shuffledp.errors import DataError
from shuffledp.file_writing import check_new, write_file
from shuffledp.strict_json import read_json_file
from shuffledp_services.commands.audit_canaries import RECEIPTS
from shuffledp_services.commands.evidence_table import course, findings
from shuffledp_services.commands.service_options import task_option
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.evidence import Evidence

if TYPE_CHECKING:
    from shuffledp_services.wire.task import Task

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("collection")
@click.argument("record", type=_FILE)
@task_option
@click.option(
    "--result",
    "published",
    required=True,
    type=_FILE,
    metavar="RESULT.JSON",
    help="What the analyst published of the epoch: /tasks/ID/epochs/N of its service.",
)
@click.option(
    "--messages",
    type=_FILE,
    metavar="FILE",
    help="The public list of messages that were counted: /tasks/ID/epochs/N/messages.",
)
@click.option(
    "--batch",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="The sealed batch, if the analyst hands it over (serve analyst --keep-batches).",
)
@click.option(
    "--earlier",
    multiple=True,
    type=_FILE,
    metavar="RECORD",
    help="A record of an earlier epoch, with its receipts beside it, to find canaries that "
    "come again; once for each.",
)
@click.option(
    "--evidence",
    "evidence_file",
    type=_FILE,
    metavar="FILE",
    help="Add the epoch to this file, or begin it [only show this epoch]. It has no "
    "secrets: hand it to the analyst (serve analyst --audit), or publish it.",
)
@json_option
def collection_command(
    record: Path,
    path: Path,
    published: Path,
    messages: Path | None,
    batch: Path | None,
    earlier: tuple[Path, ...],
    evidence_file: Path | None,
    as_json: bool,
) -> None:
    """Test the result of an epoch against canaries' RECORD, from `audit canaries`.

    Every test has the probability of its false alarm; all together are an e-value, which
    is multiplied over epochs: it ever reaches 100 with probability 1% at most while
    promises are kept, however often one looks. Audit every epoch to which canaries were
    sent: leaving some out selects the evidence.

    Exit code 1 says that the e-value has reached its threshold: a promise is broken.
    That nothing was found is exit code 0, and no proof.

    \b
    Example:
      curl -o result.json https://analyst.example/tasks/ID/epochs/1
      curl -o messages    https://analyst.example/tasks/ID/epochs/1/messages
      shuffledp audit collection canaries-1.json --task task.json --result result.json \\
        --messages messages --evidence evidence.json
    """
    from shuffledp_services.audit.disclosed_batch import read_disclosed_batch
    from shuffledp_services.audit.epoch_audit import audit_epoch
    from shuffledp_services.storage.key_files import load_task, read_file

    task = load_task(path)
    # Before the audit, which takes seconds: evidence that cannot be added to is refused.
    before = _evidence(evidence_file, task.fingerprint)
    canaries = _taken_in(record, task)
    before.check_next(canaries.epoch)
    check_new([evidence_file], force=True)
    given = None if batch is None else read_disclosed_batch(batch, task)
    with working("compute what was promised"):
        epoch_findings = audit_epoch(
            task,
            canaries,
            read_json_file(published),
            listed=None if messages is None else read_file(messages),
            disclosed=given,
            # One that is among these messages is a report that came again.
            earlier=[_taken_in(other, task) for other in earlier],
        )
    evidence = before.with_epoch(epoch_findings)
    if evidence_file is not None:
        # Whatever was found: leaving epochs out would select the evidence.
        write_file(evidence_file, f"{evidence.to_json()}\n")
    if as_json:
        show_json(evidence.to_dict())
    else:
        show(findings(epoch_findings), *course(evidence))
    # About all epochs together: a threshold that was reached once stays reached.
    sys.exit(0 if evidence.crossed_in is None else 1)


def _taken_in(record: Path, task: "Task") -> Canaries:
    """Returns the canaries of a record that have receipts in the file beside it."""
    from shuffledp_services.audit.canary_records import with_receipts
    from shuffledp_services.storage.key_files import read_file

    # A canary without a receipt may not have arrived, so that its absence proves nothing.
    receipts = record.with_name(f"{record.name}{RECEIPTS}")
    lines = read_file(receipts).splitlines() if receipts.exists() else []
    try:
        return with_receipts(Canaries.from_json(read_file(record)), lines, task)
    except DataError as error:
        raise DataError(f"{record}: {error}") from error


def _evidence(path: Path | None, task: str) -> Evidence:
    from shuffledp_services.storage.key_files import read_file

    if path is None or not path.exists():
        return Evidence(task)
    evidence = Evidence.from_json(read_file(path))
    # An e-value is multiplied over epochs of one task only.
    if evidence.task != task:
        raise DataError(
            f"Expected evidence about this task, whose sha256 is {task}, in {path}; got "
            f"{evidence.task}. After keys were replaced, begin another file."
        )
    return evidence
