"""Endpoints of the analyst that only read: status, results, evidence and pages."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
)

from shuffledp.errors import DataError
from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.analyst.analyst_store import AnalystStore, EpochRecord
from shuffledp_services.analyst.auditor_evidence import evidence_part
from shuffledp_services.analyst.encoded_pages import EncodedPages
from shuffledp_services.analyst.ledger import ledger_of, replacements
from shuffledp_services.analyst.pages import Pages
from shuffledp_services.analyst.progress import Progress, ShufflerProgress
from shuffledp_services.collection.analyst_state import AnalystState
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.task import Task


class ReadEndpoints:
    """Answers requests from the store without changing it."""

    def __init__(
        self,
        tasks: Mapping[str, AnalystHost],
        store: AnalystStore,
        shuffler_url: str | None,
        ca: Path | None,
    ) -> None:
        self._tasks, self._store = tasks, store
        self._shuffler_named = shuffler_url is not None
        self._shuffler = ShufflerProgress(shuffler_url, ca)
        self._pages, self._encoded = Pages(), EncodedPages()
        # The style sheet does not change while the service runs.
        self._style = self._pages.style.encode()

    async def close(self) -> None:
        """Closes the connection to the shuffler."""
        await self._shuffler.close()

    def hosted(self, request: Request) -> AnalystHost:
        """Returns the task that a path names.

        Raises:
            Refusal: If there is no such task.
        """
        hosted = self._tasks.get(request.path_params["identity"])
        if hosted is None:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a task of this service.")
        return hosted

    async def get_task(self, request: Request) -> Response:
        """Returns the status of a task."""
        task = self.hosted(request).task
        state, records = await self._read(task)
        formers = await run_in_threadpool(self._store.formers, task)
        # While a batch is being counted, the last record is of an epoch before it.
        last = records[-1] if records and records[-1].epoch == state.epoch else None
        ledger = ledger_of(state, records)
        answer: dict[str, Any] = {
            "task": task.identity,
            "digest": task.fingerprint,
            "epoch": state.epoch,
            "stage": state.stage.name.lower(),
            "phase": state.phase.value,
            "awaited": state.awaited,
            "people": None if last is None else list(last.people),
            "failures": [] if last is None else list(last.failures),
            "choices": list(task.choices),
            "promise": list(task.promise),
            "spent": list(state.spent),
            "allowance": list(task.allowance),
            "delta_spent": ledger.delta,
            "exhausted": list(state.exhausted),
            "replaced": [
                {"after": after, "former": former.fingerprint, "keys": list(roles)}
                for former, after, roles in replacements(task, formers)
            ],
            "epochs": [
                {
                    "epoch": record.epoch,
                    "phase": record.phase,
                    "people": list(record.people),
                    "spent": list(record.spent),
                }
                for record in records
            ],
        }
        return JSONResponse(answer)

    async def get_result(self, request: Request) -> Response:
        """Returns the published result of an epoch."""
        return JSONResponse((await self._published(request))[1])

    async def get_audit(self, request: Request) -> Response:
        """Returns the evidence of an auditor, unchanged."""
        hosted = self.hosted(request)
        if hosted.evidence is None:
            raise Refusal(Reason.NOT_FOUND, "Expected evidence: none was handed over.")
        _, records = await self._read(hosted.task)
        try:
            evidence, _ = await run_in_threadpool(
                hosted.evidence.read_about, hosted.task, published=_published(records)
            )
        except DataError:
            # The error must not reveal the path of the file.
            raise Refusal(
                Reason.NOT_FOUND,
                "Expected evidence about published epochs of this task: the file is about "
                "others, or unreadable.",
            ) from None
        return JSONResponse(evidence.to_dict())

    async def get_messages(self, request: Request) -> Response:
        """Returns the SHA-256 of all messages of a published epoch, 32 bytes each."""
        task, epoch = self.hosted(request).task, request.path_params["epoch"]
        _, records = await self._read(task)
        if not any(record.epoch == epoch and record.published for record in records):
            raise Refusal(Reason.NOT_FOUND, "Expected an epoch that is published.")
        path = self._store.messages(task, epoch)
        if not path.is_file():
            # After a restore of only the database, results have no lists.
            raise Refusal(
                Reason.NOT_FOUND,
                f"Expected the list of messages of epoch {epoch}: its file is missing "
                "here, and its SHA-256 is in the result.",
            )
        return FileResponse(path, media_type="application/octet-stream")

    async def get_former(self, request: Request) -> Response:
        """Returns a task whose keys were replaced: receipts name it by its digest."""
        task, wanted = self.hosted(request).task, request.path_params["digest"]
        for former in await run_in_threadpool(self._store.formers, task):
            if former.task.fingerprint == wanted:
                return Response(former.task.to_json(), media_type="application/json")
        raise Refusal(Reason.NOT_FOUND, "Expected a former task's digest.")

    async def show_tasks(self, _request: Request) -> Response:
        """Returns the page of all tasks."""

        async def render() -> str:
            tasks = [hosted.task for hosted in self._tasks.values()]
            return self._pages.tasks([(await self._read(task))[0] for task in tasks])

        # No inputs beside the store, whose version `_page` adds.
        return await self._page("tasks", (), render)

    async def show_task(self, request: Request) -> Response:
        """Returns the page of a task with its last epoch, or with a requested one."""
        hosted, epoch = self.hosted(request), request.path_params.get("epoch")
        # Part of the key below: a page is encoded again only if one of its inputs
        # changed.
        progress = await self._shuffler.ask(hosted.task)
        audit: bytes | None = None
        if hosted.evidence is not None:
            # The file may be replaced at any time, which its digest shows.
            audit = await run_in_threadpool(hosted.evidence.digest)

        async def render() -> str:
            return await self._task_page(hosted, epoch, progress)

        name = ("dashboard", hosted.task.identity, epoch)
        return await self._page(name, (progress, audit), render)

    async def show_result(self, request: Request) -> Response:
        """Returns the page of an epoch that is over, for links from outside."""
        task, epoch = self.hosted(request).task, request.path_params["epoch"]

        async def render() -> str:
            _, records = await self._read(task)
            record = _over(records, epoch)
            return await run_in_threadpool(self._pages.result, task, records, record)

        return await self._page(("result", task.identity, epoch), (), render)

    async def get_picture(self, request: Request) -> Response:
        """Returns the picture of a published result, as a file to download."""
        task, result = await self._published(request)
        picture = await run_in_threadpool(self._pages.picture, task, result)
        name = f"{task.identity}-{result['epoch']}.svg"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(picture, media_type="image/svg+xml", headers=headers)

    async def show_style(self, _request: Request) -> Response:
        """Returns the style sheet."""
        return Response(self._style, media_type="text/css")

    async def _page(
        self, name: Hashable, inputs: Hashable, render: Callable[[], Awaitable[str]]
    ) -> Response:
        """Returns a page that depends on the store and on further inputs."""
        # The version changes with every write, and is read before the data: no page is
        # served from an old state.
        inputs = (self._store.version, inputs)
        return HTMLResponse(await self._encoded.get(name, inputs, render))

    async def _task_page(
        self, hosted: AnalystHost, epoch: int | None, progress: Progress | None
    ) -> str:
        task = hosted.task
        state, records = await self._read(task)
        last = records[-1] if records else None
        record = last if epoch is None else _over(records, epoch)
        formers = await run_in_threadpool(self._store.formers, task)
        audit = await run_in_threadpool(
            evidence_part,
            hosted.evidence,
            task,
            published=_published(records),
            epoch=None if record is None else record.epoch,
        )
        return await run_in_threadpool(
            self._pages.task,
            state,
            records,
            record,
            progress,
            shuffler_named=self._shuffler_named,
            formers=formers,
            audit=audit,
        )

    async def _published(self, request: Request) -> tuple[Task, dict[str, Any]]:
        task, epoch = self.hosted(request).task, request.path_params["epoch"]
        _, records = await self._read(task)
        record = _over(records, epoch)
        if record.result is None:
            # A withheld epoch answers with the reason for which it was withheld.
            raise record.refusal
        return task, record.result

    async def _read(self, task: Task) -> tuple[AnalystState, list[EpochRecord]]:
        # In threads: reading may wait for the disk or for a write in progress.
        state = await run_in_threadpool(self._store.state, task)
        return state, await run_in_threadpool(self._store.epochs, task)


def _published(records: Sequence[EpochRecord]) -> set[int]:
    return {record.epoch for record in records if record.published}


def _over(records: Sequence[EpochRecord], epoch: int) -> EpochRecord:
    for record in records:
        if record.epoch == epoch:
            return record
    raise Refusal(Reason.NOT_FOUND, "Expected an epoch that is over.")
