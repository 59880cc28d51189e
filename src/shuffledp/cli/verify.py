"""`shuffledp verify`: does a certificate hold?"""

import sys
from pathlib import Path

import click

from shuffledp.accounting.verify import Verification
from shuffledp.cli.console import show, show_json, working
from shuffledp.cli.shared_options import json_option
from shuffledp.datasets.budgets import read_budgets
from shuffledp.population import Population
from shuffledp.report.terminal import guarantee_table
from shuffledp.statistics.verify import read, verify


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option(
    "--budgets",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Everybody's epsilon, if there are too many levels to list in the certificate.",
)
@click.option("--column", metavar="NAME", help="The column of a table.")
@json_option
def verify_command(
    certificate: Path, budgets: Path | None, column: str | None, as_json: bool
) -> None:
    """Recompute a certificate from its inputs, and compare.

    Certificates of every statistic are read: the protocol is built again from what the
    certificate says ran. Exits with 0 if every bound in it is confirmed, with 1 if not,
    and with 2 if it cannot be read or is not about these people. A result that an
    analyst's service published holds its certificate, and will do, too.

    \b
    Example:
      shuffledp account --categories 17 --levels 1.0:10000 --delta 1e-6 \\
        --certificate certificate.json
      shuffledp verify certificate.json
    """
    guarantee = read(certificate)
    people = None
    if budgets is not None:
        with working("read"):
            people = Population.from_budgets(read_budgets(budgets, column))
    with working("certify"):
        verification = verify(guarantee, people=people)
    if as_json:
        show_json(verification.to_dict())
    else:
        _show(verification, len(guarantee.levels))
    sys.exit(0 if verification.holds else 1)


def _show(verification: Verification, listed: int) -> None:
    if listed < verification.num_levels:
        show(f"It speaks of {listed} of {verification.num_levels:,} levels only.")
    if verification.holds:
        show(
            "The certificate holds: its bounds follow from those recomputed below. (Its "
            "`version` is information, and was not compared.)\n"
        )
    else:
        show("The certificate does NOT hold:")
        for problem in verification.problems:
            show(f"  - {problem}")
        show("\nWhat was recomputed instead:\n")
    show(guarantee_table(verification.recomputed))
