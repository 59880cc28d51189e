"""Options of collections: those of all commands, and those that statistics declare."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from shuffledp.cli.number_types import NUMBER
from shuffledp.cli.parameter_option import parameter_option
from shuffledp.cli.shared_options import force_option, json_option
from shuffledp.errors import InvalidInputError
from shuffledp.labels import StatisticLabels
from shuffledp.parameter import Parameter
from shuffledp.statistics.statistic import Statistic
from shuffledp.statistics.statistic_catalog import REHEARSALS, statistic_named
from shuffledp.types import Mode

Command = Callable[..., Any]


@dataclass(frozen=True)
class Settings:
    """Settings of a collection's run and output."""

    mode: Mode
    delta: float
    confidence: float
    seed: int | None
    output: Path | None
    as_json: bool
    force: bool


_SHARED = (
    click.option(
        "--mode",
        type=click.Choice(["agnostic", "stratified"]),
        default="agnostic",
        show_default=True,
        help="Do levels travel apart from messages, or with them? Agnostic hides people "
        "among everybody, and is unbiased if values and levels are independent; "
        "stratified is always unbiased, and hides them among their own level.",
    ),
    click.option(
        "--delta",
        type=NUMBER,
        default=1e-6,
        show_default=True,
        help="The delta at which the guarantee is stated.",
    ),
    click.option(
        "--confidence",
        type=NUMBER,
        default=0.95,
        show_default=True,
        help="Of the intervals.",
    ),
    click.option(
        "--output",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="Where the report, its pictures and tables go: a new or empty folder "
        "[default: shuffledp-report, or shuffledp-report-2, ...; with --json: nowhere].",
    ),
    force_option,
    json_option,
)


_NAMES = frozenset(Settings.__dataclass_fields__)


def collection_options(command: Command) -> Command:
    """Adds the options of a collection, which arrive as one argument, `settings`."""

    @functools.wraps(command)
    def with_settings(**given: Any) -> None:
        own = {name: given.pop(name) for name in list(given) if name not in _NAMES}
        command(settings=Settings(**given), **own)

    return _with_options(_SHARED, with_settings)


def statistic_options(command: Command) -> Command:
    """Adds the parameters of all statistics; `own_options` takes those of one."""
    named: dict[str, list[tuple[StatisticLabels, Parameter]]] = {}
    for name in REHEARSALS:
        statistic = statistic_named(name)
        for parameter in statistic.parameters:
            entry = statistic.words, parameter
            named.setdefault(parameter.option, []).append(entry)
    return _with_options(
        tuple(_shared_option(entries) for entries in named.values()), command
    )


def own_options(statistic: Statistic, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the values of a statistic's own parameters, by their names.

    Raises:
        InvalidInputError: If a parameter of other statistics was given, or a choice of
            another one.
    """
    # click gives every statistic's options: those of others must not have been used.
    own_parameters = {parameter.name: parameter for parameter in statistic.parameters}
    owners: dict[str, list[str]] = {}
    options: dict[str, str] = {}
    for name in REHEARSALS:
        for parameter in statistic_named(name).parameters:
            owners.setdefault(parameter.name, []).append(name)
            options[parameter.name] = f"--{parameter.option}"
    for name, names in owners.items():
        value = given[name]
        # Not `not value`: a 0 was given, too.
        if value is None or value is False:
            continue
        option = options[name]
        if name not in own_parameters:
            raise InvalidInputError(
                f"Expected {option} only with --statistic {' or '.join(names)}."
            )
        if not own_parameters[name].has_choice(value):
            raise InvalidInputError(
                f"Expected {option} to be one of "
                f"{', '.join(own_parameters[name].choices)} with "
                f"--statistic {statistic.words.name}, got {value}."
            )
    return {name: given[name] for name in own_parameters}


def _shared_option(
    entries: list[tuple[StatisticLabels, Parameter]],
) -> Callable[[Command], Command]:
    """Returns one option of the command line for all statistics that have it."""
    first = entries[0][1]
    parts = []
    for words, parameter in entries:
        choices = (
            f" One of {', '.join(parameter.choices)}." if parameter.choices else ""
        )
        parts.append(f"{words.name.capitalize()}: {parameter.help}.{choices}")
    # click admits the choices of all statistics; `own_options` those of one.
    all_choices = dict.fromkeys(name for _, entry in entries for name in entry.choices)
    return parameter_option(
        first,
        " ".join(parts),
        metavar="NAME" if all_choices else None,
        choices=tuple(all_choices),
    )


def _with_options(
    options: tuple[Callable[[Command], Command], ...], command: Command
) -> Command:
    # click lists options from the last decorator that was applied to the first.
    for option in reversed(options):
        command = option(command)
    return command
