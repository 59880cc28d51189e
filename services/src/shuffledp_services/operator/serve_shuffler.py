"""The shuffler's service, assembled from folders and URLs."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from starlette.applications import Starlette

from shuffledp.errors import InvalidInputError
from shuffledp_services.http.http_client import service_url
from shuffledp_services.operator.server import hosted_tasks, store_at
from shuffledp_services.operator.task_signatures import (
    check_alone,
    load_agreed,
    load_dummies,
    load_former,
)
from shuffledp_services.shuffler.analyst_client import AnalystClient
from shuffledp_services.shuffler.postgres_store import PostgresStore
from shuffledp_services.shuffler.shuffler_app import create_shuffler
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.shuffler.store import ShufflerStore
from shuffledp_services.storage.key_files import SHUFFLER_FILE, ShufflerSecrets
from shuffledp_services.storage.roster_files import last_roster_epoch, roster_reader
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.signed_plan import prove_plan_rule
from shuffledp_services.wire.task import Task


def shuffler_app(
    folders: Sequence[Path],
    database: str,
    *,
    analyst: str,
    close_at: int | None,
    ca: Path | None = None,
) -> Starlette:
    """Builds the service without starting it.

    Args:
        folders: Folders of tasks, each with task.json, three signatures and shuffler.json.
        database: As in `store_at`.
        analyst: URL of the analyst.
        close_at: Number of reports that closes a step automatically; None to leave that to
            the operator.
        ca: As in `trusted_certificates`.

    Raises:
        DataError: If a file is missing or damaged, or a folder has the other service's
            keys.
        InvalidInputError: If keys belong to another task, or a URL is invalid.
    """
    client = AnalystClient(service_url(analyst), ca=ca)
    tasks = hosted_tasks(folders, _load)
    store = store_at(database, sqlite=_in_file, postgres=_on_server)
    return create_shuffler(tasks, store, analyst=client, close_at=close_at)


def check_shared(database: str) -> None:
    """Raises InvalidInputError unless several processes can share a database.

    Args:
        database: As in `store_at`.
    """
    # Not opened: only the kind of the store matters.
    if store_at(database, sqlite=_in_file, postgres=_on_server).is_exclusive:
        raise InvalidInputError(
            "Expected --workers 1 with --database sqlite:///FILE, which one process has "
            "alone: several share postgresql://USER@HOST/NAME."
        )


def _load(folder: Path) -> tuple[Task, ShufflerHost]:
    task = load_agreed(folder)
    prove_plan_rule(task)
    check_alone(folder, Role.SHUFFLER)
    secrets = ShufflerSecrets.load(folder / SHUFFLER_FILE)
    rosters, former = roster_reader(folder, task), load_former(folder, task)
    last_roster = partial(last_roster_epoch, folder)
    return task, ShufflerHost(
        task, secrets, rosters, last_roster, former, load_dummies(folder, task)
    )


def _in_file(path: Path) -> ShufflerStore:
    return SqliteStore(path)


def _on_server(address: str) -> ShufflerStore:
    return PostgresStore(address)
