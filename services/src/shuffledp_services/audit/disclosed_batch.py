"""Sealed batch that an analyst disclosed to an auditor: the order of its hand-over.

The analyst's `serve analyst --keep-batches` retained the folder: the manifest, which the
shuffler signed, and its shards. The content is the shuffler's statement; no message is
opened.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp_services.analyst.sealed_batch import SealedBatch
from shuffledp_services.wire.batch import BatchHeader
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.message_order import hash_messages
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.task import Task


@dataclass(frozen=True, eq=False)
class DisclosedBatch:
    """Order and level groups of a batch's sealed messages, none of them opened.

    Attributes:
        header: Signed by the shuffler.
        hashes: SHA-256 of each sealed message in the order of the hand-over, shape (n,).
        piles: Index of each message's level group, shape (n,).
    """

    header: BatchHeader
    hashes: NDArray[np.bytes_]
    piles: NDArray[np.int64]


def read_disclosed_batch(folder: Path, task: Task) -> DisclosedBatch:
    """Reads a retained batch, and checks it against the shuffler's signature.

    Args:
        folder: Contains `manifest.bin` and the shards.
        task: Obtained from the party that asks the question, not from the analyst.

    Raises:
        DataError: If a file is missing, or differs from the signed one.
    """
    try:
        batch = SealedBatch.read(folder, task)
        missing = batch.missing()
        if missing:
            raise DataError(
                f"Expected {batch.path(missing[0])}: the manifest names it."
            )
        # A batch without messages gives empty arrays.
        hashes, piles = [np.zeros(0, "S32")], [np.zeros(0, np.int64)]
        for index, shard in enumerate(batch.header.shards):
            # Shards without messages have no file.
            if not shard.messages:
                continue
            path = batch.path(index)
            content = path.read_bytes()
            # A wrong order is evidence, and is read; another shard's content is an error.
            if sha256(content) != shard.sha256:
                raise DataError(
                    f"Expected the messages that the shuffler signed in {path}."
                )
            hashes.append(hash_messages(content, batch.header.sealed_size))
            piles.append(np.full(len(hashes[-1]), shard.group))
    except OSError as error:
        raise DataError(
            f"Could not read the batch in {folder}: {error.strerror}."
        ) from error
    except Refusal as refusal:
        raise DataError(
            f"Expected a batch of this task in {folder}: {refusal}"
        ) from None
    return DisclosedBatch(batch.header, np.concatenate(hashes), np.concatenate(piles))
