"""A sealed batch that an analyst handed to somebody: in which order it was handed to her.

It is a folder of hers that `serve analyst --keep-batches` kept: the manifest, which the
shuffler signed, and its shards. What it says is the shuffler's word; nothing is opened.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DataError
from shuffledp.service.analyst.sealed_batch import SealedBatch
from shuffledp.service.wire.batch import BatchHeader
from shuffledp.service.wire.canonical import sha256
from shuffledp.service.wire.order import hashes_of
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.task import Task


@dataclass(frozen=True, eq=False)
class GivenBatch:
    """What can be seen of a batch without opening it.

    Attributes:
        header: What the shuffler signed.
        hashes: SHA-256 of each sealed message in the order of the hand-over, shape (n,).
        piles: Of each, in which pile it was, shape (n,).
    """

    header: BatchHeader
    hashes: NDArray[np.bytes_]
    piles: NDArray[np.int64]


def read_given_batch(folder: Path, task: Task) -> GivenBatch:
    """Reads a batch.

    Args:
        folder: With `manifest.bin` and shards.
        task: From whoever asks the question.

    Raises:
        DataError: If something is missing, or is not what the task's shuffler signed.
    """
    try:
        batch = SealedBatch.read(folder, task)
        missing = batch.missing()
        if missing:
            raise DataError(
                f"Expected {batch.path(missing[0])}: the manifest names it."
            )
        hashes, piles = [np.zeros(0, "S32")], [np.zeros(0, np.int64)]
        for place, shard in enumerate(batch.header.shards):
            if not shard.messages:
                continue
            path = batch.path(place)
            content = path.read_bytes()
            # The order may be wrong: that is what is looked for. Another shard may not.
            if sha256(content) != shard.sha256:
                raise DataError(
                    f"Expected the messages that the shuffler signed in {path}."
                )
            hashes.append(hashes_of(content, batch.header.sealed_size))
            piles.append(np.full(len(hashes[-1]), shard.pile))
    except OSError as error:
        raise DataError(f"Could not read the batch in {folder}.") from error
    except Refusal as refusal:
        raise DataError(
            f"Expected a batch of this task in {folder}: {refusal}"
        ) from None
    return GivenBatch(batch.header, np.concatenate(hashes), np.concatenate(piles))
