"""Metrics for the operator's monitoring, in the text format of Prometheus.

They are served on a port of this machine only, as a snapshot taken once a minute, and
counts of participants or their requests are rounded down to tens, over all choices
together. All other metrics describe collections, and are public.

    shuffledp_requests_total{route, status}       answered requests, in tens
    shuffledp_commit_seconds{le}                  transactions with reports, in tens
    shuffledp_requests_refused_total{reason}      refused requests
    shuffledp_reports_refused_total{task, reason} refused reports, as in the task's status
    shuffledp_storage_errors_total                failures to store data
    shuffledp_events_total{event}                 closed, handed-over, published, ...
    shuffledp_crashes_total{kind}                 unexpected errors
    shuffledp_task_epoch{task}                    current epoch of a task
    shuffledp_task_phase{task, stage, phase}      1 for the current one
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    start_http_server,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shuffledp.errors import DataError

_LOCAL = "127.0.0.1"
# Stored metrics are a history, and a shuffler promises to forget when a participant
# answered: hence one snapshot a minute, and tens.
_REFRESH_SECONDS = 60.0
_TENS = 10
_COUNTS_OF_PEOPLE = ("shuffledp_requests", "shuffledp_commit_seconds")

# One process is one service.
_COUNTED = CollectorRegistry()
REQUESTS = Counter(
    "shuffledp_requests", "Answered, in tens.", ["route", "status"], registry=_COUNTED
)
COMMIT_SECONDS = Histogram(
    "shuffledp_commit_seconds",
    "Of transactions with reports, which are counted in tens.",
    buckets=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    registry=_COUNTED,
)
REFUSED = Counter(
    "shuffledp_requests_refused", "By reason.", ["reason"], registry=_COUNTED
)
STORAGE_ERRORS = Counter(
    "shuffledp_storage_errors", "What could not be stored.", registry=_COUNTED
)
EVENTS = Counter("shuffledp_events", "Of collections.", ["event"], registry=_COUNTED)
CRASHES = Counter("shuffledp_crashes", "By kind.", ["kind"], registry=_COUNTED)


@dataclass(frozen=True)
class TaskMetrics:
    """Public state of a task.

    Attributes:
        task: Identity of the task.
        epoch: Number of the epoch, from 1.
        stage: Name of the step in the epoch.
        phase: Name of the step's phase.
        refused: Number of refused reports by reason.
    """

    task: str
    epoch: int
    stage: str
    phase: str
    refused: Mapping[str, int]


class MetricsSnapshot(Collector):
    """Snapshot of all metrics, served until the next one."""

    def __init__(self) -> None:
        self._families: tuple[Metric, ...] = ()

    def collect(self) -> Iterable[Metric]:
        """Returns the metrics of the snapshot."""
        return self._families

    def refresh(self, task_metrics: Iterable[TaskMetrics]) -> None:
        """Takes a new snapshot."""
        families = (*_COUNTED.collect(), *_families(task_metrics))
        for family in families:
            _coarsen(family)
        # Replaced as a whole: another thread serves the snapshot.
        self._families = families


@asynccontextmanager
async def serve_metrics(
    port: int, task_metrics: Callable[[], Awaitable[list[TaskMetrics]]]
) -> AsyncIterator[None]:
    """Serves metrics on a port of this machine while the context lasts.

    Args:
        port: Port of the loopback interface.
        task_metrics: Returns the public state of all tasks.

    Raises:
        DataError: If it cannot listen there.
    """
    snapshot, registry = MetricsSnapshot(), CollectorRegistry()
    # The snapshot alone: a scrape must not see the counters themselves.
    registry.register(snapshot)
    try:
        # On the loopback interface only, because a history of counts is not public.
        server, thread = start_http_server(port, addr=_LOCAL, registry=registry)
    except OSError as error:
        raise DataError(
            f"Could not listen on {_LOCAL}:{port}: {error.strerror}."
        ) from error

    async def refresh_forever() -> None:
        while True:
            # Readiness reports a database that does not answer.
            with suppress(Exception):
                snapshot.refresh(await task_metrics())
            await asyncio.sleep(_REFRESH_SECONDS)

    refreshing = asyncio.create_task(refresh_forever())
    try:
        yield
    finally:
        refreshing.cancel()
        await asyncio.gather(refreshing, return_exceptions=True)
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        await asyncio.to_thread(thread.join)


class CountRequests:
    """Middleware that counts answers by route and class of status."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                # The endpoint's name: clients choose paths, so labels would be unbounded.
                endpoint = getattr(scope.get("endpoint"), "__name__", "unknown")
                status = f"{message['status'] // 100}xx"
                REQUESTS.labels(endpoint.lstrip("_"), status).inc()
            await send(message)

        await self._app(scope, receive, counted)


def _families(task_metrics: Iterable[TaskMetrics]) -> list[Metric]:
    epoch = GaugeMetricFamily("shuffledp_task_epoch", "From 1.", labels=["task"])
    phase = GaugeMetricFamily(
        "shuffledp_task_phase", "1 where it is.", labels=["task", "stage", "phase"]
    )
    refused = CounterMetricFamily(
        "shuffledp_reports_refused", "By reason.", labels=["task", "reason"]
    )
    for task in task_metrics:
        epoch.add_metric([task.task], task.epoch)
        phase.add_metric([task.task, task.stage, task.phase], 1)
        for reason, count in task.refused.items():
            refused.add_metric([task.task, reason], count)
    return [epoch, phase, refused]


def _coarsen(family: Metric) -> None:
    """Drops times and sums, which change with every request, and rounds to tens."""
    samples = [s for s in family.samples if not s.name.endswith(("_created", "_sum"))]
    if family.name in _COUNTS_OF_PEOPLE:
        # In tens, two snapshots do not show a single participant's requests.
        samples = [s._replace(value=s.value - s.value % _TENS) for s in samples]
    family.samples = samples
