"""The analyst's service, assembled from folders and URLs."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from starlette.applications import Starlette

from shuffledp_services.analyst.analyst_app import create_analyst
from shuffledp_services.analyst.analyst_host import AnalystHost, with_evidence
from shuffledp_services.analyst.auditor_evidence import EvidenceFile
from shuffledp_services.analyst.shard_opening import OpenShards, open_on_all_cores
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.http.http_client import service_url
from shuffledp_services.http.trusted_certificates import trusted_certificates
from shuffledp_services.operator.server import hosted_tasks, store_at
from shuffledp_services.operator.task_signatures import (
    check_alone,
    load_agreed,
    load_former,
)
from shuffledp_services.storage.key_files import (
    ANALYST_FILE,
    AnalystSecrets,
)
from shuffledp_services.storage.new_files import make_folder
from shuffledp_services.wire.parties import Role
from shuffledp_services.wire.signed_plan import prove_plan_rule
from shuffledp_services.wire.task import Task


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
    """Builds the service without starting it.

    Args:
        folders: Folders of tasks, each with task.json, three signatures and analyst.json.
        database: As in `store_at`.
        shuffler: URL of the shuffler; None if the dashboard should not query it.
        open_shards: Opens and counts the messages of a batch.
        keep_batches: Folder that retains published batches, sealed; None to delete them.
        audits: Evidence to show, each about one of the tasks.
        ca: As in `trusted_certificates`.

    Raises:
        DataError: If a file is missing or damaged, a folder has the other service's keys,
            or batches cannot be retained.
        InvalidInputError: If keys belong to another task, or a URL is invalid.
    """
    url = None if shuffler is None else service_url(shuffler)
    tasks = hosted_tasks(folders, partial(_load, retained_batches=keep_batches))
    tasks = with_evidence(tasks, audits)
    if keep_batches is not None:
        # A batch that cannot be retained later would prevent its result's publication.
        make_folder(keep_batches)
    store = store_at(database, sqlite=SqliteAnalystStore)
    # Read now, so that an unreadable file is reported at the start.
    trusted_certificates(ca)
    return create_analyst(
        tasks, store, shuffler_url=url, open_shards=open_shards, ca=ca
    )


def _load(folder: Path, *, retained_batches: Path | None) -> tuple[Task, AnalystHost]:
    task = load_agreed(folder)
    prove_plan_rule(task)
    check_alone(folder, Role.ANALYST)
    secrets = AnalystSecrets.load(folder / ANALYST_FILE)
    return task, AnalystHost(task, secrets, load_former(folder, task), retained_batches)
