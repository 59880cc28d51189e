"""HTTP application of the analyst: routes, and requests that bring in batches."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from hmac import compare_digest
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    JSONResponse,
    Response,
)
from starlette.routing import Route

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.analyst.analyst_host import AnalystHost, ignore_boundary
from shuffledp_services.analyst.analyst_store import AnalystStore
from shuffledp_services.analyst.batch_processing import acknowledge
from shuffledp_services.analyst.headers import SecurityHeaders
from shuffledp_services.analyst.intake import Manifests, save_shard
from shuffledp_services.analyst.read_endpoints import ReadEndpoints
from shuffledp_services.analyst.sealed_batch import SealedBatch
from shuffledp_services.analyst.shard_opening import OpenShards, open_on_all_cores
from shuffledp_services.analyst.worker import Worker
from shuffledp_services.http.guarded_connection import mark_authenticated
from shuffledp_services.http.problems import HideCrashes, handlers
from shuffledp_services.monitoring.event_log import Event, log_event
from shuffledp_services.monitoring.metrics import CountRequests, TaskMetrics
from shuffledp_services.monitoring.readiness import NO_ROOM, STOPPING, Readiness
from shuffledp_services.wire.batch import BatchHeader
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.task import Task

_LOOK_SECONDS = 5.0


def create_analyst(
    tasks: Mapping[str, AnalystHost],
    store: AnalystStore,
    *,
    shuffler_url: str | None,
    open_shards: OpenShards = open_on_all_cores,
    reached: Callable[[str], None] = ignore_boundary,
    ca: Path | None = None,
) -> Starlette:
    """Builds the application.

    Args:
        tasks: Hosted tasks by identity.
        store: Opened when the service starts, and closed when it stops.
        shuffler_url: URL where the dashboard queries a collection's progress; None to show
            none.
        open_shards: Opens and counts the messages of a batch.
        reached: Called with the name of every durable boundary.
        ca: As in `trusted_certificates`.
    """
    answers = ReadEndpoints(tasks, store, shuffler_url, ca)
    analyst = _Analyst(tasks, store, answers, open_shards, reached)
    task_path = "/tasks/{identity}"
    app = Starlette(
        routes=[
            # Alive, without a look at the store; "/ready" tells whether requests would
            # succeed.
            Route("/health", _health),
            Route("/ready", analyst.readiness.get_ready),
            Route("/", answers.show_tasks),
            Route("/dashboard.css", answers.show_style),
            Route(task_path, answers.get_task),
            Route(f"{task_path}/batches", analyst.post_batch, methods=["POST"]),
            Route(
                f"{task_path}/batches/{{batch}}/shards/{{place:int}}",
                analyst.put_shard,
                methods=["PUT"],
            ),
            Route(f"{task_path}/epochs/{{epoch:int}}", answers.get_result),
            Route(f"{task_path}/epochs/{{epoch:int}}/messages", answers.get_messages),
            Route(f"{task_path}/former/{{digest}}", answers.get_former),
            Route(f"{task_path}/audit", answers.get_audit),
            Route(f"{task_path}/dashboard", answers.show_task),
            Route(f"{task_path}/dashboard/{{epoch:int}}", answers.show_task),
            Route(f"{task_path}/results/{{epoch:int}}", answers.show_result),
            Route(f"{task_path}/results/{{epoch:int}}.svg", answers.get_picture),
        ],
        middleware=[
            Middleware(CountRequests),
            Middleware(SecurityHeaders),
            Middleware(HideCrashes),
        ],
        exception_handlers=handlers,
        lifespan=analyst.live,
    )
    app.state.readiness, app.state.task_metrics = (
        analyst.readiness,
        analyst.task_metrics,
    )
    # The shuffler answers frequent requests without Starlette; the analyst has few.
    app.state.answer_plain = lambda _request: None
    return app


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


class _Analyst:
    """Receives batches, and submits them to the worker."""

    def __init__(
        self,
        tasks: Mapping[str, AnalystHost],
        store: AnalystStore,
        answers: ReadEndpoints,
        open_shards: OpenShards,
        reached: Callable[[str], None],
    ) -> None:
        self._tasks, self._store, self._reached = tasks, store, reached
        self._answers, self._open_shards = answers, open_shards
        self._manifests = Manifests()
        self.readiness = Readiness({"tasks": len(tasks)})
        self._worker: Worker | None = None
        self._full = False

    @asynccontextmanager
    async def live(self, _app: Starlette) -> AsyncIterator[None]:
        """Opens the store and resumes interrupted batches; closes both at the end."""
        hosted_tasks = self._tasks.values()
        replaced = self._store.open(
            [hosted.task for hosted in hosted_tasks],
            [hosted.former for hosted in hosted_tasks if hosted.former is not None],
        )
        for task in replaced:
            log_event(Event.KEYS_REPLACED, self._store.state(task))
        self._worker = Worker(self._store, self._open_shards, self._reached)
        for hosted in self._tasks.values():
            # A batch that was received before a restart is still to be counted.
            self._worker.submit(hosted)
        self.readiness.set_storage(usable=True)
        checking = asyncio.create_task(self._check_storage())
        try:
            yield
        finally:
            self.readiness.reason = STOPPING
            checking.cancel()
            await self._answers.close()
            # Before the store is closed, which the worker still uses.
            await run_in_threadpool(self._worker.stop)
            self._store.close()

    async def task_metrics(self) -> list[TaskMetrics]:
        """Returns the public state of all tasks for the metrics."""
        metrics = []
        for hosted in self._tasks.values():
            state = await run_in_threadpool(self._store.state, hosted.task)
            stage, phase = state.stage.name.lower(), state.phase.value
            metrics.append(
                TaskMetrics(hosted.task.identity, state.epoch, stage, phase, {})
            )
        return metrics

    async def post_batch(self, request: Request) -> Response:
        """Receives a manifest; acknowledges the batch once all shards are on the disk."""
        hosted = self._answers.hosted(request)
        task = hosted.task
        manifest, header = await self._manifests.read(request, task)
        state = await run_in_threadpool(self._store.state, task)
        known = await self._acknowledgement(task, header)
        # A batch that cannot be accepted is refused before its shards are received.
        if known is None and (after := state.receive(header)) is not state:
            with self._storing(task):
                batch = await run_in_threadpool(
                    self._store.begin_batch, task, header, manifest
                )
            self._reached("after manifest")
            # Another request with the same batch may have been first.
            if batch is not None:
                if missing := await run_in_threadpool(batch.missing):
                    return JSONResponse({"missing": missing}, HTTPStatus.ACCEPTED)
                with self._storing(task):
                    await self._receive(hosted, batch)
                log_event(Event.RECEIVED, after)
        counting = self._running_worker.submit(hosted)
        if header.stage is EpochStage.CHOICE and known is None:
            # Shielded: if the shuffler disconnects, it gets the plan when it asks again.
            await asyncio.shield(asyncio.wrap_future(counting))
        acknowledged = await self._acknowledgement(task, header)
        if acknowledged is None:
            # No plan follows: the epoch was withheld after its choices.
            acknowledged = acknowledge(hosted, header.batch_id)
        return Response(acknowledged, media_type="application/json")

    async def put_shard(self, request: Request) -> Response:
        """Receives a shard of the batch whose manifest was received."""
        task = self._answers.hosted(request).task
        batch = await run_in_threadpool(self._store.begun_batch, task)
        batch_id, index = request.path_params["batch"], request.path_params["place"]
        # Only a party that has seen the manifest knows the id of an arriving batch.
        if batch is None or not compare_digest(
            to_text(batch.header.batch_id).encode(), batch_id.encode()
        ):
            raise Refusal(Reason.NOT_OPEN, "Expected a shard of the batch that comes.")
        if index >= len(batch.header.shards):
            raise Refusal(Reason.NOT_FOUND, "Expected a shard that the manifest names.")
        # From now on the connection is not dropped in favor of others.
        mark_authenticated(request.scope)
        with self._storing(task):
            await save_shard(request, batch, index)
        self._reached("after shard")
        return Response(status_code=HTTPStatus.NO_CONTENT)

    @property
    def _running_worker(self) -> Worker:
        if self._worker is None:
            raise RuntimeError("Expected the service to run.")
        return self._worker

    async def _check_storage(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if not self._full:
                await self.readiness.check_storage(
                    lambda: run_in_threadpool(self._store.check)
                )
            # A load balancer sends no shard to a service that is not ready, so room on the
            # disk has to be checked without one.
            elif await self.readiness.check_storage(
                lambda: run_in_threadpool(self._store.check_room), NO_ROOM
            ):
                self._full = False

    @contextmanager
    def _storing(self, task: Task) -> Iterator[None]:
        """Logs a full disk once, until there is room again."""
        try:
            yield
        except Refusal as refusal:
            if refusal.reason is Reason.STORAGE and not self._full:
                self._full = True
                self.readiness.set_storage(usable=False, otherwise=NO_ROOM)
                log_event(Event.FULL, task=task.identity)
            raise

    async def _acknowledgement(self, task: Task, header: BatchHeader) -> bytes | None:
        return await run_in_threadpool(
            self._store.acknowledgement, task, header.batch_id
        )

    async def _receive(self, hosted: AnalystHost, batch: SealedBatch) -> None:
        # A batch of choices is acknowledged together with its plan, once there is one.
        answered = batch.header.stage is EpochStage.ANSWER
        acknowledged = acknowledge(hosted, batch.header.batch_id) if answered else None
        self._reached("before batch")
        await run_in_threadpool(self._store.receive, hosted.task, batch, acknowledged)
        self._reached("after batch")
