"""Options that say what the devices run, and who they are."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from shuffledp.cli import parse
from shuffledp.datasets.budgets import read_budgets
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.catalog import MECHANISMS, build
from shuffledp.randomizers.unary_encoding import VARIANTS
from shuffledp.statistics.single_message import SingleMessage

_PARAMETERS = (
    click.option(
        "--mechanism",
        type=click.Choice(MECHANISMS),
        default="kary-response",
        show_default=True,
        help="What the devices run.",
    ),
    click.option(
        "--categories",
        type=int,
        metavar="K",
        help="How many values there are (kary-response, subset-selection, "
        "hadamard-response, local-hashing, unary-encoding).",
    ),
    click.option("--subset-size", type=int, metavar="W", help="Of subset-selection."),
    click.option(
        "--buckets", type=int, metavar="G", help="Of local-hashing, a prime number."
    ),
    click.option(
        "--variant",
        type=click.Choice(VARIANTS),
        help="Of unary-encoding [symmetric].",
    ),
    click.option(
        "--bits", type=int, metavar="M", help="Of rappor: length of a Bloom filter."
    ),
    click.option(
        "--hashes", type=int, metavar="H", help="Of rappor: bits that a value sets."
    ),
    click.option(
        "--one-given-one",
        type=float,
        help="Of rappor: chance that a report repeats a permanent 1 [0.75].",
    ),
    click.option(
        "--one-given-zero",
        type=float,
        help="Of rappor: chance that a report shows 1 for a permanent 0 [0.25].",
    ),
    click.option(
        "--low", type=float, help="Smallest value (one-bit, laplace, gaussian) [0]."
    ),
    click.option("--high", type=float, help="Largest value [1]."),
    click.option(
        "--clip",
        type=float,
        metavar="C",
        help="Of clip-laplace: values in [-C, C] [1].",
    ),
    click.option(
        "--delta-local",
        type=float,
        help="Of gaussian: what a message may reveal beyond its level [1e-6].",
    ),
    click.option(
        "--q",
        type=float,
        help="Of declared-ratios: most by which a victim's message can be likelier than "
        "anybody else's.",
    ),
    click.option(
        "--beta",
        type=float,
        help="Of declared-ratios: total variation distance of two values' messages.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["agnostic", "stratified"]),
        default="agnostic",
        show_default=True,
        help="Do levels travel apart from messages, or with them?",
    ),
)
_NAMES = (
    "categories",
    "subset_size",
    "buckets",
    "variant",
    "bits",
    "hashes",
    "one_given_one",
    "one_given_zero",
    "low",
    "high",
    "clip",
    "delta_local",
    "q",
    "beta",
)

_CIRCUMSTANCES = (
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
    click.option(
        "--rounds",
        type=int,
        default=1,
        show_default=True,
        help="How often the same people take part.",
    ),
    click.option(
        "--coordinates",
        type=int,
        default=1,
        show_default=True,
        help="Messages per person and round, each shuffled apart.",
    ),
)

_PEOPLE = (
    click.option(
        "--levels",
        metavar=parse.LEVEL_COUNTS,
        help="Privacy levels and people at each.",
    ),
    click.option(
        "--budgets",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Instead of --levels: one epsilon per person, as text, .npy, CSV or Parquet.",
    ),
    click.option(
        "--column", metavar="NAME", help="The column of a CSV or Parquet file."
    ),
)

Command = Callable[..., Any]


def mechanism_options(command: Command) -> Command:
    """Adds options for the randomizer, which arrives as one argument, `protocol`."""

    @functools.wraps(command)
    def with_protocol(**given: Any) -> None:
        values = {name: given.pop(name) for name in _NAMES}
        parameters = {n: value for n, value in values.items() if value is not None}
        randomizer = build(given.pop("mechanism"), parameters)
        protocol = SingleMessage(randomizer, given.pop("mode"))
        command(protocol=protocol, **given)

    return _with(_PARAMETERS, with_protocol)


def circumstance_options(command: Command) -> Command:
    """Adds --absent, --honest-fraction, --rounds and --coordinates."""
    return _with(_CIRCUMSTANCES, command)


def people_options(command: Command) -> Command:
    """Adds --levels, --budgets and --column; `read_people` reads them."""
    return _with(_PEOPLE, command)


def read_people(
    levels: str | None, budgets: Path | None, column: str | None
) -> Population:
    """Returns the population of either option."""
    if column is not None and budgets is None:
        raise InvalidInputError("Expected --column only together with --budgets.")
    if (levels is None) == (budgets is None):
        raise InvalidInputError("Expected either --levels or --budgets, and not both.")
    if budgets is None:
        return parse.level_counts(levels or "")
    return Population.from_budgets(read_budgets(budgets, column))


def num_absent(absent: int, honest_fraction: float | None, num_users: int) -> int:
    """Returns how many people cannot be relied on."""
    if honest_fraction is None:
        return absent
    if absent:
        raise InvalidInputError("Expected either --absent or --honest-fraction.")
    if not 0.0 < honest_fraction <= 1.0:
        raise InvalidInputError(
            f"Expected 0 < --honest-fraction <= 1, got {honest_fraction:g}."
        )
    return num_users - int(honest_fraction * num_users)


def _with(
    options: tuple[Callable[[Command], Command], ...], command: Command
) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
