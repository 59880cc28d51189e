"""Evidence of an auditor as the dashboard shows it: her file, her numbers, and no others.

The analyst shows what she was handed. She did not make it and cannot vouch for it; that it
is about her own task is all that is checked here, and about epochs that she published, and
that its numbers follow from each other.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.audit.collection.evidence import EpochFindings, Evidence
from shuffledp.audit.collection.evidence_text import e_value_text, p_value_text
from shuffledp.errors import DataError
from shuffledp.format_number import plain
from shuffledp.service.wire.canonical import sha256
from shuffledp.service.wire.task import Task

MAX_BYTES = 1_000_000

HEIGHT = 180
"""Of the picture, in pixels; widths are in percent."""

_TOP, _BOTTOM = 14.0, 150.0
_LEFT, _RIGHT = 12.0, 94.0


@dataclass(frozen=True)
class EvidenceFile:
    """A file of evidence that an analyst shows.

    Attributes:
        path: The file: it is read whenever somebody looks.
        auditor: Who handed it over, for people.
    """

    path: Path
    auditor: str

    def digest(self) -> bytes | None:
        """Returns the SHA-256 of what is there now; None if it cannot be read."""
        try:
            return sha256(self._content())
        except DataError:
            return None

    def read(self) -> tuple[Evidence, str]:
        """Returns what it says now, and its SHA-256 in hexadecimal digits.

        Raises:
            DataError: If it cannot be read, is too large, or is no evidence.
        """
        content = self._content()
        return Evidence.from_json(content), sha256(content).hex()

    def _content(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise DataError(f"Could not read {self.path}: {error.strerror}.") from error
        if len(content) > MAX_BYTES:
            raise DataError(f"Expected at most {MAX_BYTES:,} bytes of evidence.")
        return content

    def about(self, task: Task, *, published: Collection[int]) -> tuple[Evidence, str]:
        """Returns the same, if it is about this very task.

        Args:
            task: That is served.
            published: Its epochs that have a result: of others nothing can be known.

        Raises:
            DataError: As `read`, or if it is about another task or epoch.
        """
        evidence, digest = self.read()
        if evidence.task != task.fingerprint:
            raise DataError(
                f"Expected evidence about the task {task.fingerprint}, got "
                f"{evidence.task}."
            )
        for one in evidence.epochs:
            if one.epoch not in published:
                raise DataError(
                    f"Expected evidence about published epochs, got {one.epoch}."
                )
        return evidence, digest


def evidence_part(
    shown: EvidenceFile | None,
    task: Task,
    *,
    published: Collection[int],
    epoch: int | None,
) -> dict[str, Any] | None:
    """Returns what the template needs; None if nothing was handed over.

    Args:
        shown: What was handed over.
        task: That is served.
        published: Its epochs that have a result.
        epoch: Whose findings are unfolded, beside those of the epoch that broke a
            promise; None if none is over.
    """
    if shown is None:
        return None
    said = {"auditor": shown.auditor, "evidence": None}
    try:
        evidence, digest = shown.about(task, published=published)
    except DataError:
        return said
    known = {one.epoch for one in evidence.epochs}
    broken = evidence.crossed_in is not None
    return said | {
        "evidence": evidence,
        "digest": digest,
        "kind": "bad" if broken else "good" if known else "busy",
        "sign": "✕" if broken else "✓" if known else "○",
        "alpha": f"{plain(100.0 * evidence.alpha)}%",
        "threshold": e_value_text(evidence.threshold),
        "rows": [
            _row(one, running, unfolded=one.epoch in (epoch, evidence.crossed_in))
            for one, running in zip(evidence.epochs, evidence.running, strict=True)
        ],
        "picture": picture_of(evidence) if known else None,
    }


def _row(one: EpochFindings, running: float, *, unfolded: bool) -> dict[str, Any]:
    return {
        "epoch": one.epoch,
        "e_value": e_value_text(one.e_value),
        "running": e_value_text(running),
        "unfolded": unfolded,
        "findings": [
            {
                "test": str(finding.test),
                "chance": p_value_text(finding.p_value),
                "sentence": finding.sentence,
            }
            for finding in one.findings
        ],
    }


@dataclass(frozen=True)
class Dot:
    """The running e-value after an epoch: where it stands, in percent and pixels."""

    x: float
    y: float
    name: str
    value: str
    beyond: bool


@dataclass(frozen=True)
class EvidencePicture:
    """The running e-value over the epochs, on a logarithmic axis.

    Attributes:
        dots: One for each epoch, from left to right.
        start: Where e-values begin, at 1.
        threshold: Where the line is that they must reach.
        description: All of it in words.
    """

    dots: tuple[Dot, ...]
    start: float
    threshold: float
    description: str


def picture_of(evidence: Evidence) -> EvidencePicture:
    """Returns the picture of at least one epoch."""
    logs = [_log(e) for e in evidence.running]
    line = math.log10(evidence.threshold)
    finite = [log for log in logs if math.isfinite(log)]
    # What is unlimited stands at the upper end, above everything else.
    low, high = min(0.0, *finite, line), max(1.25 * line, *finite, 0.0)
    width = (_RIGHT - _LEFT) / max(len(logs), 2)

    def y(log: float) -> float:
        share = (min(log, high) - low) / (high - low)
        return round(_BOTTOM - share * (_BOTTOM - _TOP), 2)

    dots = tuple(
        Dot(
            round(_LEFT + (place + 0.5) * width, 2),
            y(log),
            f"{one.epoch:,}",
            e_value_text(e),
            e >= evidence.threshold,
        )
        for place, (one, e, log) in enumerate(
            zip(evidence.epochs, evidence.running, logs, strict=True)
        )
    )
    said = ", ".join(f"{dot.value} after epoch {dot.name}" for dot in dots)
    return EvidencePicture(dots, y(0.0), y(line), f"Running e-value: {said}.")


def _log(e_value: float) -> float:
    # Products of many may be too small for a number.
    return math.log10(max(e_value, 1e-300))
