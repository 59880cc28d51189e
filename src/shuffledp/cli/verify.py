"""`shuffledp verify`: does a certificate hold?"""

import json
import sys
from pathlib import Path

import click

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.verify import population_of, verify
from shuffledp.cli.console import show, working
from shuffledp.datasets.budgets import read_budgets
from shuffledp.errors import DataError
from shuffledp.population import Population
from shuffledp.randomizers.catalog import build
from shuffledp.report.terminal import guarantee_table
from shuffledp.statistics.single_message import SingleMessage

_ITEMS_FORMAT = "shuffledp-items-guarantee-1"
_MOST_BYTES = 50_000_000


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option(
    "--budgets",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Everybody's epsilon, if there are too many levels to list in the certificate.",
)
@click.option("--column", metavar="NAME", help="The column of a CSV or Parquet file.")
def verify_command(certificate: Path, budgets: Path | None, column: str | None) -> None:
    """Recompute a certificate from its inputs, and compare.

    Exits with 0 if every bound in it is confirmed, with 1 if not, and with 2 if it cannot
    be read or is not about these people. A result that an analyst's service published
    holds its certificate, and will do, too.

    \b
    Example:
      shuffledp account --categories 17 --levels 1.0:10000 --delta 1e-6 \\
        --certificate certificate.json
      shuffledp verify certificate.json
    """
    guarantee = Guarantee.from_dict(_certificate_of(_read(certificate)))
    with working("read"):
        people = (
            population_of(guarantee)
            if budgets is None
            else Population.from_budgets(read_budgets(budgets, column))
        )
    protocol = SingleMessage(
        build(guarantee.mechanism, guarantee.parameters), guarantee.mode
    )
    with working("certify"):
        verification = verify(guarantee, protocol, people)
    listed = len(guarantee.levels)
    if listed < verification.num_levels:
        show(f"It speaks of {listed} of {verification.num_levels:,} levels only.")
    if verification.holds:
        show(
            "The certificate holds: its bounds follow from those recomputed below. (Its "
            "`slack` and `version` are information, and were not compared.)\n"
        )
    else:
        show("The certificate does NOT hold:")
        for problem in verification.problems:
            show(f"  - {problem}")
        show("\nWhat was recomputed instead:\n")
    show(guarantee_table(verification.recomputed))
    sys.exit(0 if verification.holds else 1)


def _certificate_of(record: dict[str, object]) -> dict[str, object]:
    """Returns a certificate: the document itself, or what a published result holds.

    Raises:
        DataError: If it is one of items.
    """
    inner = record.get("certificate")
    found = inner if isinstance(inner, dict) else record
    if found.get("format") == _ITEMS_FORMAT:
        raise DataError(
            "Expected a certificate of single messages: those of items cannot be "
            "recomputed by `shuffledp verify` yet."
        )
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _read(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(
                f"Expected a certificate, got a file of {path.name}'s size."
            )
        text = path.read_text(encoding="utf-8")
        record = json.loads(text, parse_constant=_refuse_constant)
    except OSError as error:
        raise DataError(f"Could not read {path}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"Expected {path.name} to hold JSON.") from error
    if not isinstance(record, dict):
        raise DataError(f"Expected {path.name} to hold one certificate.")
    return record
