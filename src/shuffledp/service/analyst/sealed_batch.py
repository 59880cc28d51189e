"""A sealed batch on the disk: a folder with its manifest, and a file for each shard.

A file has its name only once all of it was checked and is on the disk. So what has a name
needs not be sent again, whoever crashed.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from shuffledp.service.wire.batch import BatchHeader, read_manifest
from shuffledp.service.wire.task import Task

_MANIFEST = "manifest.bin"
_INCOMING = ".incoming"
# At least, for a manifest or what a database adds.
_LEAST_ROOM = 2**20


@dataclass(frozen=True)
class SealedShard:
    """A shard in a file.

    Attributes:
        path: Of the file.
        group: Of its messages.
        messages: How many there are, at least one.
    """

    path: Path
    group: int
    messages: int


@dataclass(frozen=True)
class SealedBatch:
    """A batch, some shards of which may still be missing.

    Attributes:
        folder: Of its files: `manifest.bin`, and `PLACE.shard` of each shard that has
            messages.
        header: What the manifest says.
    """

    folder: Path
    header: BatchHeader

    @classmethod
    def begin(cls, folder: Path, header: BatchHeader, manifest: bytes) -> "SealedBatch":
        """Keeps a manifest, and whatever shards of the same one are there.

        Raises:
            OSError: If there is no room.
        """
        path = folder / _MANIFEST
        if path.is_file() and path.read_bytes() != manifest:
            forget(folder)
        if not path.is_file():
            folder.mkdir(mode=0o700, exist_ok=True)
            incoming = path.with_suffix(_INCOMING)
            with incoming.open("wb") as file:
                file.write(manifest)
                file.flush()
                os.fsync(file.fileno())
            incoming.rename(path)
            sync_folder(folder)
            sync_folder(folder.parent)
        return cls(folder, header)

    @classmethod
    def read(cls, folder: Path, task: Task) -> "SealedBatch":
        """Reads what `begin` kept.

        Raises:
            OSError: If there is no manifest.
            Refusal: If it is damaged, or none of the task.
        """
        return cls(folder, read_manifest((folder / _MANIFEST).read_bytes(), task))

    def path(self, place: int) -> Path:
        """Returns the file of the shard at a place."""
        return self.folder / f"{place}.shard"

    def incoming(self, place: int) -> Path:
        """Returns the name of a new file, for a shard on its way in."""
        return self.folder / f"{place}.{secrets.token_hex(8)}{_INCOMING}"

    def missing(self) -> list[int]:
        """Returns the places of shards that have messages, and no file."""
        there = {path.name for path in self.folder.iterdir()}
        return [
            place
            for place, shard in enumerate(self.header.shards)
            if shard.messages and self.path(place).name not in there
        ]

    def shards(self) -> list[SealedShard]:
        """Returns all shards that have messages, in their order."""
        return [
            SealedShard(self.path(place), shard.group, shard.messages)
            for place, shard in enumerate(self.header.shards)
            if shard.messages
        ]

    def by_prefix(self) -> list[list[Path]]:
        """Returns the files of all shards that have messages, prefix by prefix."""
        found: list[list[Path]] = [[] for _ in range(1 << self.header.bits)]
        for place, shard in enumerate(self.header.shards):
            if shard.messages:
                found[shard.prefix].append(self.path(place))
        return found

    def tidy(self) -> None:
        """Deletes what is left of shards that never came whole."""
        for path in self.folder.glob(f"*{_INCOMING}"):
            path.unlink()


def check_room(folder: Path, batches: Iterable[SealedBatch]) -> None:
    """Raises OSError unless there is room for what is missing of all batches.

    Shards that come at once fill a disk together and are deleted again: so it is not
    enough that there is room for one.
    """
    missing = sum(
        batch.header.shards[place].messages * batch.header.sealed_size
        for batch in batches
        for place in batch.missing()
    )
    if shutil.disk_usage(folder).free < missing:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    # Free space may be somebody else's.
    with TemporaryFile(dir=folder) as file:
        file.write(bytes(_LEAST_ROOM))
        file.flush()


def keep(batch: SealedBatch, folder: Path) -> None:
    """Keeps a batch in another folder too: all of it, or nothing if it is there already.

    Raises:
        OSError: If there is no room.
    """
    if folder.is_dir():
        return
    incoming = folder.with_name(f"{folder.name}{_INCOMING}")
    shutil.rmtree(incoming, ignore_errors=True)
    incoming.mkdir(mode=0o700, parents=True)
    for path in (batch.folder / _MANIFEST, *(each.path for each in batch.shards())):
        # The folder may be on another disk.
        with path.open("rb") as sealed, (incoming / path.name).open("xb") as file:
            shutil.copyfileobj(sealed, file)
            file.flush()
            os.fsync(file.fileno())
    sync_folder(incoming)
    incoming.rename(folder)
    sync_folder(folder.parent)


def forget(folder: Path) -> None:
    """Deletes the folder of a batch; what comes too late finds it no more."""
    over = folder.with_name(f"{secrets.token_hex(16)}.over")
    try:
        folder.rename(over)
    except FileNotFoundError:
        return
    # What cannot be deleted now is when the store is opened again.
    shutil.rmtree(over, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Makes new names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
