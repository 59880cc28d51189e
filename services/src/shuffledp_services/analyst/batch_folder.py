"""Folder of sealed batches and lists of messages, beside the analyst's database.

Opening the store deletes files that the database does not name, except a batch whose other
shards may still arrive.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from shuffledp_services.analyst.sealed_batch import (
    SealedBatch,
    check_room,
    delete_batch,
)
from shuffledp_services.collection.analyst_state import AnalystState
from shuffledp_services.storage.new_files import sync_folder
from shuffledp_services.wire.batch import BatchHeader
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.task import Task


class BatchFolder:
    """Batches that arrive or wait to be counted, and lists of messages of counted ones.

    Attributes:
        path: Path of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begun: dict[str, SealedBatch] = {}

    def make(self) -> None:
        """Creates the folder; raises OSError if that fails."""
        # Only this user may read sealed messages.
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def check_room(self) -> None:
        """Raises OSError unless there is room for the missing shards of begun batches."""
        check_room(self.path, self._begun.values())

    def begun(self, task: Task) -> SealedBatch | None:
        """Returns the batch whose shards are arriving; None if there is none."""
        return self._begun.get(task.identity)

    def begin(self, task: Task, header: BatchHeader, manifest: bytes) -> SealedBatch:
        """Writes a manifest; deletes a begun batch of the same task with another one.

        Raises:
            OSError: If the disk is full.
        """
        folder = self.path / _sealed_name(task.identity, header.batch_id)
        former = self._begun.get(task.identity)
        if former is not None and former.folder != folder:
            # The shuffler made another batch of this step, and will not complete this
            # one.
            delete_batch(former.folder)
        self._begun[task.identity] = SealedBatch.begin(folder, header, manifest)
        return self._begun[task.identity]

    def received(self, task: Task) -> None:
        """Marks the batch of a task as complete."""
        self._begun.pop(task.identity, None)

    def sealed(self, state: AnalystState) -> Path:
        """Returns the folder of a state's batch."""
        return self.path / _sealed_name(state.task.identity, state.batch_id)

    def messages(self, task: Task, epoch: int) -> Path:
        """Returns the file of the public list of the messages of an epoch."""
        return self.path / _messages_name(task.identity, epoch)

    def list_messages(self, state: AnalystState, listed: Iterable[bytes]) -> bytes:
        """Writes the list of messages of a state's epoch; returns its SHA-256."""
        path, digest = self.messages(state.task, state.epoch), hashlib.sha256()
        with path.open("wb") as file:
            for part in listed:
                digest.update(part)
                file.write(part)
            file.flush()
            # Both the content and the name must be on the disk before the result names
            # the digest.
            os.fsync(file.fileno())
        sync_folder(self.path)
        return digest.digest()

    def delete_unnamed(
        self,
        waiting: Iterable[tuple[str, bytes]],
        published: Iterable[tuple[str, int]],
        states: Iterable[AnalystState],
    ) -> None:
        """Deletes batches that are over or cannot be completed, and partial files.

        Args:
            waiting: Tasks and batches that are to be counted.
            published: Tasks and epochs of lists of messages.
            states: States of the served tasks.
        """
        named = {_sealed_name(*batch_name) for batch_name in waiting}
        named |= {_messages_name(*batch_name) for batch_name in published}
        served = {state.task.identity: state for state in states}
        for path in self.path.iterdir():
            if path.name in named:
                continue
            if not path.is_dir():
                # A list whose epoch was not published yet: it is written again with the
                # result.
                path.unlink()
            # Names of batches and lists begin with the identity of the task and a dot.
            elif not self._goes_on(path, served.get(path.name.partition(".")[0])):
                delete_batch(path)

    def _goes_on(self, folder: Path, state: AnalystState | None) -> bool:
        """Resumes a batch whose shards may still arrive; returns whether it did."""
        if state is None or state.task.identity in self._begun:
            return False
        try:
            batch = SealedBatch.read(folder, state.task)
            # A state that does not change has received the batch before, and counted
            # it.
            if state.receive(batch.header) is state:
                return False
        except (OSError, Refusal):
            return False
        # Incomplete shards are sent again from their beginning; complete ones are kept.
        batch.delete_partial()
        self._begun[state.task.identity] = batch
        return True


def _sealed_name(identity: str, batch_id: bytes | None) -> str:
    return f"{identity}.{to_text(batch_id or b'')}.sealed"


def _messages_name(identity: str, epoch: int) -> str:
    return f"{identity}.{epoch}.messages"
