"""What a service says of itself while it runs, one line for each event.

Collections have events, people have none: there is no request, address, token or number of
reports in any line, and of a crash its kind and place alone.
"""

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Literal, Protocol

from shuffledp.service.monitoring.metrics import CRASHES, EVENTS
from shuffledp.service.wire.task import Task
from shuffledp.statistics.survey import EpochStage

LogFormat = Literal["text", "json"]

_NAME = "shuffledp.service"
_log = logging.getLogger(_NAME)


class Event(StrEnum):
    """The events, as lines and metrics name them."""

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


class Place(Protocol):
    """A state of either service, as far as it is named in a log."""

    @property
    def task(self) -> Task:
        """The task."""

    @property
    def epoch(self) -> int:
        """From 1."""

    @property
    def stage(self) -> EpochStage:
        """Which step of the epoch."""


def say(event: Event, where: Place | None = None, **more: str | int) -> None:
    """Logs and counts an event.

    Args:
        event: What happened.
        where: In which step of which task; None if it happened to the whole service.
        more: Nothing about people.
    """
    EVENTS.labels(event.value).inc()
    fields = dict(more)
    if where is not None:
        stage = where.stage.name.lower()
        fields = {"task": where.task.identity, "epoch": where.epoch, "stage": stage}
        fields |= more
    named = "".join(f" {name}={value}" for name, value in fields.items())
    _log.info("%s%s", event.value, named, extra={"event": event.value, "say": fields})


def log_crash(error: BaseException) -> None:
    """Logs and counts what kind of error it was and where, never its text."""
    trace, place = error.__traceback__, "?"
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    kind = type(error).__name__
    CRASHES.labels(kind).inc()
    fields = {"kind": kind, "place": place}
    _log.error("%s at %s", kind, place, extra={"event": "crashed", "say": fields})


@contextmanager
def logged(log_format: LogFormat) -> Iterator[None]:
    """Sends what this process logs to its standard error, one line each, for a while.

    Args:
        log_format: "json" for one object per line, "text" for people.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(log_format))
    root, before = logging.getLogger(), _log.level
    root.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        _log.setLevel(before)


class _Lines(logging.Formatter):
    """One line per record, whatever is in it."""

    def __init__(self, log_format: LogFormat) -> None:
        super().__init__()
        self._json = log_format == "json"

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line, without its end."""
        said = self._said(record)
        if not self._json:
            return " ".join(said["message"].split())
        moment = time.gmtime(record.created)
        return json.dumps(
            {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
                "level": record.levelname.lower(),
                **said,
            }
        )

    def _said(self, record: logging.LogRecord) -> dict[str, str]:
        if record.name != _NAME:
            # Of other libraries nobody knows what is in their texts.
            kind = record.exc_info and record.exc_info[0]
            name = kind.__name__ if kind else "something"
            message = f"{name} in {record.name}"
            return {"event": "foreign", "message": message}
        event, fields = getattr(record, "event", "note"), getattr(record, "say", {})
        return {"event": event, **fields, "message": record.getMessage()}
