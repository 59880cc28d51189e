"""Numbers for the operator's monitoring, in the text format of Prometheus.

Whoever stores them has a history, and what a shuffler promises to forget is when somebody
answered. So they are on a port of this machine alone; they are a copy that is made once a
minute; and whatever counts people or their requests is rounded down to tens, of all
choices together. What else is counted happens to collections, and is public.

    shuffledp_requests_total{route, status}       answered requests, in tens
    shuffledp_commit_seconds{le}                  transactions with reports, in tens
    shuffledp_requests_refused_total{reason}      refused requests
    shuffledp_reports_refused_total{task, reason} refused reports, as in the task's status
    shuffledp_storage_errors_total                what could not be stored
    shuffledp_events_total{event}                 closed, handed-over, published, ...
    shuffledp_crashes_total{kind}                 errors that nobody expected
    shuffledp_task_epoch{task}                    which epoch a task is in
    shuffledp_task_phase{task, stage, phase}      1 where it stands
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from shuffledp.errors import DataError
from shuffledp.extras import require

require("starlette", extra="service", what="A service")
require("prometheus_client", extra="service", what="A service")

from prometheus_client import (  # noqa: E402
    CollectorRegistry,
    Counter,
    Histogram,
    start_http_server,
)
from prometheus_client.core import (  # noqa: E402
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector  # noqa: E402
from starlette.types import ASGIApp, Message, Receive, Scope, Send  # noqa: E402

_LOCAL = "127.0.0.1"
_SHOW_SECONDS = 60.0
_TENS = 10
_OF_PEOPLE = ("shuffledp_requests", "shuffledp_commit_seconds")

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
class Standing:
    """Where a task stands, as everybody may know it.

    Attributes:
        task: Its identity.
        epoch: From 1.
        stage: The step of it, by name.
        phase: What is done with it.
        refused: How many reports were refused, by reason.
    """

    task: str
    epoch: int
    stage: str
    phase: str
    refused: Mapping[str, int]


class Shown(Collector):
    """The copy of all numbers that is shown until the next one."""

    def __init__(self) -> None:
        self._families: tuple[Metric, ...] = ()

    def collect(self) -> Iterable[Metric]:
        """Returns the copy."""
        return self._families

    def show(self, standings: Iterable[Standing]) -> None:
        """Makes a new copy."""
        families = (*_COUNTED.collect(), *_families(standings))
        for family in families:
            _make_coarse(family)
        self._families = families


@asynccontextmanager
async def served_metrics(
    port: int, standings: Callable[[], Awaitable[list[Standing]]]
) -> AsyncIterator[None]:
    """Answers on a port of this machine while the context lasts.

    Args:
        port: Where.
        standings: Says where all tasks stand.

    Raises:
        DataError: If it cannot listen there.
    """
    shown, registry = Shown(), CollectorRegistry()
    registry.register(shown)
    try:
        server, thread = start_http_server(port, addr=_LOCAL, registry=registry)
    except OSError as error:
        raise DataError(
            f"Could not listen on {_LOCAL}:{port}: {error.strerror}."
        ) from error

    async def keep_showing() -> None:
        while True:
            # A database that does not answer shows elsewhere.
            with suppress(Exception):
                shown.show(await standings())
            await asyncio.sleep(_SHOW_SECONDS)

    showing = asyncio.create_task(keep_showing())
    try:
        yield
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)
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
                # Named by what answers: a path is anybody's choice, and endless.
                endpoint = getattr(scope.get("endpoint"), "__name__", "unknown")
                status = f"{message['status'] // 100}xx"
                REQUESTS.labels(endpoint.lstrip("_"), status).inc()
            await send(message)

        await self._app(scope, receive, counted)


def _families(standings: Iterable[Standing]) -> list[Metric]:
    epoch = GaugeMetricFamily("shuffledp_task_epoch", "From 1.", labels=["task"])
    phase = GaugeMetricFamily(
        "shuffledp_task_phase", "1 where it is.", labels=["task", "stage", "phase"]
    )
    refused = CounterMetricFamily(
        "shuffledp_reports_refused", "By reason.", labels=["task", "reason"]
    )
    for standing in standings:
        epoch.add_metric([standing.task], standing.epoch)
        phase.add_metric([standing.task, standing.stage, standing.phase], 1)
        for reason, count in standing.refused.items():
            refused.add_metric([standing.task, reason], count)
    return [epoch, phase, refused]


def _make_coarse(family: Metric) -> None:
    """Leaves out moments and sums, which change with every request."""
    kept = [s for s in family.samples if not s.name.endswith(("_created", "_sum"))]
    if family.name in _OF_PEOPLE:
        kept = [s._replace(value=s.value - s.value % _TENS) for s in kept]
    family.samples = kept
