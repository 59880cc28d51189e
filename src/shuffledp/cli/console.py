"""What commands print: results to the standard output, progress to the error output."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from shuffledp.cli.fit import fitted

# Called with (bytes done, bytes in all or None).
OnBytes: TypeAlias = Callable[[int, int | None], None]
_WIDTH_OF_A_PIPE = 110
_SECONDS_BETWEEN_LINES = 10.0


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
    """Shows how much is done; yields a function for the share that is.

    On a terminal it is a bar. Elsewhere, in a log, it is a line now and then with the time
    that is left.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(title)
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _lines(title: str) -> Callable[[float], None]:
    """Returns what writes a line to the error output every ten seconds at most."""
    start = time.monotonic()
    written = start

    def on_share(share: float) -> None:
        nonlocal written
        now = time.monotonic()
        if share <= 0.0 or share >= 1.0 or now - written < _SECONDS_BETWEEN_LINES:
            return
        written = now
        left = (now - start) * (1.0 - share) / share
        print(
            f"{title}: {share:.0%}, about {duration(left)} left",
            file=sys.stderr,
            flush=True,
        )

    return on_share


def duration(seconds: float) -> str:
    """Returns a time in the unit that people would choose.

    >>> duration(42.3), duration(150.0)
    ('42 s', '2.5 min')
    """
    return f"{seconds:.0f} s" if seconds < 100.0 else f"{seconds / 60.0:.1f} min"


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
