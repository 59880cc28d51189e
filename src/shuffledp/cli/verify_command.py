"""`shuffledp verify`: recomputes a certificate and says whether it holds."""

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click

from shuffledp.accounting.verification import Verification
from shuffledp.audit.isolated_process import Send, run_isolated
from shuffledp.cli.console import show, show_json
from shuffledp.cli.shared_options import json_option
from shuffledp.cli.waiting import working
from shuffledp.datasets.budgets import read_budgets
from shuffledp.errors import DataError, InvalidInputError
from shuffledp.extension_loading import (
    expecting,
    installed_mechanism,
    load_installed,
    load_named,
)
from shuffledp.extras import require_feature
from shuffledp.population import Population
from shuffledp.randomizers.catalog import MECHANISMS
from shuffledp.report.terminal import guarantee_table
from shuffledp.statistics.certificate_parts import WHOLE
from shuffledp.statistics.verify_certificate import read, verify
from shuffledp.strict_json import read_json_file

# Keys that tell a service's result, whole or in part, from other certificates.
_PUBLISHED = frozenset(
    {"task", "digest", "epoch", "batch", "spent", "enrolment", "spoiled", "signature"}
)


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option(
    "--budgets",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Every person's epsilon, if there are too many levels to list in the certificate.",
)
@click.option("--column", metavar="NAME", help="The column of a table.")
@click.option(
    "--task",
    type=click.Path(path_type=Path),
    metavar="TASK.JSON",
    help="Of a result that a service published: the public file of its task, from whoever "
    "asks the question.",
)
@click.option(
    "--mechanism",
    "location",
    metavar="MODULE:NAME",
    help="What devices ran, if it does not come with this library: its class or an object. "
    "Imports MODULE; the working folder is looked into first.",
)
@json_option
def verify_command(
    certificate: Path,
    budgets: Path | None,
    column: str | None,
    task: Path | None,
    location: str | None,
    as_json: bool,
) -> None:
    """Recompute a certificate from its inputs, and compare.

    Certificates of every statistic are read: the protocol is built again from the
    certificate's description. The answer names the file, and the parts of it that were
    read: a training's record holds two certificates, and both are recomputed. A file that
    can be read two ways is refused. Exits with 0 if every bound in it is confirmed, with 1
    if not, and with 2 if it cannot be read or is not about these people. A certificate that
    states a larger epsilon or delta than the proven one, or less of an attack, holds: it is
    weaker than it could be, and the answer says where. All else must be as recomputed.

    A mechanism that does not come with this library is imported if --mechanism names it, or
    if an installed package declares it by the name that the certificate states (entry
    points, group shuffledp.mechanisms). Its name, its class, its parameters and all that it
    stores must be those of the certificate. The bounds rest on the covers that it hands
    over: shuffledp.testing.check_randomizer compares them with the messages of devices.

    With --task, a result that an analyst's service published is checked as a whole: who
    signed it, whether its estimate follows from its tally, its people and the spent
    epsilons from its certificate; exits with 1 if anything of that is not so. That the
    tally counts the messages of people is the analyst's word: only the analyst can open
    messages.

    \b
    Examples
      shuffledp account --categories 17 --levels 1.0:10000 --delta 1e-6 \\
        --certificate certificate.json
      shuffledp verify certificate.json
      shuffledp verify result.json --task task.json
      shuffledp verify certificate.json --mechanism mymodule:MyMechanism
    """
    if task is not None:
        if any(option is not None for option in (budgets, column, location)):
            raise InvalidInputError(
                "Expected --task without --budgets, --column and --mechanism."
            )
        verify_result = require_feature("result-verification", what="--task")
        verify_result(certificate, task, as_json=as_json)
    if column is not None and budgets is None:
        raise InvalidInputError("Expected --column with --budgets, the table it is in.")
    record = read_json_file(certificate)
    if "certificate" in record and _PUBLISHED & set(record):
        raise DataError(
            "Expected --task TASK.JSON with a result that a service published: its "
            "certificate alone says nothing of its estimate, of what was spent, or of who "
            "signed it."
        )
    people = None
    if budgets is not None:
        with working("read"):
            # The certificate has their digest only: `verify` compares the two.
            people = Population.from_budgets(read_budgets(budgets, column))
    # The record as read above: the file may have been replaced since.
    source = _mechanism_source(record, location)
    verification = replace(_verified(record, people, source), file=str(certificate))
    if as_json:
        show_json(verification.to_dict())
    else:
        show_verification(verification, source)
    sys.exit(0 if verification.holds else 1)


def _mechanism_source(
    record: dict[str, Any], location: str | None
) -> str | EntryPoint | None:
    """Returns the source of a third-party mechanism; None for one of this library."""
    # The main certificate; that after one round is of the same training.
    mechanism = next(iter(read(record).values())).mechanism
    # An installed package never replaces a mechanism of this library.
    if location is not None or mechanism in MECHANISMS:
        return location
    return installed_mechanism(mechanism)


def _verified(
    record: dict[str, Any], people: Population | None, source: str | EntryPoint | None
) -> Verification:
    """Recomputes a certificate, with a third-party mechanism if there is a source."""
    if source is None:
        with working("certify"):
            return verify(record, people=people)

    def work(send: Send) -> None:
        # Inside: an import runs third-party code, too.
        if isinstance(source, str):
            mechanism = load_named(source)
        else:
            mechanism = load_installed(source)
        with working("certify"), expecting(f"{_named(source)} to be certified"):
            send(("verified", verify(record, people=people, mechanism=mechanism)))

    results: list[Verification] = []
    # Third-party Python in this process could print, or exit, as this command.
    run_isolated(work, lambda event: results.append(event[1]))
    return results[0]


def _named(source: str | EntryPoint) -> str:
    return source if isinstance(source, str) else source.value


def show_verification(
    verification: Verification, source: str | EntryPoint | None = None
) -> None:
    """Prints a verified certificate: what was read, whether it holds, its table."""
    if verification.parts == (WHOLE,):
        show(f"Read: all of {verification.file}.")
    else:
        parts = " and ".join(f"`{part}`" for part in verification.parts)
        show(f"Read: {parts} of {verification.file}, and nothing else in this file.")
    if source is not None:
        show(
            f"It rests on the covers of {_named(source)}, which does not come with this "
            "library: shuffledp.testing.check_randomizer compares them with what devices "
            "send."
        )
    # It may state chosen levels, or quantiles of many, and not all.
    num_levels = len(verification.recomputed.levels)
    if num_levels < verification.num_levels:
        show(f"It speaks of {num_levels} of {verification.num_levels:,} levels only.")
    if verification.holds:
        show(
            "The certificate holds: its bounds follow from those recomputed below. (Its "
            "`version` is information, and was not compared.)\n"
        )
        if verification.weaker:
            show("It states less than what is proven now:")
            for line in verification.weaker:
                show(f"  - {line}")
            show("")
    else:
        show("The certificate does NOT hold:")
        for problem in verification.problems:
            show(f"  - {problem}")
        show("\nWhat was recomputed instead:\n")
    # Not the file's own numbers, which may be false.
    show(guarantee_table(verification.recomputed))
