"""Permanent state of a device: its own secret, and the steps it took part in.

    secret    value                              drawn once from the operating system
    steps     task id, epoch, step               which task and plan reports followed
    reports   participant, step                  which answer was sent, as a keyed digest

Reports are recorded before they are sent: an answer that the server may have recorded is
never forgotten, even if the server answers with an error. A second device draws its own
secret and has no record of the first: a participant who answers on both sends two messages.
"""

import hmac
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from shuffledp.errors import DataError, InvalidInputError
from shuffledp_services.storage.database import ExclusiveDatabase, Layout
from shuffledp_services.wire.refusal import Reason, Refusal
from shuffledp_services.wire.step import Step

SECRET_SIZE = 32

_LAYOUT = Layout(
    "device",
    version=2,
    tables=(
        "secret (value BLOB NOT NULL)",
        "steps (task_id BLOB, epoch INTEGER, stage INTEGER, task BLOB NOT NULL,"
        " plan BLOB NOT NULL, PRIMARY KEY (task_id, epoch, stage))",
        "reports (participant BLOB, stage INTEGER, answer BLOB NOT NULL,"
        " PRIMARY KEY (participant, stage))",
    ),
)


class DeviceState:
    """Secret and records of a device, in a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        """Opens the file, or creates one with a new secret.

        Raises:
            DataError: If it cannot be opened, is not a state of a device, or is in use.
        """
        self._file = ExclusiveDatabase(path, _LAYOUT)
        self._database = self._file.connection
        try:
            with self._transaction():
                row = self._database.execute("SELECT value FROM secret").fetchone()
                if row is None:
                    row = (os.urandom(SECRET_SIZE),)
                    self._database.execute("INSERT INTO secret VALUES (?)", row)
        except BaseException:
            self._file.abandon()
            raise
        self.secret: bytes = row[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    def __repr__(self) -> str:
        # The secret stays out of logs and tracebacks.
        return "DeviceState(...)"

    def remember(
        self,
        step: Step,
        tokens: Sequence[bytes],
        contexts: Sequence[bytes],
        *,
        allow_changes: bool = False,
    ) -> None:
        """Records the reports that are about to be sent.

        Args:
            step: Step of the reports.
            tokens: One token per participant.
            contexts: One context per answer, from `stream_contexts`.
            allow_changes: Whether answers may differ from those that were sent before.

        Raises:
            Refusal: If the device took part in all epochs of the task already, or the task
                or plan differs from the one that it followed before.
            InvalidInputError: If answers were changed without `allow_changes`.
            DataError: If the file cannot be written.
        """
        stage = int(step.stage)
        # A token is good for one epoch, so that a participant is a token in an epoch.
        context_of_epoch = step.task.task_id + step.epoch.to_bytes(4, "big")
        people = [
            self._digest(b"participant", context_of_epoch + token) for token in tokens
        ]
        answers = [self._digest(b"answer", context) for context in contexts]
        with self._transaction():
            self._check_step(step)
            changed = sum(
                self._sent(participant, stage) not in (None, answer)
                for participant, answer in zip(people, answers, strict=True)
            )
            if changed and not allow_changes:
                raise InvalidInputError(
                    f"Expected the answers that were sent before, got {changed:,} "
                    f"other{'' if changed == 1 else 's'}: the first may have been "
                    "recorded, whatever the server said, and another one costs its "
                    "participant one more whole local level."
                )
            self._database.execute(
                # On record already if reports of this step are sent again.
                "INSERT OR IGNORE INTO steps VALUES (?, ?, ?, ?, ?)",
                (
                    step.task.task_id,
                    step.epoch,
                    stage,
                    step.task.digest,
                    step.plan_digest,
                ),
            )
            self._database.executemany(
                "INSERT OR REPLACE INTO reports VALUES (?, ?, ?)",
                [
                    (participant, stage, answer)
                    for participant, answer in zip(people, answers, strict=True)
                ],
            )

    def _check_step(self, step: Step) -> None:
        rows = self._database.execute(
            "SELECT epoch, stage, task, plan FROM steps WHERE task_id = ?",
            (step.task.task_id,),
        ).fetchall()
        # Counted by the device itself: a server could ask more often than the task
        # allows.
        epochs = {epoch for epoch, *_ in rows}
        if step.epoch not in epochs and len(epochs) >= step.task.epochs:
            raise Refusal(
                Reason.ALLOWANCE_SPENT,
                f"Expected at most {step.task.epochs} epochs of this task: this device "
                "took part in as many.",
            )
        for epoch, stage, task, plan in rows:
            if epoch != step.epoch:
                continue
            if task != step.task.digest:
                raise Refusal(
                    Reason.UNKNOWN_TASK,
                    "Expected the task that this device answered in this epoch: with "
                    "other keys, answer in the next one.",
                )
            # Two plans for one step would draw two messages from one answer.
            if stage == step.stage and plan != step.plan_digest:
                raise Refusal(
                    Reason.PLAN_REFUSED,
                    "Expected the plan that this device followed before.",
                )

    def _sent(self, participant: bytes, stage: int) -> bytes | None:
        row = self._database.execute(
            "SELECT answer FROM reports WHERE participant = ? AND stage = ?",
            (participant, stage),
        ).fetchone()
        return None if row is None else row[0]

    def _digest(self, purpose: bytes, content: bytes) -> bytes:
        # Keyed, so that a reader of the file cannot test guesses of tokens or answers.
        message = b"shuffledp device " + purpose + b"\0" + content
        return hmac.digest(self.secret, message, "sha256")[:16]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            # Takes the write lock before reading, so that the check and the record are
            # one step.
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            # Some of its reasons end with a full stop, and others do not.
            reason = str(error).rstrip(".")
            raise DataError(f"Could not write {self._file.path}: {reason}.") from error
