"""Sorts the messages of a step into shards, of which only some are in memory at a time.

Two passes over the messages: each is dealt to the shard that the leading bits of its hash
name, in pieces that the store keeps meanwhile when they are many; then each shard is read,
sorted and cut by itself. However many messages there are, the memory that is used is that
of the pieces that wait, and a few times that of one shard.

Who chooses what she sends may try until its hash begins as she likes, so that many people
together could make one shard larger than others: it costs them as many tokens.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from shuffledp.service.shuffler.store import CHUNK
from shuffledp.service.wire.batch import MAX_BITS, Shard
from shuffledp.service.wire.canonical import sha256
from shuffledp.service.wire.message_order import (
    hash_messages,
    hash_prefixes,
    sort_by_hash,
)
from shuffledp.service.wire.step import Step

SHARD_MESSAGES = 1 << 17
"""Of a shard, on average, at most."""

SHARD_BYTES = 32 << 20
"""The same, where messages are large."""

HELD_BYTES = 64 << 20
"""Of pieces that wait in memory."""

Piece = tuple[int, int, bytes | bytearray]
"""Place of a shard, number of the piece, sealed messages."""


class ShardSorter:
    """The messages of one step on their way into shards.

    Attributes:
        bits: How many leading bits of a hash tell shards of a pile apart.
        shards: Those that are sorted so far.
    """

    def __init__(self, step: Step, people: tuple[int, ...]) -> None:
        """Begins without messages.

        Args:
            step: What was collected.
            people: How many people sent a report, as `BatchHeader.people`.
        """
        piles = [n * step.messages_per_report for n in step.group_sizes(people)]
        self._size = step.sealed_size
        self.bits = bits_for(piles, self._size)
        self.shards: list[Shard] = []
        self._waiting = [bytearray() for _ in piles]
        self._dealt = [bytearray() for _ in range(len(piles) << self.bits)]
        self._held, self._pieces = 0, 0

    def add(self, pile: int, content: bytes) -> bool:
        """Takes messages of a pile; tells whether `deal` should be called now."""
        self._waiting[pile] += content
        return len(self._waiting[pile]) >= CHUNK

    def deal(self) -> list[Piece]:
        """Deals all that was added to shards, and returns what is to be kept elsewhere."""
        for pile, content in enumerate(self._waiting):
            if content:
                self._deal(pile, content)
                self._waiting[pile] = bytearray()
        if self._held < HELD_BYTES:
            return []
        spilled: list[Piece] = [
            (place, self._pieces, content)
            for place, content in enumerate(self._dealt)
            if content
        ]
        self._dealt = [bytearray() for _ in self._dealt]
        self._held, self._pieces = 0, self._pieces + 1
        return spilled

    @property
    def places(self) -> range:
        """The places of all shards, in which order they are to be sorted."""
        return range(len(self._dealt))

    def sort(self, place: int, spilled: Sequence[bytes]) -> list[Piece]:
        """Returns a shard in its order, in pieces to be kept.

        Args:
            place: The next one.
            spilled: What was kept elsewhere of it.
        """
        messages = b"".join((*spilled, self._dealt[place]))
        self._dealt[place] = bytearray()
        content = sort_by_hash(messages, self._size).tobytes()
        pile, prefix = place >> self.bits, place & ((1 << self.bits) - 1)
        number = len(content) // self._size
        self.shards.append(Shard(pile, prefix, number, sha256(content)))
        return list(pieces(place, content))

    def _deal(self, pile: int, content: bytearray) -> None:
        rows = np.frombuffer(content, np.uint8).reshape(-1, self._size)
        prefixes = hash_prefixes(hash_messages(content, self._size), self.bits)
        order = np.argsort(prefixes, kind="stable")
        rows, prefixes = rows[order], prefixes[order]
        starts = np.flatnonzero(np.diff(prefixes, prepend=-1))
        ends = [*starts[1:].tolist(), len(rows)]
        for start, end in zip(starts.tolist(), ends, strict=True):
            place = (pile << self.bits) + int(prefixes[start])
            self._dealt[place] += rows[start:end].tobytes()
        self._held += len(content)


def bits_for(piles: Sequence[int], size: int) -> int:
    """Returns how many leading bits tell shards of a pile apart.

    Args:
        piles: How many messages each has.
        size: Bytes of each message.
    """
    most = max(1, min(SHARD_MESSAGES, SHARD_BYTES // size))
    needed = (-(-max(piles) // most) - 1).bit_length() if any(piles) else 0
    # A manifest has room for so many shards, of all piles together.
    return min(needed, ((1 << MAX_BITS) // len(piles)).bit_length() - 1)


def pieces(place: int, content: bytes) -> Iterator[Piece]:
    """Yields what is kept, in pieces of `CHUNK` bytes.

    Args:
        place: Of the shard; `store.MANIFEST` for the manifest.
        content: All of it.
    """
    for number, start in enumerate(range(0, len(content), CHUNK)):
        yield place, number, content[start : start + CHUNK]
