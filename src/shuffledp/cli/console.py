"""Results of commands, on the standard output; `waiting` writes to the error output."""

import json
import os
import sys
from typing import Any

from rich.console import Console, RenderableType

from shuffledp.cli.fit import fitted

_WIDTH_OF_A_PIPE = 110


def show(*parts: RenderableType) -> None:
    """Prints tables and texts for people."""
    # Without emoji and markup: rich would take the ":b:" of a label for an emoji, and
    # [brackets] for a style. Set for the console, they hold for titles of tables, too.
    console = Console(width=width(), emoji=False, markup=False)
    for part in parts:
        console.print(fitted(part, console))


def width() -> int:
    """Returns the width of the standard output in characters."""
    # A pipe has no width of its own; tables must not be squeezed into a guess.
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    # Some environments say 0 where they do not know.
    return (has_width and Console().width) or _WIDTH_OF_A_PIPE


def show_json(value: dict[str, Any]) -> None:
    """Prints one JSON document for machines."""
    # JSON has no NaN and no infinity: a value that holds one is an error of ours.
    print(json.dumps(value, indent=2, allow_nan=False))
