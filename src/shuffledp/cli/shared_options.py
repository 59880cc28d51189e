"""Options of several commands."""

import click

from shuffledp.cli.number_types import NUMBER, WHOLE

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON for machines."
)
force_option = click.option(
    "--force", is_flag=True, help="Replace files that are there already."
)
spark_option = click.option(
    "--spark",
    metavar="URL",
    help="Read and count people on Apache Spark: local[*], spark://HOST:PORT or "
    "sc://HOST:PORT. FILE is CSV or Parquet that it reaches, or a folder of such files.",
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
