"""Options that several commands share."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

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


def collection_options(command: Command) -> Command:
    """Adds the options of a collection, which arrive as one argument, `settings`."""

    @functools.wraps(command)
    def with_settings(**given: Any) -> None:
        own = {name: given.pop(name) for name in list(given) if name not in _NAMES}
        command(settings=Settings(**given), **own)

    for option in reversed(_SHARED):
        with_settings = option(with_settings)
    return with_settings
