"""Options of collections: those of all, and those that statistics bring along."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from shuffledp.cli.number_types import NUMBER, WHOLE
from shuffledp.cli.shared_options import force_option, json_option
from shuffledp.errors import InvalidInputError
from shuffledp.labels import StatisticLabels
from shuffledp.statistics.catalog import STATISTICS, statistic_named
from shuffledp.statistics.statistic import Option, Statistic
from shuffledp.types import Mode

Command = Callable[..., Any]


@dataclass(frozen=True)
class Settings:
    """How a collection is run, shown and written."""

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
        help="Where the report, its pictures, JSON and CSV go: a new or empty folder "
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

    return _with(_SHARED, with_settings)


def statistic_options(command: Command) -> Command:
    """Adds the options that belong to some statistics; `own_options` looks at them."""
    named: dict[str, list[tuple[StatisticLabels, Option]]] = {}
    for name in STATISTICS:
        statistic = statistic_named(name)
        for option in statistic.options:
            named.setdefault(option.name, []).append((statistic.words, option))
    return _with(tuple(_shared_option(entries) for entries in named.values()), command)


def own_options(statistic: Statistic, given: dict[str, Any]) -> dict[str, Any]:
    """Returns what was given for a statistic's own options, by their keys.

    Raises:
        InvalidInputError: If an option of other statistics was given, or a choice that is
            another's.
    """
    own = {option.key: option for option in statistic.options}
    others: dict[str, list[str]] = {}
    for name in STATISTICS:
        for option in statistic_named(name).options:
            others.setdefault(option.key, []).append(name)
    for key, names in others.items():
        value = given[key]
        # 0 is given, too.
        if value is None or value is False:
            continue
        shown = f"--{key.replace('_', '-')}"
        if key not in own:
            raise InvalidInputError(
                f"Expected {shown} only with --statistic {' or '.join(names)}."
            )
        choices = own[key].choices
        if choices and value not in choices:
            raise InvalidInputError(
                f"Expected {shown} to be one of {', '.join(choices)} with --statistic "
                f"{statistic.words.name}, got {value}."
            )
    return {key: given[key] for key in own}


def _shared_option(
    entries: list[tuple[StatisticLabels, Option]],
) -> Callable[[Command], Command]:
    """Returns one option of the command line for all statistics that have it."""
    first = entries[0][1]
    parts = []
    for words, option in entries:
        choices = f" One of {', '.join(option.choices)}." if option.choices else ""
        parts.append(f"{words.name.capitalize()}: {option.help}{choices}")
    if first.kind == "flag":
        return click.option(f"--{first.name}", is_flag=True, help=" ".join(parts))
    every = dict.fromkeys(name for _, option in entries for name in option.choices)
    kinds: dict[str, Any] = {
        "text": str,
        "names": str,
        "number": NUMBER,
        "whole": WHOLE,
        "file": click.Path(path_type=Path),
    }
    kind = click.Choice(tuple(every)) if every else kinds[first.kind]
    metavar = first.metavar or ("NAME" if every else None)
    return click.option(
        f"--{first.name}", type=kind, metavar=metavar, help=" ".join(parts)
    )


def _with(
    options: tuple[Callable[[Command], Command], ...], command: Command
) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
