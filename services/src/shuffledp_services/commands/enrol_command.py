"""`shuffledp enrol`: tokens for the people who may take part."""

from pathlib import Path

import click

from shuffledp.cli.number_types import WholeRange
from shuffledp.errors import InvalidInputError
from shuffledp_services.commands.task_agreement import FOLDER


@click.command("enrol")
@FOLDER
@click.option(
    "--count", type=WholeRange(1, 10**8), required=True, help="How many people."
)
@click.option(
    "--epoch",
    type=WholeRange(1, 2**32 - 1),
    default=1,
    show_default=True,
    help="When they may answer.",
)
@click.option(
    "--page",
    metavar="URL",
    help="Of the shuffler, as people reach it: writes links to the page instead.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("tokens.txt"),
    show_default=True,
    help="A new file, which you alone can read.",
)
def enrol_command(
    folder: Path, count: int, epoch: int, page: str | None, output: Path
) -> None:
    """Write one token per person, and the roster that the shuffler checks them with.

    Each line is for one person: a token, a secret that their device never sends, the epoch,
    and the digest of the task that they agree to; with --page it is a link to the page
    where they take part. Do not note who got which one: the shuffler sees tokens.

    The roster is signed, and settles for good how many people may answer in this epoch.
    FOLDER needs task.json, its three signatures and enroller.json.
    """
    # Imported here: services need an extra.
    from shuffledp_services.http.http_client import service_url
    from shuffledp_services.operator.enrolment import write_enrolment
    from shuffledp_services.operator.task_signatures import (
        load_agreed,
    )
    from shuffledp_services.wire.invitation import Invitation

    # All three parties must have signed before people are invited.
    task = load_agreed(folder)
    begin = ""
    if page is not None:
        # After #: browsers send no fragment, so that a token stays out of logs.
        begin = f"{service_url(page)}/tasks/{task.identity}/take-part#"

    def line(invitation: Invitation) -> str:
        return f"{begin}{invitation.to_text()}"

    # Before the roster is signed, which settles the number of people for good.
    if output.exists():
        raise InvalidInputError(f"Expected no file {output} yet: it is kept as it is.")
    roster = write_enrolment(folder, task, epoch, count, output, line)
    click.echo(f"{count:,} tokens for epoch {epoch} are in {output}, for people.")
    click.echo(f"{roster} is for the shuffler's folder.")
    click.echo(f"sha256 of task.json: {task.fingerprint}")
