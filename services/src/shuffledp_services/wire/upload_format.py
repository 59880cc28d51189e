"""Wire format of uploads: a header, then reports of equal size with sealed messages.

    header    "SDPR", version 1, stage 1, epoch 4, task id 16          26 bytes
    report    token 32, choice 2 (its position; 65535 if not named),
              messages_per_report x sealed message                      each the same size
    message   kind 1 (1 real, 0 dummy), and number 8 (signed),
              or a set as one bit for each element, in whole bytes      sealed

Numbers are big-endian. Only the analyst can tell a dummy from a message, and drops it: a
user can send dummies to hide that they do not answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.message_code import NUMBER
from shuffledp.statistics.survey import EpochStage
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import UNLINKED, Step
from shuffledp_services.wire.task import ID_SIZE
from shuffledp_services.wire.tokens import TOKEN_SIZE

MAGIC = b"SDPR"
VERSION = 1
HEADER_SIZE = len(MAGIC) + 2 + 4 + ID_SIZE
MAX_BODY = 8 * 2**20
MEDIA_TYPE = "application/vnd.shuffledp.reports"


@dataclass(frozen=True)
class UploadHeader:
    """Task, epoch and step of an upload."""

    task_id: bytes
    epoch: int
    stage: EpochStage


@dataclass(frozen=True)
class Report:
    """Report of one user.

    Attributes:
        token: `TOKEN_SIZE` bytes.
        choice: Index of the choice in the task; UNLINKED if it is not named.
        sealed: The sealed messages.
    """

    token: bytes
    choice: int
    sealed: tuple[bytes, ...]


@dataclass(frozen=True, eq=False)
class ReportColumns:
    """Reports of an upload as array views into its body, without an object per report.

    Attributes:
        tokens: Bytes, shape (n, TOKEN_SIZE).
        choices: Indices of choices, UNLINKED where none is named, shape (n,).
        sealed: Bytes, shape (n, messages_per_report, sealed_size).
    """

    tokens: NDArray[np.uint8]
    choices: NDArray[np.int64]
    sealed: NDArray[np.uint8]

    def messages(self) -> Iterator[bytes]:
        """Yields all sealed messages, in the order of the upload."""
        # One copy of all messages, and cheap slices of it.
        content, size = self.sealed.tobytes(), self.sealed.shape[-1]
        return (content[start : start + size] for start in range(0, len(content), size))


def report_size(step: Step) -> int:
    """Returns the size of one report in bytes."""
    return TOKEN_SIZE + 2 + step.messages_per_report * step.sealed_size


def max_reports(step: Step) -> int:
    """Returns the maximum number of reports in one upload."""
    return (MAX_BODY - HEADER_SIZE) // report_size(step)


def write_header(step: Step) -> bytes:
    """Encodes the header of an upload."""
    return b"".join(
        (
            MAGIC,
            bytes([VERSION, step.stage]),
            step.epoch.to_bytes(4, "big"),
            step.task.task_id,
        )
    )


def read_header(body: bytes | memoryview) -> UploadHeader:
    """Parses the header of an upload.

    Raises:
        Refusal: If the body does not begin with a header of this version.
    """
    begin = bytes(body[:HEADER_SIZE])
    # A body that is too short has fewer bytes, and is refused below.
    known = begin[:4] == MAGIC and begin[4:5] == bytes([VERSION])
    if len(begin) < HEADER_SIZE or not known or begin[5] not in list(EpochStage):
        raise Refusal(
            Reason.MALFORMED, f"Expected reports of version {VERSION} behind a header."
        )
    epoch = int.from_bytes(begin[6:10], "big")
    return UploadHeader(begin[10:], epoch, EpochStage(begin[5]))


def write_reports(step: Step, reports: list[Report]) -> bytes:
    """Encodes an upload.

    Raises:
        InvalidInputError: If there is no report, too many, or one of the wrong size.
    """
    if not 1 <= len(reports) <= max_reports(step):
        raise InvalidInputError(
            f"Expected 1 to {max_reports(step)} reports per upload."
        )
    parts = [write_header(step)]
    for report in reports:
        parts += (report.token, report.choice.to_bytes(2, "big"), *report.sealed)
    body = b"".join(parts)
    # Reports of unequal size would reveal something about their content.
    if len(body) != HEADER_SIZE + len(reports) * report_size(step):
        raise InvalidInputError("Expected reports of the task's size.")
    return body


def read_reports(step: Step, body: bytes) -> list[Report]:
    """Parses the reports of an upload, whose header was checked before.

    Raises:
        Refusal: If the body is not a whole number of reports, or too large.
    """
    size, sealed, content = report_size(step), step.sealed_size, body[HEADER_SIZE:]
    _check_size(step, body)
    begin = TOKEN_SIZE + 2
    return [
        Report(
            content[start : start + TOKEN_SIZE],
            int.from_bytes(content[start + TOKEN_SIZE : start + begin], "big"),
            tuple(
                content[offset : offset + sealed]
                for offset in range(start + begin, start + size, sealed)
            ),
        )
        for start in range(0, len(content), size)
    ]


def read_columns(step: Step, body: bytes) -> ReportColumns:
    """Parses the reports of an upload into arrays, for many reports at once.

    Raises:
        Refusal: As in `read_reports`.
    """
    _check_size(step, body)
    return read_rows(step, body)


def read_rows(step: Step, body: bytes) -> ReportColumns:
    """Parses whole reports after a header into arrays, without a limit on the size."""
    size, begin = report_size(step), TOKEN_SIZE + 2
    rows = np.frombuffer(body, np.uint8, offset=HEADER_SIZE).reshape(-1, size)
    # Two big-endian bytes.
    choices = rows[:, TOKEN_SIZE:begin].astype(np.int64) @ np.array([256, 1])
    sealed = rows[:, begin:].reshape(-1, step.messages_per_report, step.sealed_size)
    return ReportColumns(rows[:, :TOKEN_SIZE], choices, sealed)


def choices_offered(step: Step, choices: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tells which reports have a choice that is valid in this step, shape (n,)."""
    offered: NDArray[np.bool_] = choices == UNLINKED
    # Choices are refused where the task does not name them: the shuffler must not learn
    # targets.
    if step.task.choices_are_levels:
        offered = choices < len(step.task.choices)
    return offered


