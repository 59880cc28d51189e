"""`shuffledp task open-dummies` and `shuffledp audit dummies`: were all dummies added?"""

import json
import sys
from pathlib import Path

import click

from shuffledp.errors import DataError
from shuffledp.strict_json import read_json_file
from shuffledp_services.commands.service_options import task_option
from shuffledp_services.commands.task_agreement import FOLDER

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("open-dummies")
@FOLDER
@click.option(
    "--result",
    required=True,
    type=_FILE,
    metavar="FILE",
    help="As the analyst published it: of the epoch whose seed is written. Seeds of the "
    "epochs before follow from this one.",
)
def open_command(folder: Path, result: Path) -> None:
    """Write the seed of an epoch's dummies into the shuffler's FOLDER, for an auditor.

    Never give it to the analyst: who has the seed can subtract the noise of this epoch and
    of all before, and nothing is left of their guarantee. The auditor must not work with
    the analyst.
    """
    # Imported here: services need an extra.
    from shuffledp_services.audit.dummy_audit import open_seed
    from shuffledp_services.operator.task_signatures import load_agreed, load_dummies
    from shuffledp_services.storage.new_files import write_new

    task = load_agreed(folder)
    secrets = load_dummies(folder, task)
    if secrets is None:
        raise DataError("Expected a task whose shuffler adds the noise.")
    opened = open_seed(task, secrets, read_json_file(result))
    path = folder / f"dummies-{opened['epoch']}.json"
    write_new(path, json.dumps(opened, indent=2) + "\n", mode=0o600)
    click.echo(
        f"{path} is for an auditor, and for nobody else: with it the analyst could "
        "subtract the noise of this epoch, and of all before."
    )


@click.command("dummies")
@click.argument("opened", type=_FILE)
@task_option
@click.option(
    "--result", required=True, type=_FILE, metavar="FILE", help="As it was published."
)
@click.option(
    "--messages",
    required=True,
    type=_FILE,
    metavar="FILE",
    help="The list of messages that was published with it.",
)
def dummies_command(opened: Path, path: Path, result: Path, messages: Path) -> None:
    """Check with OPENED, a shuffler's seed, that it added the dummies it had to.

    The seed belongs to the commitment in the task; all dummies that follow from it are in
    the published list of messages; and they were drawn for these messages of people.
    Whether the shuffler left people out is not checked here: shuffledp device check. Check
    the result first: shuffledp verify.
    """
    # Imported here: services need an extra.
    from shuffledp_services.audit.dummy_audit import audit_dummies
    from shuffledp_services.storage.key_files import load_task, read_file

    task = load_task(path)
    audit = audit_dummies(
        read_json_file(opened), read_json_file(result), read_file(messages), task
    )
    if audit.problems:
        click.echo("The dummies are NOT as they should be:")
        for problem in audit.problems:
            click.echo(f"  - {problem}")
        sys.exit(1)
    click.echo(
        f"All {audit.dummies:,} dummies are in the batch, and follow from the secret to "
        "which the task commits and from the messages of people.\n"
        f"You can subtract the noise now: keep {opened} from the analyst."
    )
