"""HTTP application of the shuffler: uploads in, batches out."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shuffledp_services.http.problems import HideCrashes, handlers
from shuffledp_services.monitoring import readiness
from shuffledp_services.monitoring.event_log import log_crash
from shuffledp_services.monitoring.metrics import CountRequests, TaskMetrics
from shuffledp_services.participant import NOT_BUILT
from shuffledp_services.shuffler.analyst_client import AnalystClient
from shuffledp_services.shuffler.challenges import CommandChallenges
from shuffledp_services.shuffler.clock import DeadlineClock, seconds_since_1970
from shuffledp_services.shuffler.collector import Collector
from shuffledp_services.shuffler.frequent_paths import (
    FrequentPathMiddleware,
    FrequentPaths,
    OkResponse,
    UploadRequest,
)
from shuffledp_services.shuffler.handover import Handover
from shuffledp_services.shuffler.page_files import INDEX, PageFiles
from shuffledp_services.shuffler.shuffler_host import ShufflerHost, ignore_boundary
from shuffledp_services.shuffler.store import ShufflerStore
from shuffledp_services.shuffler.upload_bodies import UploadBodies, read_command_body
from shuffledp_services.wire.canonical import read_object
from shuffledp_services.wire.command import Action, Command
from shuffledp_services.wire.refusal import Reason, Refusal

# Seconds between periodic work and between published counts; tolerated clock difference.
_TEND_SECONDS = 1.0
_SHOW_SECONDS = 60.0
_CLOCKS_SECONDS = 60.0
_FRESH = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

_log = logging.getLogger("shuffledp_services")


def create_shuffler(
    tasks: Mapping[str, ShufflerHost],
    store: ShufflerStore,
    *,
    analyst: AnalystClient,
    entropy: Callable[[int], bytes] = os.urandom,
    reached: Callable[[str], None] = ignore_boundary,
    close_at: int | None = None,
) -> Starlette:
    """Returns the application, for one process or for several over one store.

    Args:
        tasks: By identity.
        store: Opened when the service starts, and closed when it stops.
        analyst: Receives the batches.
        entropy: Draws batch ids and challenges.
        reached: Called with the name of every durable boundary.
        close_at: Number of reports at which a step closes automatically, if every minimum
            is reached; None if only the operator closes.
    """
    collectors = {
        identity: Collector(
            hosted, store, entropy=entropy, reached=reached, close_at=close_at
        )
        for identity, hosted in tasks.items()
    }
    handovers = {
        identity: Handover(collector.lifecycle, store, analyst, reached)
        for identity, collector in collectors.items()
    }
    challenges = CommandChallenges(store, entropy)
    shuffler = _Shuffler(collectors, handovers, store, analyst, challenges)
    frequent = FrequentPaths(
        task=shuffler.get_task,
        upload=shuffler.post_reports,
        page=shuffler.get_page,
        page_file=shuffler.page.get,
    )
    commands = "/tasks/{identity}/commands"
    app = Starlette(
        routes=[
            Route("/health", _health),
            Route("/ready", shuffler.readiness.get_ready),
            Route("/tasks", shuffler.get_tasks),
            Route(commands, shuffler.post_command, methods=["POST"]),
        ],
        middleware=[
            Middleware(FrequentPathMiddleware, frequent),
            Middleware(CountRequests),
            Middleware(HideCrashes),
        ],
        exception_handlers=handlers,
        lifespan=shuffler.live,
    )
    app.state.readiness, app.state.task_metrics = (
        shuffler.readiness,
        shuffler.task_metrics,
    )
    app.state.answer_plain = frequent.answer_plain
    return app


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


class _Shuffler:
    """Request handlers and periodic work of the service."""

    def __init__(
        self,
        collectors: dict[str, Collector],
        handovers: dict[str, Handover],
        store: ShufflerStore,
        analyst: AnalystClient,
        challenges: CommandChallenges,
    ) -> None:
        self._collectors, self._handovers = collectors, handovers
        self._analyst, self._challenges = analyst, challenges
        self._store, self._bodies = store, UploadBodies()
        self._leads, self._clock = asyncio.Event(), DeadlineClock()
        self.page = PageFiles()
        page = "built" if self.page.are_built else "not-built"
        self.readiness = readiness.Readiness({"tasks": len(collectors), "page": page})

    @asynccontextmanager
    async def live(self, _app: Starlette) -> AsyncIterator[None]:
        """Resumes interrupted work at startup, and completes it at shutdown."""
        hosted = [collector.hosted.task for collector in self._collectors.values()]
        await self._store.open(hosted)
        try:
            if not self.page.are_built:
                _log.warning("%s", NOT_BUILT)
            for collector in self._collectors.values():
                await collector.lifecycle.restore()
                await self._challenges.issue_first(collector.lifecycle)
            await self._try_lead()
            # After `_try_lead`: only the leader publishes counts.
            await self._publish_all_counts()
            running = [
                asyncio.create_task(handover.run(self._leads))
                for handover in self._handovers.values()
            ]
            running.append(asyncio.create_task(self._keep_leading()))
            running.append(asyncio.create_task(self._tend()))
            running.append(asyncio.create_task(self._publish_counts()))
            self.readiness.set_storage(usable=True)
            try:
                yield
            finally:
                self.readiness.reason = readiness.STOPPING
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)
                for collector in self._collectors.values():
                    await collector.stop()
        finally:
            await self._store.close()

    async def task_metrics(self) -> list[TaskMetrics]:
        """Returns metrics of every task, without any that concern single participants."""
        return [collector.metrics() for collector in self._collectors.values()]

    async def get_tasks(self, _request: Request) -> Response:
        """Lists all tasks."""
        return JSONResponse({"tasks": list(self._collectors)}, headers=_FRESH)

    def get_task(self, identity: str) -> OkResponse | Awaitable[OkResponse]:
        """Returns the public status of a task."""
        collector = self._collector(identity)
        # No other process can have changed the task.
        if self._store.is_exclusive:
            return OkResponse.json(collector.public_document())
        return _refreshed_status(collector)

    async def post_reports(self, request: UploadRequest, identity: str) -> OkResponse:
        """Accepts an upload; returns its receipt once it is on the disk."""
        collector = self._collector(identity)
        body = await self._bodies.read(request, collector.admit)
        try:
            return OkResponse.json(await collector.upload(body.content()))
        finally:
            body.release()

    async def post_command(self, request: Request) -> Response:
        """Executes a signed command that names the current step and challenge."""
        collector = self._collector(request.path_params["identity"])
        task, lifecycle = collector.hosted.task, collector.lifecycle
        handover = self._handovers[task.identity]
        document = read_object(await read_command_body(request), "a command")
        command = Command.read(document, task)
        step = command.epoch, command.stage
        await lifecycle.refresh()
        await self._challenges.consume(command, lifecycle)
        lifecycle.check_step(*step)
        match command.action:
            case Action.STATUS:
                pass
            case Action.CLOSE:
                await lifecycle.close(*step)
            case Action.SKIP:
                await handover.skip(*step)
            case Action.DEADLINE if command.at is not None:
                # A deadline in the past would close the step at once.
                if command.at <= seconds_since_1970():
                    raise Refusal(Reason.NOT_OPEN, "Expected a deadline that is ahead.")
                await lifecycle.set_deadline(command.at, *step)
            case Action.RESUME:
                await handover.resume()
            case Action.NEXT:
                # Checked first, before the analyst is asked.
                lifecycle.state.next_epoch()
                await handover.check_allowance()
                await lifecycle.next_epoch()
        exact = collector.status(exact=True).encode()
        return Response(exact, media_type="application/json", headers=_FRESH)

    def get_page(self, identity: str) -> OkResponse:
        """Serves the participants' page."""
        self._collector(identity)
        return self.page.get(INDEX)

    async def _tend(self) -> None:
        """Reloads tasks and rosters, saves counters, and ends steps that are due."""
        while True:
            await asyncio.sleep(_TEND_SECONDS)
            await self.readiness.check_storage(self._store.check)
            now = self._clock.believed(seconds_since_1970())
            self.readiness.warn(readiness.CLOCK_JUMPED, holds=now is None)
            for owner, other in (("database", self._store), ("analyst", self._analyst)):
                differ = abs(other.clock_ahead) > _CLOCKS_SECONDS
                self.readiness.warn(readiness.CLOCKS_DIFFER.format(owner), holds=differ)
            for collector in self._collectors.values():
                try:
                    if not self._store.is_exclusive:
                        await collector.lifecycle.reload()
                    await collector.lifecycle.enroll()
                    if self._leads.is_set():
                        collector.close_if_due()
                        with suppress(Refusal):
                            # A refusal is retried in a second.
                            await collector.keep_deadline(now)
                    await collector.save_refused()
                except Exception as error:
                    log_crash(error)

    async def _keep_leading(self) -> None:
        """Sends heartbeats and renews the leadership."""
        # Not in `_tend`, as closing a step may take minutes.
        while True:
            await asyncio.sleep(_TEND_SECONDS)
            await self._try_lead()

    async def _try_lead(self) -> None:
        """Updates whether this process is the leader."""
        leads = False
        try:
            leads = await self._store.try_lead()
        except Exception as error:
            log_crash(error)
        if leads:
            self._leads.set()
        else:
            self._leads.clear()
        self.readiness.warn(readiness.UNTENDED, holds=not self._store.has_leader)

    async def _publish_counts(self) -> None:
        """Publishes report counts periodically."""
        # On a timer, as requests must not choose the moment: see `publish_counts`.
        while True:
            await asyncio.sleep(_SHOW_SECONDS)
            await self._publish_all_counts()

    async def _publish_all_counts(self) -> None:
        if self._leads.is_set():
            for collector in self._collectors.values():
                await collector.lifecycle.publish_counts()

    def _collector(self, identity: str) -> Collector:
        collector = self._collectors.get(identity)
        if collector is None:
            raise Refusal(Reason.UNKNOWN_TASK, "Expected a task of this service.")
        return collector


async def _refreshed_status(collector: Collector) -> OkResponse:
    with suppress(Refusal):
        # The last known status is still returned if the store does not answer.
        await collector.lifecycle.refresh()
    return OkResponse.json(collector.public_document())
