"""Event log of a running service, one line per event.

Events concern collections, never participants: no line contains a request, an address, a
token or a number of reports, and a crash is logged by its type and location only.
"""

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Literal, Protocol

from shuffledp.statistics.survey import EpochStage
from shuffledp_services.monitoring.metrics import CRASHES, EVENTS
from shuffledp_services.wire.task import Task

LogFormat = Literal["text", "json"]

_NAME = "shuffledp_services"
_log = logging.getLogger(_NAME)


class Event(StrEnum):
    """Events by their names in log lines and metrics."""

    STARTED = "started"
    STOPPED = "stopped"
    ENROLLED = "enrolled"
    INTAKE_ENDED = "intake-ended"
    CLOSED = "closed"
    HANDED_OVER = "handed-over"
    UNANSWERED = "unanswered"
    REFUSED = "refused"
    FULL = "storage-full"
    SKIPPED = "skipped"
    EPOCH_BEGUN = "epoch-begun"
    KEYS_REPLACED = "keys-replaced"
    RECEIVED = "received"
    PLANNED = "planned"
    PUBLISHED = "published"
    WITHHELD = "withheld"


class LoggedState(Protocol):
    """State of either service, as far as log lines name it."""

    @property
    def task(self) -> Task:
        """The task."""

    @property
    def epoch(self) -> int:
        """Number of the epoch, from 1."""

    @property
    def stage(self) -> EpochStage:
        """Step of the epoch."""


def log_event(
    event: Event, state: LoggedState | None = None, **fields_of_event: str | int
) -> None:
    """Logs and counts an event.

    Args:
        event: Kind of event.
        state: Task and step of the event; None if it concerns the whole service.
        fields_of_event: Further fields, which never concern participants.
    """
    EVENTS.labels(event.value).inc()
    fields = dict(fields_of_event)
    if state is not None:
        stage = state.stage.name.lower()
        fields = {"task": state.task.identity, "epoch": state.epoch, "stage": stage}
        fields |= fields_of_event
    # Both formats carry the same fields: as text in the line, and as keys in JSON.
    text = "".join(f" {name}={value}" for name, value in fields.items())
    _log.info("%s%s", event.value, text, extra={"event": event.value, "say": fields})


def log_crash(error: BaseException) -> None:
    """Logs and counts an error's type and location, never its text."""
    # Texts of exceptions may quote requests; a location is always code.
    trace, location = error.__traceback__, "?"
    while trace is not None:
        location = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    kind = type(error).__name__
    CRASHES.labels(kind).inc()
    fields = {"kind": kind, "place": location}
    _log.error("%s at %s", kind, location, extra={"event": "crashed", "say": fields})


@contextmanager
def logged(log_format: LogFormat) -> Iterator[None]:
    """Writes log records to standard error, one line each, while the context lasts.

    Args:
        log_format: "json" for one object per line, "text" for readers.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(log_format))
    root, before = logging.getLogger(), _log.level
    # At the root, for records of other libraries, whose texts `_fields` leaves out.
    root.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        _log.setLevel(before)


class _Lines(logging.Formatter):
    """Formatter that writes exactly one line per record."""

    def __init__(self, log_format: LogFormat) -> None:
        super().__init__()
        self._json = log_format == "json"

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line without a line end."""
        fields = self._fields(record)
        if not self._json:
            # A line end inside a message would forge another event.
            return " ".join(fields["message"].split())
        moment = time.gmtime(record.created)
        return json.dumps(
            {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
                "level": record.levelname.lower(),
                **fields,
            }
        )

    def _fields(self, record: logging.LogRecord) -> dict[str, str]:
        if record.name != _NAME:
            # Texts of other libraries may quote participants' data.
            kind = record.exc_info and record.exc_info[0]
            name = kind.__name__ if kind else "something"
            message = f"{name} in {record.name}"
            return {"event": "foreign", "message": message}
        event, fields = getattr(record, "event", "note"), getattr(record, "say", {})
        return {"event": event, **fields, "message": record.getMessage()}
