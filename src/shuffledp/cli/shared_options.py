"""Options of several commands."""

from pathlib import Path

import click

from shuffledp.cli.number_types import NUMBER, WHOLE

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for machines."
)
force_option = click.option(
    "--force", is_flag=True, help="Replace files that are there already."
)
task_option = click.option(
    "--task",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="TASK.JSON",
    help="The public file of the task, from whoever asks the question.",
)
ca_option = click.option(
    "--ca",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Certificates in PEM form of authorities to trust besides the system's.",
)
absent_options = (
    click.option(
        "--absent",
        type=WHOLE,
        default=0,
        show_default=True,
        help="How many of the others may be absent or collude, whoever they are.",
    ),
    click.option(
        "--honest-fraction",
        type=NUMBER,
        help="Instead of --absent: the share of all people who can be relied on.",
    ),
)
