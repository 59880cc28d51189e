"""`shuffledp task rotate`: other keys for a task that goes on."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from shuffledp_services.wire.parties import Role
    from shuffledp_services.wire.task import Task


@click.command("rotate")
@click.argument("former", type=click.Path(path_type=Path, file_okay=False))
@click.argument("new", type=click.Path(path_type=Path, file_okay=False))
def rotate_command(former: Path, new: Path) -> None:
    """Replace keys of the task in the analyst's folder FORMER; its ledger goes on.

    A party whose keys were stolen, lost or are old draws new ones: shuffledp task init ROLE
    NEW. Shuffler and enroller send ROLE.public.json to the analyst, into NEW. All others
    keep the present keys. Nothing but keys changes: people agreed to the rest.

    Writes task.json and former.task.json into NEW, for all parties, and signs; then both
    others sign, as they did before. Services are started with the new folder between two
    epochs, on the databases that they have.
    """
    # Imported here: services need an extra.
    from shuffledp_services.operator.key_rotation import rotate_task
    from shuffledp_services.storage.key_files import load_task
    from shuffledp_services.wire.parties import Role

    task, roles = rotate_task(former, new)
    click.echo(replaced(load_task(former), roles))
    if Role.ANALYST not in roles:
        click.echo(f"{new / 'analyst.json'} is a copy: the analyst's keys stay.")
    click.echo(f"sha256 of task.json: {task.fingerprint}")
    click.echo(
        f"{new / 'task.json'} and {new / 'former.task.json'} are for everybody; shuffler "
        "and enroller sign: shuffledp task sign."
    )


def replaced(former: "Task", roles: "tuple[Role, ...]") -> str:
    """Returns a sentence that names the parties whose keys are replaced."""
    from shuffledp_services.wire.succession import names_of

    return (
        f"This task takes the place of the one with sha256 {former.fingerprint}: keys of "
        f"{names_of(roles)} are new, and all else is the same."
    )
