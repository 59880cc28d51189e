"""Options of several commands of the services."""

from pathlib import Path

import click

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
