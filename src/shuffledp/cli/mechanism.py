"""Options that say what the devices run, and who they are."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from shuffledp.cli import parse
from shuffledp.cli.number_types import NUMBER, WHOLE
from shuffledp.cli.shared_options import absent_options
from shuffledp.datasets.budgets import read_budgets
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp.randomizers.catalog import MECHANISMS, build
from shuffledp.randomizers.parameters import Kind, Parameter, parameters_of
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Mode

_MECHANISM = click.option(
    "--mechanism",
    type=click.Choice(MECHANISMS),
    default=MECHANISMS[0],
    show_default=True,
    help="What the devices run.",
)
_MODE = click.option(
    "--mode",
    type=click.Choice(["agnostic", "stratified"]),
    default="agnostic",
    show_default=True,
    help="Do levels travel apart from messages, or with them?",
)
_TYPES: dict[Kind, Any] = {"whole": WHOLE, "number": NUMBER, "text": str}

_CIRCUMSTANCES = (
    *absent_options,
    click.option(
        "--rounds",
        type=WHOLE,
        default=1,
        show_default=True,
        help="How often the same people take part.",
    ),
    click.option(
        "--coordinates",
        type=WHOLE,
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
        type=click.Path(),
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
    def with_protocol(
        *, mechanism: str, parameters: dict[str, Any], mode: Mode, **given: Any
    ) -> None:
        protocol = SingleMessage(build(mechanism, parameters), mode)
        command(protocol=protocol, **given)

    return _with((_MECHANISM,), parameter_options(_with((_MODE,), with_protocol)))


def parameter_options(command: Command) -> Command:
    """Adds the parameters of all mechanisms; those given arrive as `parameters`.

    They are called and explained as the mechanisms' classes do.
    """
    shared: dict[str, list[tuple[str, Parameter]]] = {}
    for mechanism in MECHANISMS:
        for parameter in parameters_of(mechanism):
            shared.setdefault(parameter.name, []).append((mechanism, parameter))

    @functools.wraps(command)
    def with_parameters(**given: Any) -> None:
        values = {name: given.pop(name) for name in shared}
        parameters = {n: value for n, value in values.items() if value is not None}
        command(parameters=parameters, **given)

    options = (_parameter_option(name, entries) for name, entries in shared.items())
    return _with(tuple(options), with_parameters)


def _parameter_option(
    name: str, entries: list[tuple[str, Parameter]]
) -> Callable[[Command], Command]:
    """Returns the option for a parameter that one or several mechanisms have."""
    said: dict[str, list[str]] = {}
    for mechanism, parameter in entries:
        default = "" if parameter.default is None else f" [{parameter.default}]"
        text = parameter.help.removesuffix(".")
        said.setdefault(f"{text}{default}", []).append(mechanism)
    parts = [f"Of {', '.join(names)}: {text}." for text, names in said.items()]
    return click.option(
        f"--{name.replace('_', '-')}",
        name,
        type=_TYPES[entries[0][1].kind],
        help=" ".join(parts),
    )


def circumstance_options(command: Command) -> Command:
    """Adds --absent, --honest-fraction, --rounds and --coordinates."""
    return _with(_CIRCUMSTANCES, command)


def people_options(command: Command) -> Command:
    """Adds --levels, --budgets and --column; `read_people` reads them."""
    return _with(_PEOPLE, command)


def read_people(
    levels: str | None, budgets: str | None, column: str | None
) -> Population:
    """Returns the population of either option."""
    if column is not None and budgets is None:
        raise InvalidInputError("Expected --column only together with --budgets.")
    if (levels is None) == (budgets is None):
        raise InvalidInputError("Expected either --levels or --budgets, and not both.")
    if budgets is None:
        return parse.level_counts(levels or "")
    return Population.from_budgets(read_budgets(Path(budgets), column))


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
