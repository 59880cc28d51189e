"""Sealed batch on the disk: a folder with its manifest, and a file for each shard.

A file gets its name only once it is checked and synced to the disk. So a shard with a file
need not be sent again after a crash of either service.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from shuffledp_services.storage.new_files import sync_folder
from shuffledp_services.wire.batch import BatchHeader, read_manifest
from shuffledp_services.wire.task import Task

_MANIFEST = "manifest.bin"
_INCOMING = ".incoming"
# Free bytes required beside missing shards: for a manifest, or growth of the database.
_MIN_FREE = 2**20


@dataclass(frozen=True)
class SealedShard:
    """Shard in a file.

    Attributes:
        path: File of the shard.
        group: Index of the level group of its messages.
        messages: Number of messages, at least one.
    """

    path: Path
    group: int
    messages: int


@dataclass(frozen=True)
class SealedBatch:
    """Batch whose shards may still be incomplete.

    Attributes:
        folder: Folder of the files: `manifest.bin`, and `INDEX.shard` for each shard with
            messages.
        header: Header in the manifest.
    """

    folder: Path
    header: BatchHeader

    @classmethod
    def begin(cls, folder: Path, header: BatchHeader, manifest: bytes) -> "SealedBatch":
        """Writes a manifest; keeps shards that were received for the same manifest.

        Raises:
            OSError: If the disk is full.
        """
        path = folder / _MANIFEST
        if path.is_file() and path.read_bytes() != manifest:
            delete_batch(folder)
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
        """Reads the manifest that `begin` wrote.

        Raises:
            OSError: If there is no manifest.
            Refusal: If it is damaged, or belongs to another task.
        """
        return cls(folder, read_manifest((folder / _MANIFEST).read_bytes(), task))

    def path(self, index: int) -> Path:
        """Returns the file of the shard with an index."""
        return self.folder / f"{index}.shard"

    def incoming(self, index: int) -> Path:
        """Returns a new temporary file for a shard that is arriving."""
        return self.folder / f"{index}.{secrets.token_hex(8)}{_INCOMING}"

    def missing(self) -> list[int]:
        """Returns the indices of shards that have messages but no file."""
        names = {path.name for path in self.folder.iterdir()}
        return [
            index
            for index, shard in enumerate(self.header.shards)
            if shard.messages and self.path(index).name not in names
        ]

    def shards(self) -> list[SealedShard]:
        """Returns all shards with messages, in their order."""
        return [
            SealedShard(self.path(index), shard.group, shard.messages)
            for index, shard in enumerate(self.header.shards)
            if shard.messages
        ]

    def by_prefix(self) -> list[list[Path]]:
        """Returns the files of all shards with messages, grouped by prefix."""
        paths: list[list[Path]] = [[] for _ in range(1 << self.header.bits)]
        for index, shard in enumerate(self.header.shards):
            if shard.messages:
                paths[shard.prefix].append(self.path(index))
        return paths

    def delete_partial(self) -> None:
        """Deletes temporary files of shards that were received in part."""
        for path in self.folder.glob(f"*{_INCOMING}"):
            path.unlink()


def check_room(folder: Path, batches: Iterable[SealedBatch]) -> None:
    """Raises OSError unless the disk has room for all missing shards of all batches."""
    # Room for one shard does not suffice: shards that arrive at the same time would fill
    # the disk together, and all be deleted again.
    missing = sum(
        batch.header.shards[index].messages * batch.header.sealed_size
        for batch in batches
        for index in batch.missing()
    )
    if shutil.disk_usage(folder).free < missing:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    # Free space may be reserved for other users, or a quota may apply: try to write.
    with TemporaryFile(dir=folder) as file:
        file.write(bytes(_MIN_FREE))
        file.flush()


def retain(batch: SealedBatch, folder: Path) -> None:
    """Copies a batch to another folder, completely; does nothing if the folder exists.

    Raises:
        OSError: If the disk is full.
    """
    if folder.is_dir():
        return
    incoming = folder.with_name(f"{folder.name}{_INCOMING}")
    shutil.rmtree(incoming, ignore_errors=True)
    incoming.mkdir(mode=0o700, parents=True)
    for path in (batch.folder / _MANIFEST, *(each.path for each in batch.shards())):
        # Copied, not linked: the folder may be on another disk.
        with path.open("rb") as sealed, (incoming / path.name).open("xb") as file:
            shutil.copyfileobj(sealed, file)
            file.flush()
            os.fsync(file.fileno())
    sync_folder(incoming)
    # Complete once it has this name, at which it is not copied again.
    incoming.rename(folder)
    sync_folder(folder.parent)


def delete_batch(folder: Path) -> None:
    """Deletes the folder of a batch."""
    # Renamed first: a shard that arrives too late does not find the folder any more.
    renamed = folder.with_name(f"{secrets.token_hex(16)}.over")
    try:
        folder.rename(renamed)
    except FileNotFoundError:
        return
    # Files that cannot be deleted now are deleted when the store is opened again.
    shutil.rmtree(renamed, ignore_errors=True)
