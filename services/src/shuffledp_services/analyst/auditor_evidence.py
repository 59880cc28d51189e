"""Evidence of an auditor on the dashboard: the auditor's file and its numbers, unchanged.

The analyst did not produce the evidence and cannot vouch for it. This module only checks
that it concerns a served task and published epochs, and that its numbers follow from each
other.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.errors import DataError
from shuffledp.format_number import plain
from shuffledp_services.evidence.evidence import EpochFindings, Evidence
from shuffledp_services.evidence.evidence_text import e_value_text, p_value_text
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.task import Task

# The file is read and parsed for visitors, so that its size must be bounded.
MAX_BYTES = 1_000_000

HEIGHT = 180
"""Height of the picture in pixels; widths are in percent."""

_TOP, _BOTTOM = 14.0, 150.0
_LEFT, _RIGHT = 12.0, 94.0


@dataclass(frozen=True)
class EvidenceFile:
    """File of evidence that an analyst shows.

    Attributes:
        path: Path of the file, which is read for every page that shows it.
        auditor: Name of the auditor, for readers.
    """

    path: Path
    auditor: str

    def digest(self) -> bytes | None:
        """Returns the SHA-256 of the current content; None if it cannot be read."""
        try:
            return sha256(self._content())
        except DataError:
            return None

    def read(self) -> tuple[Evidence, str]:
        """Returns the current evidence, and its SHA-256 in hexadecimal digits.

        Raises:
            DataError: If the file cannot be read, is too large, or contains no evidence.
        """
        content = self._content()
        return Evidence.from_json(content), sha256(content).hex()

    def _content(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                # One byte more than allowed tells a larger file without reading all of
                # it.
                content = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise DataError(f"Could not read {self.path}: {error.strerror}.") from error
        if len(content) > MAX_BYTES:
            raise DataError(f"Expected at most {MAX_BYTES:,} bytes of evidence.")
        return content

    def read_about(
        self, task: Task, *, published: Collection[int]
    ) -> tuple[Evidence, str]:
        """Does the same as `read` if the evidence is about this very task.

        Args:
            task: Served task.
            published: Epochs with a result.

        Raises:
            DataError: As `read`, or if the evidence is about another task or epoch.
        """
        evidence, digest = self.read()
        if evidence.task != task.fingerprint:
            raise DataError(
                f"Expected evidence about the task {task.fingerprint}, got "
                f"{evidence.task}."
            )
        # Without a result there is nothing that canaries could be compared with.
        for findings in evidence.epochs:
            if findings.epoch not in published:
                raise DataError(
                    f"Expected evidence about published epochs, got {findings.epoch}."
                )
        return evidence, digest


def evidence_part(
    evidence_file: EvidenceFile | None,
    task: Task,
    *,
    published: Collection[int],
    epoch: int | None,
) -> dict[str, Any] | None:
    """Returns the template's values for the evidence; None if there is no evidence.

    Args:
        evidence_file: File of evidence.
        task: Served task.
        published: Epochs with a result.
        epoch: Epoch whose findings are unfolded, in addition to the one that broke a
            promise; None if no epoch is over.
    """
    if evidence_file is None:
        return None
    part = {"auditor": evidence_file.auditor, "evidence": None}
    try:
        evidence, digest = evidence_file.read_about(task, published=published)
    # The page then tells that the auditor's file cannot be shown.
    except DataError:
        return part
    audited = {findings.epoch for findings in evidence.epochs}
    # Once the running e-value has crossed the threshold, later epochs do not undo it.
    broken = evidence.crossed_in is not None
    return part | {
        "evidence": evidence,
        "digest": digest,
        "kind": "bad" if broken else "good" if audited else "busy",
        "sign": "✕" if broken else "✓" if audited else "○",
        "alpha": f"{plain(100.0 * evidence.alpha)}%",
        "threshold": e_value_text(evidence.threshold),
        "rows": [
            _row(
                findings,
                running,
                unfolded=findings.epoch in (epoch, evidence.crossed_in),
            )
            for findings, running in zip(evidence.epochs, evidence.running, strict=True)
        ],
        "picture": picture_of(evidence) if audited else None,
    }


def _row(findings: EpochFindings, running: float, *, unfolded: bool) -> dict[str, Any]:
    return {
        "epoch": findings.epoch,
        "e_value": e_value_text(findings.e_value),
        "running": e_value_text(running),
        "unfolded": unfolded,
        "findings": [
            {
                "test": str(finding.test),
                "chance": p_value_text(finding.p_value),
                "sentence": finding.sentence,
            }
            for finding in findings.findings
        ],
    }


@dataclass(frozen=True)
class EValueDot:
    """Running e-value after an epoch: x in percent, y in pixels."""

    x: float
    y: float
    name: str
    value: str
    beyond: bool


@dataclass(frozen=True)
class EvidencePicture:
    """Running e-value over the epochs, on a logarithmic axis.

    Attributes:
        dots: One per epoch, from left to right.
        start: Height of the e-value 1, where the sequence begins.
        threshold: Height of the line at which a promise counts as broken.
        description: Alternative text of the picture.
    """

    dots: tuple[EValueDot, ...]
    start: float
    threshold: float
    description: str


def picture_of(evidence: Evidence) -> EvidencePicture:
    """Returns the picture of the running e-value over at least one epoch."""
    logs = [_log(e) for e in evidence.running]
    threshold_log = math.log10(evidence.threshold)
    finite = [log for log in logs if math.isfinite(log)]
    # Infinite e-values are drawn at the upper end, above all others.
    low, high = (
        min(0.0, *finite, threshold_log),
        max(1.25 * threshold_log, *finite, 0.0),
    )
    # A single dot leaves room for the next one.
    width = (_RIGHT - _LEFT) / max(len(logs), 2)

    def y(log: float) -> float:
        share = (min(log, high) - low) / (high - low)
        return round(_BOTTOM - share * (_BOTTOM - _TOP), 2)

    dots = tuple(
        EValueDot(
            round(_LEFT + (index + 0.5) * width, 2),
            y(log),
            f"{findings.epoch:,}",
            e_value_text(e),
            e >= evidence.threshold,
        )
        for index, (findings, e, log) in enumerate(
            zip(evidence.epochs, evidence.running, logs, strict=True)
        )
    )
    part = ", ".join(f"{dot.value} after epoch {dot.name}" for dot in dots)
    return EvidencePicture(dots, y(0.0), y(threshold_log), f"Running e-value: {part}.")


def _log(e_value: float) -> float:
    # Products of many e-values may underflow to 0.
    return math.log10(max(e_value, 1e-300))
