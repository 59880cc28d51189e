"""`shuffledp account`: what each privacy level is worth after the shuffle."""

from pathlib import Path

import click

from shuffledp.accounting.account import account
from shuffledp.cli import parse
from shuffledp.cli.console import show, show_json, working
from shuffledp.datasets.table import read_budgets
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.protocols.frequency import Frequency
from shuffledp.report.terminal import guarantee_table


@click.command("account")
@click.option(
    "--mechanism",
    type=click.Choice(["kary-response"]),
    default="kary-response",
    show_default=True,
    help="What the devices run.",
)
@click.option(
    "--categories",
    type=int,
    required=True,
    metavar="K",
    help="How many values there are.",
)
@click.option(
    "--levels", metavar=parse.LEVEL_COUNTS, help="Privacy levels and people at each."
)
@click.option(
    "--budgets",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Instead of --levels: one epsilon per person, as text, .npy, CSV or Parquet.",
)
@click.option("--column", metavar="NAME", help="The column of a CSV or Parquet file.")
@click.option(
    "--mode",
    type=click.Choice(["agnostic", "stratified"]),
    default="agnostic",
    show_default=True,
    help="Do levels travel apart from messages, or with them?",
)
@click.option("--delta", type=float, help="Ask for epsilon at this delta.")
@click.option("--epsilon", type=float, help="Ask for delta at this epsilon.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def account_command(
    mechanism: str,
    categories: int,
    levels: str | None,
    budgets: Path | None,
    column: str | None,
    mode: str,
    delta: float | None,
    epsilon: float | None,
    as_json: bool,
) -> None:
    """Certify what each privacy level is worth after the shuffle.

    Prints, per level, a proven upper bound and a lower bound from a concrete attack.

    \b
    Examples:
      shuffledp account --categories 17 --levels 0.5:2500,1.0:5000,2.0:2500 --delta 1e-6
      shuffledp account --categories 2 --budgets people.csv --column epsilon --epsilon 0.1
    """
    if column is not None and budgets is None:
        raise InvalidInputError("Expected --column only together with --budgets.")
    if (levels is None) == (budgets is None):
        raise InvalidInputError("Expected either --levels or --budgets, and not both.")
    protocol = Frequency(
        categories, "stratified" if mode == "stratified" else "agnostic"
    )
    with working("read"):
        if budgets is None:
            people = parse.level_counts(levels or "")
        else:
            people = Population.from_budgets(read_budgets(budgets, column))
    with working("certify"):
        guarantee = account(
            protocol,
            people,
            delta=delta,
            epsilon=epsilon,
            quantiles=budgets is not None or None,
        )
    if as_json:
        show_json(guarantee.to_dict())
    else:
        show(guarantee_table(guarantee))
