"""`shuffledp serve`: the services, and a demonstration of a collection."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shuffledp.cli.number_types import WholeRange
from shuffledp.errors import InvalidInputError
from shuffledp_services.commands.serve_demo import demo_command
from shuffledp_services.commands.service_options import ca_option

if TYPE_CHECKING:
    from shuffledp_services.analyst.auditor_evidence import EvidenceFile
    from shuffledp_services.monitoring.event_log import LogFormat
    from shuffledp_services.wire.task import Task

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
# 0 asks the system for a free port.
_RANGE = WholeRange(0, _PORTS - 1)

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
    type=WholeRange(1, 65535),
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

    The two parties must not share their data: they should be two organizations, on two
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
@ca_option
@click.option(
    "--close-at",
    type=WholeRange(min=1),
    metavar="PEOPLE",
    help="Close a step by itself once so many people reported and every level has enough "
    "[when told to: shuffledp task close].",
)
@click.option(
    "--workers",
    type=WholeRange(1, 64),
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
    ca: Path | None,
    close_at: int | None,
    workers: int,
) -> None:
    """Collect sealed reports, forget who sent them and when, and hand them over.

    Every FOLDER needs task.json, its three signatures, shuffler.json and a roster for
    every epoch; nothing of the other parties.
    """
    # Imported here: services need an extra.
    from shuffledp_services.monitoring.event_log import logged
    from shuffledp_services.operator.serve_shuffler import check_shared, shuffler_app
    from shuffledp_services.operator.server import run
    from shuffledp_services.operator.worker_processes import run_workers
    from shuffledp_services.participant import page_folder
    from shuffledp_services.storage.key_files import load_task

    if workers > 1:
        # Processes can only share a PostgreSQL database.
        check_shared(database)
    # Worker i serves its metrics at the i-th port after the first.
    if metrics_port is not None and metrics_port + workers > _PORTS:
        raise InvalidInputError(
            f"Expected --metrics-port with {workers - 1} more ports after it."
        )
    tasks = [load_task(folder) for folder in folders]

    def started(url: str) -> None:
        pages = [f"{url}/tasks/{t.identity}/take-part#token=..." for t in tasks]
        # Where the page was not built there is nothing to invite people to.
        invited = f"; take part at {', '.join(pages)}" if page_folder() else ""
        click.echo(f"Shuffler listening on {url}{invited}")
        _say_digests(tasks)

    # Each worker builds an application of its own from this.
    build = partial(
        shuffler_app, folders, database, analyst=analyst, close_at=close_at, ca=ca
    )
    with logged(log_format):
        # A single worker is this process: its database need not be shared.
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
@ca_option
@click.option(
    "--spark",
    metavar="URL",
    help="Open batches on Apache Spark, instead of on all cores: local[*], "
    "spark://HOST:PORT or sc://HOST:PORT. Executors get the private key, and must reach "
    "the database's folder under the same path.",
)
@click.option(
    "--keep-batches",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Keep published batches there, sealed as they came, to hand one to an auditor "
    "[delete them].",
)
@click.option(
    "--audit",
    "audits",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Evidence that an auditor handed over (shuffledp audit collection), to show on "
    "the dashboard of its task if all epochs in it are published; it is read again "
    "whenever somebody looks.",
)
@click.option(
    "--auditor",
    metavar="NAME",
    help="Who handed it over: stands beside it.",
)
def analyst_command(
    folders: tuple[Path, ...],
    database: str,
    host: str,
    port: int,
    metrics_port: int | None,
    log_format: "LogFormat",
    shuffler: str | None,
    ca: Path | None,
    spark: str | None,
    keep_batches: Path | None,
    audits: tuple[Path, ...],
    auditor: str | None,
) -> None:
    """Certify batches, open and count them, publish results that keep the promises.

    Every FOLDER needs task.json, its three signatures and analyst.json; nothing of the
    other parties.
    """
    # Imported here: services need an extra.
    from shuffledp_services.commands.spark import opening
    from shuffledp_services.monitoring.event_log import logged
    from shuffledp_services.operator.serve_analyst import analyst_app
    from shuffledp_services.operator.server import run
    from shuffledp_services.storage.key_files import load_task

    handed = _audits(audits, auditor)
    tasks = [load_task(folder) for folder in folders]

    def started(url: str) -> None:
        click.echo(f"Dashboard: {url}/")
        _say_digests(tasks)

    # Spark starts before the port opens, and stops after it is closed.
    with logged(log_format), opening(spark) as open_shards:
        run(
            analyst_app(
                folders,
                database,
                shuffler=shuffler,
                open_shards=open_shards,
                keep_batches=keep_batches,
                audits=handed,
                ca=ca,
            ),
            host=host,
            port=port,
            started=started,
            metrics_port=metrics_port,
        )


def _audits(paths: tuple[Path, ...], auditor: str | None) -> "list[EvidenceFile]":
    from shuffledp_services.analyst.auditor_evidence import EvidenceFile

    # The dashboard names the auditor beside the evidence: neither goes without the other.
    if bool(paths) is not bool(auditor and auditor.strip() and auditor.isprintable()):
        raise InvalidInputError(
            "Expected --audit with --auditor, a name: people want to know who says so."
        )
    return [EvidenceFile(path, auditor or "") for path in paths]


def _say_digests(tasks: list["Task"]) -> None:
    """Prints the digests of the served tasks, for comparison by the other parties."""
    for task in tasks:
        click.echo(f"sha256 of task.json of {task.identity}: {task.fingerprint}")


serve_group.add_command(demo_command)
