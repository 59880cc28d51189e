"""What commands print: results to the standard output, progress to the error output."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

# Called with (bytes done, bytes in all or None).
OnBytes: TypeAlias = Callable[[int, int | None], None]


def show(*parts: RenderableType) -> None:
    """Prints tables and texts for people; texts as they are, with all brackets."""
    # A pipe has no width of its own; tables must not be squeezed into a guess.
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(width=None if known else 110)
    for part in parts:
        console.print(part, markup=False)


def show_json(value: dict[str, Any]) -> None:
    """Prints one JSON document for machines; NaN and infinity cannot occur."""
    print(json.dumps(value, indent=2, allow_nan=False))


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows that something is being done, on a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


@contextmanager
def naming(what: str) -> Iterator[Callable[[str], None]]:
    """Shows what is being done, on a terminal; yields a function that renames it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _what: None
        return
    with console.status(what) as status:
        yield status.update


@contextmanager
def share_bar(title: str) -> Iterator[Callable[[float], None]]:
    """Shows a bar, on a terminal; yields a function for the share that is done."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def progress(title: str) -> Iterator[tuple[OnBytes, Callable[[str], None]]]:
    """Shows a bar while a file is read, then the steps of a collection.

    Yields:
        A function for (bytes done, bytes in all), and one for the name of a step.
    """
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        # In a log file a bar would be noise.
        disable=not console.is_terminal,
    )
    with bar:
        reading = bar.add_task(title, total=None)
        collecting = bar.add_task("collect", total=None, visible=False)

        def on_bytes(done: int, total: int | None) -> None:
            bar.update(reading, completed=done, total=total)

        def on_step(step: str) -> None:
            bar.update(reading, visible=False)
            bar.update(collecting, visible=True, description=step)

        yield on_bytes, on_step
