"""Options of several commands."""

import click

from shuffledp.cli.number_types import COUNT_OR_SHARE

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
absent_option = click.option(
    "--absent",
    type=COUNT_OR_SHARE,
    default=0,
    show_default=True,
    metavar="NUMBER|PERCENT",
    help="How many of the others may be absent or collude, whoever they are; or which "
    "share of all, as 10%.",
)
