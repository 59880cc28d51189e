"""`shuffledp serve`: the services, and a whole collection to look at."""

import signal
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from shuffledp.cli.console import show
from shuffledp.errors import InvalidInputError
from shuffledp.report.words import plain

if TYPE_CHECKING:
    from shuffledp.service.demo import Demo
    from shuffledp.service.events import LogFormat
    from shuffledp.service.wire.task import Task

_FOLDERS = click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER...",
)
_DATABASE = click.option(
    "--database",
    required=True,
    metavar="URL",
    help="sqlite:///FILE; for the shuffler also postgresql://USER@HOST/NAME, with the "
    "password in PGPASSWORD or ~/.pgpass.",
)
_HOST = click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on: this machine's own, where a proxy stands before it.",
)
_PORTS = 65536
_RANGE = click.IntRange(0, _PORTS - 1)

_PORT_HELP = "Of this address."
_SHUFFLER_PORT = click.option(
    "--port", type=_RANGE, default=8000, show_default=True, help=_PORT_HELP
)
_ANALYST_PORT = click.option(
    "--port", type=_RANGE, default=8001, show_default=True, help=_PORT_HELP
)
_LOG_FORMAT = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="One line, or one JSON object, for each event of a collection.",
)
_METRICS_PORT = click.option(
    "--metrics-port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Of 127.0.0.1, for Prometheus on this machine [none].",
)


@click.group("serve")
def serve_group() -> None:
    """Run a shuffler or an analyst; or both, with simulated devices: serve demo.

    \b
    Look at it first:  shuffledp serve demo
    The shuffler:      shuffledp serve shuffler commuting \\
                         --database sqlite:///shuffler.db --analyst https://analyst.example
    The analyst:       shuffledp serve analyst commuting \\
                         --database sqlite:///analyst.db --shuffler https://shuffler.example

    Two parties who do not share what they see: they should be two organizations, on two
    machines. Services speak HTTP on the machine itself; a proxy in front speaks TLS.
    """


@serve_group.command("shuffler")
@_FOLDERS
@_DATABASE
@_HOST
@_SHUFFLER_PORT
@_METRICS_PORT
@_LOG_FORMAT
@click.option("--analyst", required=True, metavar="URL", help="Who gets the batches.")
@click.option(
    "--close-at",
    type=click.IntRange(min=1),
    metavar="PEOPLE",
    help="Close a step by itself once so many people reported and every level has enough "
    "[when told to: shuffledp task close].",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that share the port and a PostgreSQL database; the metrics of each "
    "are one port after those of the one before.",
)
def shuffler_command(
    folders: tuple[Path, ...],
    database: str,
    host: str,
    port: int,
    metrics_port: int | None,
    log_format: "LogFormat",
    analyst: str,
    close_at: int | None,
    workers: int,
) -> None:
    """Collect sealed reports, forget who sent them and when, and hand them over.

    Every FOLDER needs task.json, its three signatures, shuffler.json and a roster for
    every epoch; nothing of the other parties.
    """
    from shuffledp.service.events import logged
    from shuffledp.service.participant import page_folder
    from shuffledp.service.run import run  # Needs the extra.
    from shuffledp.service.secrets import load_task
    from shuffledp.service.serve_shuffler import check_shared, shuffler_app
    from shuffledp.service.workers import run_workers

    if workers > 1:
        check_shared(database)
    if metrics_port is not None and metrics_port + workers > _PORTS:
        raise InvalidInputError(
            f"Expected --metrics-port with {workers - 1} more ports after it."
        )
    tasks = [load_task(folder) for folder in folders]

    def started(url: str) -> None:
        pages = [f"{url}/tasks/{t.identity}/take-part#token=TOKEN" for t in tasks]
        # Where the page was not built there is nothing to invite people to.
        invited = f"; take part at {', '.join(pages)}" if page_folder() else ""
        click.echo(f"Shuffler listening on {url}{invited}")
        _say_digests(tasks)

    build = partial(shuffler_app, folders, database, analyst=analyst, close_at=close_at)
    with logged(log_format):
        if workers == 1:
            run(
                build(),
                host=host,
                port=port,
                started=started,
                metrics_port=metrics_port,
            )
        else:
            run_workers(
                build,
                number=workers,
                host=host,
                port=port,
                started=started,
                metrics_port=metrics_port,
                log_format=log_format,
            )


