"""External sort of the messages of a step into shards.

Two passes over the messages. The first deals each message to the shard of the leading bits
of its hash, in pieces that spill to the store when they are many. The second reads, sorts
and cuts each shard by itself. The memory is that of the waiting pieces and a few times that
of one shard, regardless of the number of messages.

Senders can try messages until the hash begins as they like, so that many colluding senders
could make one shard larger than the others; each such message costs them a token.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp_services.shuffler.batch_dummies import HASH_SUMS, sum_hashes
from shuffledp_services.shuffler.store import CHUNK, DrawDummies
from shuffledp_services.wire.batch import MAX_BITS, Shard
from shuffledp_services.wire.canonical import sha256
from shuffledp_services.wire.message_order import (
    hash_messages,
    hash_prefixes,
    sort_by_hash,
)
from shuffledp_services.wire.step import Step

SHARD_MESSAGES = 1 << 17
"""Largest average number of messages of a shard."""

SHARD_BYTES = 32 << 20
"""Largest average bytes of a shard, which counts where messages are large."""

SPILL_BYTES = 64 << 20
"""Bytes of pieces in memory before they spill."""

Piece = tuple[int, int, bytes | bytearray]
"""Index of a shard, number of the piece, sealed messages."""


class ShardSorter:
    """Sorts the messages of one step into shards.

    Attributes:
        bits: The number of leading hash bits that select a shard of a level group.
        shards: The shards that are sorted so far.
    """

    def __init__(
        self,
        step: Step,
        people: tuple[int, ...],
        draw: DrawDummies | None = None,
    ) -> None:
        """Begins without messages.

        Args:
            step: The step of the messages.
            people: Its report counts, as `BatchHeader.people`.
            draw: Draws the shuffler's dummies, where it adds some.

        Raises:
            InvalidInputError: If dummies are missing, or there must be none.
        """
        # Without its noise, no batch leaves the shuffler.
        if (step.dummies is None) is not (draw is None):
            raise InvalidInputError(
                "Expected dummies of the shuffler in batches to which it adds noise, and "
                "in no others."
            )
        group_sizes = [n * step.messages_per_report for n in step.group_sizes(people)]
        if step.dummies is not None:
            group_sizes[0] += step.dummies.mean_dummies
        self._draw, self._hash_sum, self._is_drawn = draw, 0, False
        self._size = step.sealed_size
        self.bits = bits_for(group_sizes, self._size)
        self.shards: list[Shard] = []
        self._waiting = [bytearray() for _ in group_sizes]
        self._dealt = [bytearray() for _ in range(len(group_sizes) << self.bits)]
        self._dealt_bytes, self._pieces = 0, 0

    def add(self, group: int, content: bytes) -> bool:
        """Adds messages of a level group; returns whether `deal` should be called now."""
        self._waiting[group] += content
        return len(self._waiting[group]) >= CHUNK

    def deal(self) -> list[Piece]:
        """Deals all added messages to shards; returns pieces that the store must keep."""
        for group, content in enumerate(self._waiting):
            if content:
                self._deal(group, content)
                self._waiting[group] = bytearray()
        # Few messages are sorted in memory alone, and never spill.
        if self._dealt_bytes < SPILL_BYTES:
            return []
        spilled: list[Piece] = [
            (index, self._pieces, content)
            for index, content in enumerate(self._dealt)
            if content
        ]
        self._dealt = [bytearray() for _ in self._dealt]
        self._dealt_bytes, self._pieces = 0, self._pieces + 1
        return spilled

    def dummies(self) -> Iterator[bytes]:
        """Returns the shuffler's dummies, to be added to level group 0, in pieces.

        Called once, after all messages of people were added and dealt.
        """
        if self._draw is None:
            return iter(())
        self._is_drawn = True
        return self._draw(self._hash_sum)

    @property
    def shard_indices(self) -> range:
        """The indices of all shards, in the order in which `sort` must be called."""
        return range(len(self._dealt))

    def sort(self, index: int, spilled: Sequence[bytes]) -> list[Piece]:
        """Returns a shard in its final order, in pieces for the store.

        Args:
            index: Of the next shard.
            spilled: Its pieces from `deal`, as the store kept them.
        """
        messages = b"".join((*spilled, self._dealt[index]))
        # Freed before the sort, which needs a few times the size of the shard.
        self._dealt[index] = bytearray()
        content = sort_by_hash(messages, self._size).tobytes()
        group, prefix = index >> self.bits, index & ((1 << self.bits) - 1)
        number = len(content) // self._size
        self.shards.append(Shard(group, prefix, number, sha256(content)))
        return list(pieces(index, content))

    def _deal(self, group: int, content: bytearray) -> None:
        rows = np.frombuffer(content, np.uint8).reshape(-1, self._size)
        hashes = hash_messages(content, self._size)
        if self._draw is not None and not self._is_drawn:
            self._hash_sum = (self._hash_sum + sum_hashes(hashes)) % HASH_SUMS
        prefixes = hash_prefixes(hashes, self.bits)
        # Grouped by prefix, so that each shard gets one slice.
        order = np.argsort(prefixes, kind="stable")
        rows, prefixes = rows[order], prefixes[order]
        starts = np.flatnonzero(np.diff(prefixes, prepend=-1))
        ends = [*starts[1:].tolist(), len(rows)]
        for start, end in zip(starts.tolist(), ends, strict=True):
            index = (group << self.bits) + int(prefixes[start])
            self._dealt[index] += rows[start:end].tobytes()
        self._dealt_bytes += len(content)


def bits_for(group_sizes: Sequence[int], size: int) -> int:
    """Returns the number of leading hash bits that select a shard of a level group.

    Args:
        group_sizes: The number of messages of each level group.
        size: Bytes of each message.
    """
    max_messages = max(1, min(SHARD_MESSAGES, SHARD_BYTES // size))
    # ceil(max / most) shards of the largest group, rounded up to a power of two.
    largest = max(group_sizes)
    needed = (-(-largest // max_messages) - 1).bit_length() if any(group_sizes) else 0
    # A manifest has room for 2**MAX_BITS shards of all groups together.
    return min(needed, ((1 << MAX_BITS) // len(group_sizes)).bit_length() - 1)


def pieces(index: int, content: bytes) -> Iterator[Piece]:
    """Yields a shard in pieces of `CHUNK` bytes.

    Args:
        index: Of the shard; `MANIFEST` of the store for the manifest.
        content: The whole shard.
    """
    for number, start in enumerate(range(0, len(content), CHUNK)):
        yield index, number, content[start : start + CHUNK]
