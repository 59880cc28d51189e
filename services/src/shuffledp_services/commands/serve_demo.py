"""`shuffledp serve demo`: a demonstration of a whole collection."""

import signal
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from shuffledp.cli.console import show
from shuffledp.cli.number_types import WholeRange
from shuffledp.errors import InvalidInputError
from shuffledp.format_number import plain
from shuffledp_services.commands.evidence_table import course

if TYPE_CHECKING:
    from shuffledp_services.demo.demo_collection import Demo
    from shuffledp_services.evidence.evidence import Evidence


@click.command("demo")
@click.option(
    "--people",
    # MIN_USERS of the demonstration, whose import needs an extra.
    type=WholeRange(min=100),
    default=10_000,
    show_default=True,
    help="How many answer.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep keys and databases there [nowhere].",
)
@click.option(
    "--audit",
    is_flag=True,
    help="Four epochs, with an auditor's canaries in each, and the evidence on "
    "the dashboard.",
)
@click.option(
    "--saboteur",
    is_flag=True,
    help="With --audit: in epoch 3 the shuffler keeps the order in which people came, and "
    "the analyst permits it.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the dashboard.")
@click.option("--exit", "leave", is_flag=True, help="Do not stay up afterwards.")
def demo_command(
    people: int,
    folder: Path | None,
    audit: bool,
    saboteur: bool,
    no_browser: bool,
    leave: bool,
) -> None:
    """A whole collection in a minute: two services, simulated devices, a dashboard.

    A shuffler and an analyst run as two processes on this machine, with a database each.
    Every device randomizes its answer at its own level and seals it for the analyst; the
    shuffler strips who sent it; the analyst certifies, opens, counts and publishes.
    """
    if saboteur and not audit:
        raise InvalidInputError(
            "Expected --audit with --saboteur: nobody would notice."
        )
    # As an exception, SIGTERM closes the stack below, which ends both services.
    # 143 is 128 + 15, the exit code of programs that SIGTERM ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with ExitStack() as stack:
        # Secret keys of a demonstration are deleted with their folder.
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        begun = time.monotonic()
        with _bar() as (say, progress):
            done, evidence = _run(
                stack, folder, people, audit, saboteur, say=say, progress=progress
            )
        _show(done, time.monotonic() - begun)
        if evidence is not None:
            show(*course(evidence))
        if leave:
            return
        if not no_browser:
            webbrowser.open(done.dashboard)
        # Ctrl-C is the announced end, and no error.
        with suppress(KeyboardInterrupt):
            click.echo("Ctrl-C ends it.")
            while True:
                time.sleep(1.0)


def _run(
    stack: ExitStack,
    folder: Path,
    people: int,
    audit: bool,
    saboteur: bool,
    *,
    say: Callable[[str], None],
    progress: Callable[[int, int], None],
) -> "tuple[Demo, Evidence | None]":
    """Runs the collection; its services run until the stack is closed."""
    from shuffledp_services.demo.audited_demo import audited_demo
    from shuffledp_services.demo.demo_collection import demo

    if not audit:
        plain = demo(folder, num_users=people, progress=progress, say=say)
        return stack.enter_context(plain), None
    audited = stack.enter_context(
        audited_demo(
            folder, num_users=people, saboteur=saboteur, progress=progress, say=say
        )
    )
    # Of four epochs the last is shown; the evidence is about all.
    return audited.last, audited.evidence


@contextmanager
def _bar() -> Iterator[tuple[Callable[[str], None], Callable[[int, int], None]]]:
    """Shows the current step and the number of answers, on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    )
    with bar:
        task = bar.add_task("begin", total=None)
        yield (
            lambda step: bar.update(task, description=step),
            lambda done, total: bar.update(task, completed=done, total=total),
        )


def _show(done: "Demo", seconds: float) -> None:
    estimate = Table(title=done.task.question.text)
    for title in ("answer", "estimate", "95% interval", "truth"):
        estimate.add_column(title, justify="left" if title == "answer" else "right")
    for row, share in zip(
        done.result["estimate"]["rows"], done.truth.tolist(), strict=True
    ):
        low, high = row["interval"]
        estimate.add_row(
            row["name"],
            f"{row['value']:.1%}",
            f"{low:.1%} to {high:.1%}",
            f"{share:.1%}",
        )
    certificate = Table(title=f"What it cost everybody, at delta {done.task.delta:g}")
    for title in ("on the device", "people", "after the shuffle", "promised"):
        certificate.add_column(title, justify="right")
    for level, people, spent, promise in zip(
        done.task.choices,
        done.result["people"],
        done.result["spent"],
        done.task.promise,
        strict=True,
    ):
        # Spent and promised epsilons are certified: in full, never rounded.
        certificate.add_row(f"{level:g}", f"{people:,}", plain(spent), plain(promise))
    show(
        estimate,
        certificate,
        f"{done.delivery.accepted:,} reports in {seconds:.0f} s.\n"
        f"The dashboard: {done.dashboard}\n"
        f"The shuffler:  {done.shuffler}/tasks/{done.task.identity}",
    )
