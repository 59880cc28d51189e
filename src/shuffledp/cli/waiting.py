"""Progress of commands on the error output: a bar, or a line per stage in a log.

On a terminal there is a bar or a spinner with the time, which disappears at the end;
elsewhere one line per stage that took two seconds, with its duration, begun after ten; and,
if the share of the work that is done is known, a line every ten seconds with the time that
is left. Input that is refused before that gets the line of its error alone.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

# Called with (bytes done, bytes in all or None).
OnBytes: TypeAlias = Callable[[int, int | None], None]
LEAST_SECONDS = 2.0
SECONDS_UNTIL_SAID = 10.0
_SECONDS_BETWEEN_LINES = 10.0


class StageLines:
    """Writes a line for every stage that takes long, if there is no terminal."""

    def __init__(self) -> None:
        # A stage's line is written by the timer's thread and completed by ours.
        self._lock = threading.Lock()
        self._name, self._begun = "", 0.0
        self._said = False
        self._timer: threading.Timer | None = None

    def begin(self, name: str) -> None:
        """Ends the previous stage, and begins this one."""
        self.end()
        self._name, self._begun = name, time.monotonic()
        # A thread: a stage computes without calling us in between.
        self._timer = threading.Timer(SECONDS_UNTIL_SAID, self._say)
        # A waiting timer must not keep a command from ending.
        self._timer.daemon = True
        self._timer.start()

    def end(self, *, failed: bool = False) -> None:
        """Ends the stage, and completes its line with its duration.

        Args:
            failed: Whether an error follows, which is one line where no other was begun.
        """
        if self._timer is None:
            return
        self._timer.cancel()
        with self._lock:
            self._timer = None
            took = time.monotonic() - self._begun
            if not self._said and not failed and took >= LEAST_SECONDS:
                self._begin_line()
            if self._said:
                print(duration(took), file=sys.stderr, flush=True)
            self._said = False

    def _say(self) -> None:
        with self._lock:
            # The stage may have ended while this thread was waking up.
            if self._timer is not threading.current_thread():
                return
            self._begin_line()

    def _begin_line(self) -> None:
        # `end` completes this line with the time that the stage took.
        print(f"{self._name} ... ", end="", file=sys.stderr, flush=True)
        self._said = True


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows a spinner, or a line in a log, with the name of the work."""
    with naming(what):
        yield


@contextmanager
def naming(what: str) -> Iterator[Callable[[str], None]]:
    """Shows the name of the current step; yields a function that renames it."""
    with _bar(SpinnerColumn(), TextColumn("{task.description}")) as bar:
        if bar is None:
            with _lines_of_stages(what) as rename:
                yield rename
            return
        task = bar.add_task(what, total=None)
        yield lambda name: bar.update(task, description=name)


@contextmanager
def progress(title: str) -> Iterator[tuple[OnBytes, Callable[[str], None]]]:
    """Shows a bar while a file is read, then the steps of a collection.

    Yields:
        A function for (bytes done, bytes in all), and one for the name of a step.
    """
    with _bar(TextColumn("{task.description}"), BarColumn()) as bar:
        if bar is None:
            with _lines_of_stages(title) as rename:
                # Bytes are for a bar; a log has the stages alone.
                yield lambda _done, _total: None, rename
            return
        reading = bar.add_task(title, total=None)
        collecting = bar.add_task("collect", total=None, visible=False)

        def on_bytes(done: int, total: int | None) -> None:
            bar.update(reading, completed=done, total=total)

        def on_step(step: str) -> None:
            bar.update(reading, visible=False)
            bar.update(collecting, visible=True, description=step)

        yield on_bytes, on_step


@contextmanager
def share_bar(title: str) -> Iterator[Callable[[float], None]]:
    """Shows a bar for the share of the work; yields a function that sets the share."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with _bar(*columns) as bar:
        if bar is None:
            yield lines_of_shares(title)
            return
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def lines_of_shares(title: str) -> Callable[[float], None]:
    """Returns a function that writes a line every ten seconds at most."""
    start = time.monotonic()
    # As if a line had been written now: the first comes after ten seconds.
    written = start

    def on_share(share: float) -> None:
        nonlocal written
        now = time.monotonic()
        # At 0 there is no estimate of the remaining time.
        if share <= 0.0 or share >= 1.0 or now - written < _SECONDS_BETWEEN_LINES:
            return
        written = now
        seconds_left = (now - start) * (1.0 - share) / share
        print(
            f"{title}: {share:.0%}, about {duration(seconds_left)} left",
            file=sys.stderr,
            flush=True,
        )

    return on_share


def duration(seconds: float) -> str:
    """Returns a duration in seconds or minutes.

    >>> duration(42.3), duration(150.0)
    ('42 s', '2.5 min')
    """
    return f"{seconds:.0f} s" if seconds < 100.0 else f"{seconds / 60.0:.1f} min"


@contextmanager
def _lines_of_stages(first: str) -> Iterator[Callable[[str], None]]:
    lines = StageLines()
    lines.begin(first)
    try:
        yield lines.begin
    except BaseException:
        lines.end(failed=True)
        raise
    lines.end()


@contextmanager
def _bar(*columns: ProgressColumn) -> Iterator[Progress | None]:
    """Yields a bar with the time that passes; None where there is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True
    ) as bar:
        yield bar
