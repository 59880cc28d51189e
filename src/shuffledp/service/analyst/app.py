"""HTTP of the analyst: batches in, results and the dashboard out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from shuffledp.extras import require
from shuffledp.service.analyst.headers import SecurityHeaders
from shuffledp.service.analyst.hosted import AnalystHost, nothing
from shuffledp.service.analyst.intake import BatchIntake
from shuffledp.service.analyst.ledger import ledger_of, replacements
from shuffledp.service.analyst.pages import Pages
from shuffledp.service.analyst.progress import ask_shuffler
from shuffledp.service.analyst.store import AnalystStore, EpochRecord
from shuffledp.service.analyst.work import acknowledge
from shuffledp.service.analyst.worker import Worker
from shuffledp.service.collection.analyst_state import AnalystState
from shuffledp.service.connections import prove
from shuffledp.service.events import Event, say
from shuffledp.service.metrics import CountRequests, Standing
from shuffledp.service.problems import HideCrashes, handlers
from shuffledp.service.readiness import STOPPING, Readiness
from shuffledp.service.wire.batch import BatchHeader
from shuffledp.service.wire.refusal import Reason, Refusal
from shuffledp.service.wire.task import Task
from shuffledp.statistics.survey import EpochStage

require("starlette", extra="service", what="A service")

from starlette.applications import Starlette  # noqa: E402
from starlette.concurrency import run_in_threadpool  # noqa: E402
from starlette.middleware import Middleware  # noqa: E402
from starlette.requests import ClientDisconnect, Request  # noqa: E402
from starlette.responses import (  # noqa: E402
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
)
from starlette.routing import Route  # noqa: E402

_LOOK_SECONDS = 5.0


def create_analyst(
    tasks: Mapping[str, AnalystHost],
    store: AnalystStore,
    *,
    shuffler_url: str | None,
    reached: Callable[[str], None] = nothing,
) -> Starlette:
    """Returns the service.

    Args:
        tasks: By identity.
        store: Opened when the service starts, and closed when it stops.
        shuffler_url: Where the dashboard asks how far a collection is; None for nowhere.
        reached: Is told the name of every durable boundary.
    """
    analyst = _Analyst(tasks, store, shuffler_url, reached)
    one = "/tasks/{identity}"
    app = Starlette(
        routes=[
            Route("/health", _health),
            Route("/ready", analyst.readiness.get_ready),
            Route("/", analyst.show_tasks),
            Route("/dashboard.css", analyst.show_style),
            Route(one, analyst.get_task),
            Route(f"{one}/batches", analyst.post_batch, methods=["POST"]),
            Route(f"{one}/epochs/{{epoch:int}}", analyst.get_result),
            Route(f"{one}/epochs/{{epoch:int}}/messages", analyst.get_messages),
            Route(f"{one}/former/{{digest}}", analyst.get_former),
            Route(f"{one}/dashboard", analyst.show_task),
            Route(f"{one}/dashboard/{{epoch:int}}", analyst.show_task),
            Route(f"{one}/results/{{epoch:int}}", analyst.show_result),
            Route(f"{one}/results/{{epoch:int}}.svg", analyst.get_picture),
        ],
        middleware=[
            Middleware(CountRequests),
            Middleware(SecurityHeaders),
            Middleware(HideCrashes),
        ],
        exception_handlers=handlers,
        lifespan=analyst.live,
    )
    app.state.readiness, app.state.standings = analyst.readiness, analyst.standings
    return app


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


class _Analyst:
    """What the paths do."""

    def __init__(
        self,
        tasks: Mapping[str, AnalystHost],
        store: AnalystStore,
        shuffler_url: str | None,
        reached: Callable[[str], None],
    ) -> None:
        self._tasks, self._store, self._reached = tasks, store, reached
        self._shuffler_url = shuffler_url
        self._pages = Pages()
        self.readiness = Readiness({"tasks": len(tasks)})
        self._worker: Worker | None = None

    @asynccontextmanager
    async def live(self, _app: Starlette) -> AsyncIterator[None]:
        """Goes on with what was interrupted, and stops without losing anything."""
        hosted_tasks = self._tasks.values()
        replaced = self._store.open(
            [hosted.task for hosted in hosted_tasks],
            [hosted.former for hosted in hosted_tasks if hosted.former is not None],
        )
        for task in replaced:
            say(Event.KEYS_REPLACED, self._store.state(task))
        self._worker = Worker(self._store, self._reached)
        for hosted in self._tasks.values():
            self._worker.submit(hosted)
        self.readiness.storage(usable=True)
        looking = asyncio.create_task(self._look())
        try:
            yield
        finally:
            self.readiness.reason = STOPPING
            looking.cancel()
            await run_in_threadpool(self._worker.stop)
            self._store.close()

    async def standings(self) -> list[Standing]:
        """Returns what monitoring may know."""
        found = []
        for hosted in self._tasks.values():
            state = await run_in_threadpool(self._store.state, hosted.task)
            stage, phase = state.stage.name.lower(), state.phase.value
            found.append(Standing(hosted.task.identity, state.epoch, stage, phase, {}))
        return found

    async def post_batch(self, request: Request) -> Response:
        """Keeps a batch, and acknowledges it once it is on the disk."""
        hosted = self._hosted(request)
        task = hosted.task
        intake = BatchIntake(request.stream())
        try:
            header = await intake.header(task)
            prove(request.scope)
            state = await run_in_threadpool(self._store.state, task)
            batch = (task, header.batch_id)
            known = await run_in_threadpool(self._store.acknowledgement, *batch)
            # What cannot be accepted is refused before its messages are read.
            if known is None and (after := state.receive(header)) is not state:
                await self._keep(hosted, intake, header)
                say(Event.RECEIVED, after)
        except ClientDisconnect:
            raise Refusal(Reason.MALFORMED, "Expected the whole batch.") from None
        counting = self._running_worker.submit(hosted)
        if header.stage is EpochStage.CHOICE and known is None:
            # Whoever hangs up finds the plan when she asks again.
            await asyncio.shield(asyncio.wrap_future(counting))
        acknowledged = await run_in_threadpool(self._store.acknowledgement, *batch)
        if acknowledged is None:
            # No plan follows: the epoch was withheld after its choices.
            acknowledged = acknowledge(hosted, header.batch_id)
        return Response(acknowledged, media_type="application/json")

    async def get_task(self, request: Request) -> Response:
        """Says where a task stands."""
        task = self._hosted(request).task
        state, records = await self._read(task)
        formers = await run_in_threadpool(self._store.formers, task)
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
        """Returns what was published of an epoch."""
        return JSONResponse((await self._published(request))[1])

    async def get_messages(self, request: Request) -> Response:
        """Returns the SHA-256 of all messages of a published epoch, 32 bytes each."""
        task, epoch = self._hosted(request).task, request.path_params["epoch"]
        _, records = await self._read(task)
        if not any(record.epoch == epoch and record.published for record in records):
            raise Refusal(Reason.NOT_FOUND, "Expected an epoch that is published.")
        path = self._store.messages(task, epoch)
        if not path.is_file():
            # Whoever restores the database alone has results without their lists.
            raise Refusal(
                Reason.NOT_FOUND,
                f"Expected the list of messages of epoch {epoch}: its file is missing "
                "here, and its SHA-256 is in the result.",
            )
        return FileResponse(path, media_type="application/octet-stream")

    async def get_former(self, request: Request) -> Response:
        """Returns a task whose keys were replaced, as it was: receipts of it name it."""
        task, wanted = self._hosted(request).task, request.path_params["digest"]
        for former in await run_in_threadpool(self._store.formers, task):
            if former.task.fingerprint == wanted:
                return Response(former.task.to_json(), media_type="application/json")
        raise Refusal(Reason.NOT_FOUND, "Expected a former task's digest.")

    async def show_tasks(self, _request: Request) -> Response:
        """Shows all tasks."""
        tasks = [hosted.task for hosted in self._tasks.values()]
        found = [(await self._read(task))[0] for task in tasks]
        return HTMLResponse(self._pages.tasks(found))

    async def show_task(self, request: Request) -> Response:
        """Shows one task, and its last epoch or the one that is asked for."""
        task, epoch = self._hosted(request).task, request.path_params.get("epoch")
        state, records = await self._read(task)
        last = records[-1] if records else None
        shown = last if epoch is None else _over(records, epoch)
        formers = await run_in_threadpool(self._store.formers, task)
        progress = await ask_shuffler(self._shuffler_url, task)
        page = await run_in_threadpool(
            self._pages.task,
            state,
            records,
            shown,
            progress,
            shuffler_named=self._shuffler_url is not None,
            formers=formers,
        )
        return HTMLResponse(page)

    async def show_result(self, request: Request) -> Response:
        """Shows one epoch that is over, to whoever has its address."""
        task, epoch = self._hosted(request).task, request.path_params["epoch"]
        _, records = await self._read(task)
        record = _over(records, epoch)
        page = await run_in_threadpool(self._pages.result, task, records, record)
        return HTMLResponse(page)

    async def get_picture(self, request: Request) -> Response:
        """Returns the picture of what was published of an epoch, as a file to keep."""
        task, result = await self._published(request)
        picture = await run_in_threadpool(self._pages.picture, task, result)
        name = f"{task.identity}-{result['epoch']}.svg"
        kept = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(picture, media_type="image/svg+xml", headers=kept)

    async def show_style(self, _request: Request) -> Response:
        """Returns the style sheet."""
        return Response(self._pages.style, media_type="text/css")

    @property
    def _running_worker(self) -> Worker:
        if self._worker is None:
            raise RuntimeError("Expected the service to run.")
        return self._worker

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            await self.readiness.look(lambda: run_in_threadpool(self._store.check))

    async def _published(self, request: Request) -> tuple[Task, dict[str, Any]]:
        task, epoch = self._hosted(request).task, request.path_params["epoch"]
        _, records = await self._read(task)
        record = _over(records, epoch)
        if record.result is None:
            raise record.refusal
        return task, record.result

    def _hosted(self, request: Request) -> AnalystHost:
        hosted = self._tasks.get(request.path_params["identity"])
        if hosted is None:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a task of this service.")
        return hosted

    async def _keep(
        self, hosted: AnalystHost, intake: BatchIntake, header: BatchHeader
    ) -> None:
        """Puts a batch on the disk; nothing is left of one that is not accepted."""
        path = self._store.incoming()
        answered = header.stage is EpochStage.ANSWER
        acknowledged = acknowledge(hosted, header.batch_id) if answered else None
        try:
            await intake.save(header, path)
            self._reached("before batch")
            await run_in_threadpool(
                self._store.receive, hosted.task, header, path, acknowledged
            )
            self._reached("after batch")
        finally:
            path.unlink(missing_ok=True)

    async def _read(self, task: Task) -> tuple[AnalystState, list[EpochRecord]]:
        state = await run_in_threadpool(self._store.state, task)
        return state, await run_in_threadpool(self._store.epochs, task)


def _over(records: Sequence[EpochRecord], epoch: int) -> EpochRecord:
    for record in records:
        if record.epoch == epoch:
            return record
    raise Refusal(Reason.NOT_FOUND, "Expected an epoch that is over.")
