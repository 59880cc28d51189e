"""The analyst's service, put together from folders and addresses."""

from collections.abc import Sequence
from pathlib import Path

from starlette.applications import Starlette

from shuffledp.service.agreement import check_alone, load_agreed, load_former
from shuffledp.service.analyst.app import create_analyst
from shuffledp.service.analyst.hosted import AnalystHost
from shuffledp.service.analyst.opening import OpenShards, open_on_all_cores
from shuffledp.service.analyst.sqlite_store import SqliteAnalystStore
from shuffledp.service.calls import service_url
from shuffledp.service.run import hosted_tasks, store_at
from shuffledp.service.secrets import ANALYST_FILE, AnalystSecrets
from shuffledp.service.wire.parties import Role
from shuffledp.service.wire.task import Task


def analyst_app(
    folders: Sequence[Path],
    database: str,
    *,
    shuffler: str | None,
    open_shards: OpenShards = open_on_all_cores,
) -> Starlette:
    """Returns the service, not started yet.

    Args:
        folders: Of tasks, each with task.json, three signatures and analyst.json.
        database: As in `store_at`.
        shuffler: Its URL; None if the dashboard should not ask it.
        open_shards: How the messages of a batch are opened and counted.

    Raises:
        DataError: If a file is missing or damaged, or there are the other service's keys.
        InvalidInputError: If keys belong to another task, or an address is none.
    """
    url = None if shuffler is None else service_url(shuffler)
    tasks = hosted_tasks(folders, _load)
    store = store_at(database, sqlite=SqliteAnalystStore)
    return create_analyst(tasks, store, shuffler_url=url, open_shards=open_shards)


def _load(folder: Path) -> tuple[Task, AnalystHost]:
    task = load_agreed(folder)
    check_alone(folder, Role.ANALYST)
    secrets = AnalystSecrets.load(folder / ANALYST_FILE)
    return task, AnalystHost(task, secrets, load_former(folder, task))
