"""The analyst's service, put together from folders and addresses."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from starlette.applications import Starlette

from shuffledp.service.analyst.app import create_analyst
from shuffledp.service.analyst.evidence_shown import EvidenceFile
from shuffledp.service.analyst.hosted import AnalystHost, with_evidence
from shuffledp.service.analyst.opening import OpenShards, open_on_all_cores
from shuffledp.service.analyst.sqlite_store import SqliteAnalystStore
from shuffledp.service.http.http_client import service_url
from shuffledp.service.http.trusted_certificates import trusted_certificates
from shuffledp.service.operator.server import hosted_tasks, store_at
from shuffledp.service.operator.task_signatures import (
    check_alone,
    load_agreed,
    load_former,
)
from shuffledp.service.storage.key_files import (
    ANALYST_FILE,
    AnalystSecrets,
    make_folder,
)
from shuffledp.service.wire.parties import Role
from shuffledp.service.wire.plan import prove_plan_rule
from shuffledp.service.wire.task import Task


def analyst_app(
    folders: Sequence[Path],
    database: str,
    *,
    shuffler: str | None,
    open_shards: OpenShards = open_on_all_cores,
    keep_batches: Path | None = None,
    audits: Sequence[EvidenceFile] = (),
    ca: Path | None = None,
) -> Starlette:
    """Returns the service, not started yet.

    Args:
        folders: Of tasks, each with task.json, three signatures and analyst.json.
        database: As in `store_at`.
        shuffler: Its URL; None if the dashboard should not ask it.
        open_shards: How the messages of a batch are opened and counted.
        keep_batches: Where published batches are kept, sealed; None to delete them.
        audits: Evidence to show, each about one of the tasks.
        ca: As in `trusted_certificates`.

    Raises:
        DataError: If a file is missing or damaged, there are the other service's keys, or
            batches cannot be kept.
        InvalidInputError: If keys belong to another task, or an address is none.
    """
    url = None if shuffler is None else service_url(shuffler)
    tasks = hosted_tasks(folders, partial(_load, kept=keep_batches))
    tasks = with_evidence(tasks, audits)
    if keep_batches is not None:
        # What cannot be kept later would keep a result from being published.
        make_folder(keep_batches)
    store = store_at(database, sqlite=SqliteAnalystStore)
    # A file that cannot be read shows now, rather than when somebody looks.
    trusted_certificates(ca)
    return create_analyst(
        tasks, store, shuffler_url=url, open_shards=open_shards, ca=ca
    )


def _load(folder: Path, *, kept: Path | None) -> tuple[Task, AnalystHost]:
    task = load_agreed(folder)
    prove_plan_rule(task)
    check_alone(folder, Role.ANALYST)
    secrets = AnalystSecrets.load(folder / ANALYST_FILE)
    return task, AnalystHost(task, secrets, load_former(folder, task), kept)
