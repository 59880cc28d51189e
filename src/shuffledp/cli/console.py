"""What commands print on the standard output: results. `waiting` has the error output."""

import json
import os
import sys
from typing import Any

from rich.console import Console, RenderableType

from shuffledp.cli.fit import fitted

_WIDTH_OF_A_PIPE = 110


def show(*parts: RenderableType) -> None:
    """Prints tables and texts for people; texts as they are, with all brackets."""
    console = Console(width=width())
    for part in parts:
        console.print(fitted(part, console), markup=False)


def width() -> int:
    """Returns how many characters a line of the standard output has."""
    # A pipe has no width of its own; tables must not be squeezed into a guess.
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    # Some environments say 0 where they do not know.
    return (known and Console().width) or _WIDTH_OF_A_PIPE


def show_json(value: dict[str, Any]) -> None:
    """Prints one JSON document for machines; NaN and infinity cannot occur."""
    print(json.dumps(value, indent=2, allow_nan=False))