def _check_size(step: Step, body: bytes) -> None:
    if len(body) > MAX_BODY:
        raise Refusal(Reason.TOO_LARGE, f"Expected at most {MAX_BODY} bytes.")
    size, content = report_size(step), len(body) - HEADER_SIZE
    # An upload has at least one report, and no incomplete one.
    if content <= 0 or content % size:
        raise Refusal(Reason.WRONG_SIZE, f"Expected reports of {size} bytes each.")


def write_messages(messages: NDArray[Any], *, dummy: bool = False) -> list[bytes]:
    """Encodes numbers or packed sets, shape (n,), as plain messages to be sealed."""
    # Numbers are widened to the 8 bytes of the format; packed sets have their own
    # dtype.
    entry = NUMBER if messages.dtype.kind in "iu" else messages.dtype
    rows = np.empty(messages.size, dtype=_row(entry))
    rows["kind"], rows["entry"] = int(not dummy), messages
    content, size = rows.tobytes(), rows.dtype.itemsize
    return [content[start : start + size] for start in range(0, len(content), size)]


def read_messages(
    content: bytes, entry: np.dtype[Any] = NUMBER
) -> tuple[NDArray[Any], int, int]:
    """Parses concatenated plain messages.

    Args:
        content: The messages.
        entry: The dtype of one message, from its step's code.

    Returns:
        The real messages, shape (n,); the number of dummies; the number of invalid ones.
    """
    rows = np.frombuffer(content, dtype=_row(entry))
    # Any other kind is invalid, and counted as spoiled.
    real, dummy = rows["kind"] == 1, rows["kind"] == 0
    messages = rows["entry"][real]
    if entry == NUMBER:
        # From big-endian to the native order.
        messages = messages.astype(np.int64)
    return messages, int(dummy.sum()), int((~real & ~dummy).sum())


def _row(entry: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype([("kind", "u1"), ("entry", entry)])
