"""The folder of sealed batches beside the analyst's database, and of lists of messages.

What the database does not name is deleted when the store is opened, but for a batch whose
other shards may still come.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from shuffledp.service.analyst.sealed_batch import (
    SealedBatch,
    check_room,
    forget,
    sync_folder,
)
from shuffledp.service.collection.analyst_state import AnalystState
from shuffledp.service.wire.batch import BatchHeader
from shuffledp.service.wire.canonical import to_text
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.task import Task


class BatchFolder:
    """Batches that come in or wait to be counted, and what is listed of those that were.

    Attributes:
        path: Of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begun: dict[str, SealedBatch] = {}

    def make(self) -> None:
        """Makes it; raises OSError if it cannot be made."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def check_room(self) -> None:
        """Raises OSError unless there is room for what is missing of begun batches."""
        check_room(self.path, self._begun.values())

    def begun(self, task: Task) -> SealedBatch | None:
        """Returns the batch whose shards are coming in; None if there is none."""
        return self._begun.get(task.identity)

    def begin(self, task: Task, header: BatchHeader, manifest: bytes) -> SealedBatch:
        """Keeps a manifest; what came before of another batch of the task is deleted.

        Raises:
            OSError: If there is no room.
        """
        folder = self.path / _sealed_name(task.identity, header.batch_id)
        before = self._begun.get(task.identity)
        if before is not None and before.folder != folder:
            forget(before.folder)
        self._begun[task.identity] = SealedBatch.begin(folder, header, manifest)
        return self._begun[task.identity]

    def received(self, task: Task) -> None:
        """Waits for no more shards."""
        self._begun.pop(task.identity, None)

    def sealed(self, state: AnalystState) -> Path:
        """Returns the folder of the batch of a state."""
        return self.path / _sealed_name(state.task.identity, state.batch_id)

    def messages(self, task: Task, epoch: int) -> Path:
        """Returns the file of the public list of the messages of an epoch."""
        return self.path / _messages_name(task.identity, epoch)

    def list_messages(self, state: AnalystState, listed: Iterable[bytes]) -> bytes:
        """Keeps this list of the epoch that is being counted; returns its digest."""
        path, digest = self.messages(state.task, state.epoch), hashlib.sha256()
        with path.open("wb") as file:
            for part in listed:
                digest.update(part)
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.path)
        return digest.digest()

    def delete_unnamed(
        self,
        waiting: Iterable[tuple[str, bytes]],
        over: Iterable[tuple[str, int]],
        states: Iterable[AnalystState],
    ) -> None:
        """Deletes batches that are over or can never be received, and half files.

        Args:
            waiting: Tasks and batches that are to be counted.
            over: Tasks and epochs of lists of messages.
            states: Where the tasks stand that are served.
        """
        named = {_sealed_name(*each) for each in waiting}
        named |= {_messages_name(*each) for each in over}
        served = {state.task.identity: state for state in states}
        for path in self.path.iterdir():
            if path.name in named:
                continue
            if not path.is_dir():
                path.unlink()
            elif not self._goes_on(path, served.get(path.name.partition(".")[0])):
                forget(path)

    def _goes_on(self, folder: Path, state: AnalystState | None) -> bool:
        """Tells whether shards of a batch may still come, and waits for them."""
        if state is None or state.task.identity in self._begun:
            return False
        try:
            batch = SealedBatch.read(folder, state.task)
            if state.receive(batch.header) is state:
                return False
        except (OSError, Refusal):
            return False
        batch.tidy()
        self._begun[state.task.identity] = batch
        return True


def _sealed_name(identity: str, batch_id: bytes | None) -> str:
    return f"{identity}.{to_text(batch_id or b'')}.sealed"


def _messages_name(identity: str, epoch: int) -> str:
    return f"{identity}.{epoch}.messages"
