"""Options of collections, and which of them belong to which statistic."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.numbers import NUMBER_MECHANISMS
from shuffledp.randomizers.unary_encoding import VARIANTS
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
        type=float,
        default=1e-6,
        show_default=True,
        help="The delta at which the guarantee is stated.",
    ),
    click.option(
        "--confidence",
        type=float,
        default=0.95,
        show_default=True,
        help="Of the intervals.",
    ),
    click.option(
        "--output",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="Where the report, its pictures, JSON and CSV go "
        "[default: shuffledp-report; with --json: nowhere].",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON for machines."),
)


_NAMES = frozenset(Settings.__dataclass_fields__)

_ORACLES = (
    "kary-response",
    "subset-selection",
    "hadamard-response",
    "local-hashing",
    "unary-encoding",
)
# Which mechanisms a statistic has; the first is the default.
_MECHANISMS: dict[str, tuple[str, ...]] = {
    "frequency": _ORACLES,
    "mean": NUMBER_MECHANISMS,
}
# Which options belong to one statistic, or two, alone.
_OPTIONS: dict[str, tuple[str, ...]] = {
    "frequency": (
        "categories",
        "dataset",
        "mechanism",
        "subset_size",
        "buckets",
        "variant",
    ),
    "mean": ("low", "high", "clip", "spread", "mechanism"),
    "sum": ("central",),
    "strings": ("candidates", "bits", "hashes", "cohorts", "false_discovery_rate"),
    "items": ("categories", "dataset", "person", "item", "set_size"),
}

_STATISTIC = (
    click.option(
        "--mechanism",
        type=click.Choice(_ORACLES + NUMBER_MECHANISMS),
        metavar="NAME",
        help=f"What the devices run. Frequency: {', '.join(_ORACLES)} [kary-response]; "
        f"mean: {', '.join(NUMBER_MECHANISMS)} [one-bit].",
    ),
    click.option(
        "--categories",
        metavar="K|NAMES",
        help="Frequency and items: how many values there are (0 to K-1), or their names; "
        "by default those that occur in the column.",
    ),
    click.option(
        "--subset-size", type=int, metavar="W", help="Frequency: of subset-selection."
    ),
    click.option(
        "--buckets",
        type=int,
        metavar="G",
        help="Frequency: of local-hashing, a prime number.",
    ),
    click.option(
        "--variant",
        type=click.Choice(VARIANTS),
        help="Frequency: of unary-encoding [symmetric].",
    ),
    click.option(
        "--dataset",
        type=click.Choice(["msnbc"]),
        help="Instead of FILE, 989,818 visits to a news site. Frequency: the first page of "
        "each; items: all kinds of pages. Read from the folder that SHUFFLEDP_DATA names, "
        "or downloaded once.",
    ),
    click.option("--low", type=float, help="Mean: smallest possible value."),
    click.option("--high", type=float, help="Mean: largest possible value."),
    click.option(
        "--clip",
        is_flag=True,
        help="Mean: move values outside of the bounds to them, instead of refusing them.",
    ),
    click.option(
        "--spread",
        type=float,
        metavar="S",
        help="Mean: standard deviation of the values, where it is known beforehand.",
    ),
    click.option(
        "--central",
        type=float,
        metavar="EPSILON",
        help="Sum: instead of levels, the least noise that is worth this after the "
        "shuffle, for everybody, at --delta.",
    ),
    click.option(
        "--candidates",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Strings: the list, one per line, UTF-8; by default the values of the "
        "column, up to 1,000.",
    ),
    click.option(
        "--bits", type=int, metavar="M", help="Strings: length of a filter [128]."
    ),
    click.option(
        "--hashes", type=int, metavar="H", help="Strings: bits that one sets [2]."
    ),
    click.option(
        "--cohorts",
        type=int,
        metavar="C",
        help="Strings: groups of people that hash differently [16].",
    ),
    click.option(
        "--false-discovery-rate",
        type=float,
        metavar="RATE",
        help="Strings: which share of those found may be held by nobody [0.05].",
    ),
    click.option(
        "--person",
        metavar="COLUMN",
        help="Items: the column that tells people apart; FILE has a row for every person "
        "and item.",
    ),
    click.option("--item", metavar="COLUMN", help="Items: the column of items."),
    click.option(
        "--set-size",
        type=int,
        metavar="S",
        help="Items: how many a person may hold; of more, S are drawn [as many as "
        "anybody holds; with --dataset 4].",
    ),
)


def collection_options(command: Command) -> Command:
    """Adds the options of a collection, which arrive as one argument, `settings`."""

    @functools.wraps(command)
    def with_settings(**given: Any) -> None:
        own = {name: given.pop(name) for name in list(given) if name not in _NAMES}
        command(settings=Settings(**given), **own)

    return _with(_SHARED, with_settings)


def statistic_options(command: Command) -> Command:
    """Adds the options that belong to one statistic; `check_options` looks at them."""
    return _with(_STATISTIC, command)


def check_options(statistic: str, given: dict[str, Any]) -> None:
    """Raises InvalidInputError if an option belongs to another statistic."""
    for name in dict.fromkeys(name for names in _OPTIONS.values() for name in names):
        # 0 is given, too.
        missing = given[name] is None or given[name] is False
        if missing or name in _OPTIONS[statistic]:
            continue
        where = " or ".join(of for of, names in _OPTIONS.items() if name in names)
        raise InvalidInputError(
            f"Expected --{name.replace('_', '-')} only with --statistic {where}."
        )
    mechanism = given["mechanism"]
    if mechanism is not None and mechanism not in _MECHANISMS[statistic]:
        raise InvalidInputError(
            f"Expected --mechanism to be one of {', '.join(_MECHANISMS[statistic])} with "
            f"--statistic {statistic}, got {mechanism}."
        )


def _with(
    options: tuple[Callable[[Command], Command], ...], command: Command
) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