@serve_group.command("analyst")
@_FOLDERS
@_DATABASE
@_HOST
@_ANALYST_PORT
@_METRICS_PORT
@_LOG_FORMAT
@click.option(
    "--shuffler",
    metavar="URL",
    help="Where the dashboard asks how many people answered so far.",
)
@click.option(
    "--spark",
    metavar="URL",
    help="Open batches on Apache Spark, instead of on all cores: local[*], "
    "spark://HOST:PORT or sc://HOST:PORT. Executors get the private key, and must reach "
    "the database's folder under the same path.",
)
def analyst_command(
    folders: tuple[Path, ...],
    database: str,
    host: str,
    port: int,
    metrics_port: int | None,
    log_format: "LogFormat",
    shuffler: str | None,
    spark: str | None,
) -> None:
    """Certify batches, open and count them, publish what the promises allow.

    Every FOLDER needs task.json, its three signatures and analyst.json; nothing of the
    other parties.
    """
    from shuffledp.cli.spark import opening
    from shuffledp.service.events import logged  # Needs the extra.
    from shuffledp.service.run import run
    from shuffledp.service.secrets import load_task
    from shuffledp.service.serve_analyst import analyst_app

    tasks = [load_task(folder) for folder in folders]

    def started(url: str) -> None:
        click.echo(f"Dashboard: {url}/")
        _say_digests(tasks)

    with logged(log_format), opening(spark) as open_shards:
        run(
            analyst_app(folders, database, shuffler=shuffler, open_shards=open_shards),
            host=host,
            port=port,
            started=started,
            metrics_port=metrics_port,
        )


@serve_group.command("demo")
@click.option(
    "--people",
    type=click.IntRange(min=100),
    default=10_000,
    show_default=True,
    help="How many answer.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep keys and databases there [nowhere].",
)
@click.option("--no-browser", is_flag=True, help="Do not open the dashboard.")
@click.option("--exit", "leave", is_flag=True, help="Do not stay up afterwards.")
def demo_command(
    people: int, folder: Path | None, no_browser: bool, leave: bool
) -> None:
    """A whole collection in a minute: two services, simulated devices, a dashboard.

    A shuffler and an analyst run as two processes on this machine, with a database each.
    Every device randomizes its answer at its own level and seals it for the analyst; the
    shuffler strips who sent it; the analyst certifies, opens, counts and publishes.
    """
    from shuffledp.service.demo import demo

    # Whoever ends this ends the services, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        begun = time.monotonic()
        with _bar() as (say, progress):
            done = stack.enter_context(
                demo(folder, num_users=people, progress=progress, say=say)
            )
        _show(done, time.monotonic() - begun)
        if leave:
            return
        if not no_browser:
            webbrowser.open(done.dashboard)
        with suppress(KeyboardInterrupt):
            click.echo("Ctrl-C ends it.")
            while True:
                time.sleep(1.0)


def _say_digests(tasks: list["Task"]) -> None:
    """Says what others compare: which tasks are served."""
    for task in tasks:
        click.echo(f"sha256 of task.json of {task.identity}: {task.fingerprint}")


@contextmanager
def _bar() -> Iterator[tuple[Callable[[str], None], Callable[[int, int], None]]]:
    """Shows, on a terminal, what is being done, and how many devices have answered."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    )
    with bar:
        shown = bar.add_task("begin", total=None)
        yield (
            lambda what: bar.update(shown, description=what),
            lambda done, total: bar.update(shown, completed=done, total=total),
        )


def _show(done: "Demo", seconds: float) -> None:
    estimate = Table(title=escape(done.task.question.text))
    for title in ("answer", "estimate", "95% interval", "truth"):
        estimate.add_column(title, justify="left" if title == "answer" else "right")
    for row, share in zip(
        done.result["estimate"]["rows"], done.truth.tolist(), strict=True
    ):
        low, high = row["interval"]
        estimate.add_row(
            escape(row["name"]),
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
        certificate.add_row(f"{level:g}", f"{people:,}", plain(spent), plain(promise))
    show(
        estimate,
        certificate,
        f"{done.delivery.accepted:,} reports in {seconds:.0f} s.\n"
        f"The dashboard: {done.dashboard}\n"
        f"The shuffler:  {done.shuffler}/tasks/{done.task.identity}",
    )
