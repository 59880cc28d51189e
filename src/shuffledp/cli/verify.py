"""`shuffledp verify`: does a certificate hold?"""

import sys
from pathlib import Path
from typing import NoReturn

import click

from shuffledp.accounting.verify import Verification
from shuffledp.cli.console import show, show_json
from shuffledp.cli.shared_options import json_option
from shuffledp.cli.waiting import working
from shuffledp.datasets.budgets import read_budgets
from shuffledp.errors import DataError, InvalidInputError, ShuffledpError
from shuffledp.population import Population
from shuffledp.report.terminal import guarantee_table
from shuffledp.statistics.verify import read, verify
from shuffledp.strict_json import read_json_file

# What tells a service's result, whole or in part, from other files with certificates.
_PUBLISHED = frozenset(
    {"task", "digest", "epoch", "batch", "spent", "enrolment", "spoiled", "signature"}
)


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option(
    "--budgets",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Everybody's epsilon, if there are too many levels to list in the certificate.",
)
@click.option("--column", metavar="NAME", help="The column of a table.")
@click.option(
    "--task",
    type=click.Path(path_type=Path),
    metavar="TASK.JSON",
    help="Of a result that a service published: the public file of its task, from whoever "
    "asks the question.",
)
@json_option
def verify_command(
    certificate: Path,
    budgets: Path | None,
    column: str | None,
    task: Path | None,
    as_json: bool,
) -> None:
    """Recompute a certificate from its inputs, and compare.

    Certificates of every statistic are read: the protocol is built again from what the
    certificate says ran. Exits with 0 if every bound in it is confirmed, with 1 if not,
    and with 2 if it cannot be read or is not about these people.

    With --task, a result that an analyst's service published is checked as a whole: who
    signed it, whether its estimate follows from its tally, its people and what was spent
    from its certificate. Exits with 2 if anything of that is not so, too. That the tally
    is of what people sent is the analyst's word: nobody else can open messages.

    \b
    Examples
      shuffledp account --categories 17 --levels 1.0:10000 --delta 1e-6 \\
        --certificate certificate.json
      shuffledp verify certificate.json
      shuffledp verify result.json --task task.json
    """
    if task is not None:
        if budgets is not None or column is not None:
            raise InvalidInputError("Expected --task without --budgets and --column.")
        _verify_result(certificate, task, as_json=as_json)
    record = read_json_file(certificate)
    if "certificate" in record and _PUBLISHED & set(record):
        raise DataError(
            "Expected --task TASK.JSON with a result that a service published: its "
            "certificate alone says nothing of its estimate, of what was spent, or of who "
            "signed it."
        )
    guarantee = read(record)
    people = None
    if budgets is not None:
        with working("read"):
            people = Population.from_budgets(read_budgets(budgets, column))
    with working("certify"):
        verification = verify(guarantee, people=people)
    if as_json:
        show_json(verification.to_dict())
    else:
        if "certificate" in record:
            show("Its certificate alone was looked at, and nothing else in this file.")
        _show(verification, len(guarantee.levels))
    sys.exit(0 if verification.holds else 1)


def _verify_result(result: Path, path: Path, *, as_json: bool) -> NoReturn:
    """Checks a published result as a whole, and says what became of it."""
    from shuffledp.service.published import problems_in  # Needs the extra.
    from shuffledp.service.secrets import load_task

    task, record = load_task(path), read_json_file(result)
    verification = None
    with working("certify"):
        problems = problems_in(record, task)
        try:
            guarantee = read(record)
            verification = verify(guarantee)
        except ShuffledpError as error:
            problems += (f"its certificate: {error}",)
    unproven = () if verification is None else verification.problems
    code = 2 if problems else 1 if unproven else 0
    if as_json:
        said = {} if verification is None else verification.to_dict()
        show_json(said | {"holds": not code, "problems": [*problems, *unproven]})
        sys.exit(code)
    if code:
        click.echo("The result does NOT hold:")
        # A line each, however long: they are counted and searched.
        for problem in (*problems, *unproven):
            click.echo(f"  - {problem}")
        sys.exit(code)
    assert verification is not None  # Nothing else is without a problem.
    show(
        "The result holds: the task's analyst signed it, its estimate follows from its "
        "tally, and what was spent from its certificate. That the tally is of what people "
        "sent is her word; whether a message was counted: shuffledp device check.\n"
    )
    _show(verification, len(guarantee.levels))
    sys.exit(0)


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
