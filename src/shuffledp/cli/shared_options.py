"""Options that several commands have, with the same words."""

import click

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for machines."
)
absent_options = (
    click.option(
        "--absent",
        type=int,
        default=0,
        show_default=True,
        help="How many of the others may be absent or collude, whoever they are.",
    ),
    click.option(
        "--honest-fraction",
        type=float,
        help="Instead of --absent: the share of all people who can be relied on.",
    ),
)
