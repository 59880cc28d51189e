"""Saboteurs for demonstrations: a shuffler who keeps the order, an analyst who agrees.

    python -m shuffledp.service.demo.saboteur EPOCH serve shuffler ...

runs `shuffledp serve shuffler ...`, but in that epoch messages are handed over in the order
in which they came; `serve analyst` takes them. The services themselves cannot be told to do
this: here parts of them are exchanged, in a process that does nothing else. Whoever is in
the place of only one of the two is found out by the other one.
"""

import runpy
import sys
from collections.abc import Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from shuffledp.service.analyst import intake
from shuffledp.service.shuffler import shard_sorter, sqlite_tables
from shuffledp.service.wire.message_order import ShardCheck, sort_by_hash
from shuffledp.service.wire.step import Step


def as_it_came(messages: bytes | bytearray, size: int) -> NDArray[np.uint8]:
    """Returns messages where they are, shape (n, size), in the place of `sort_by_hash`."""
    return np.frombuffer(messages, np.uint8).reshape(-1, size)


def sorting_but_in(epoch: int) -> type[shard_sorter.ShardSorter]:
    """Returns what sorts the messages of all epochs but one."""

    class SabotagedShardSorter(shard_sorter.ShardSorter):
        def __init__(self, step: Step, people: tuple[int, ...]) -> None:
            super().__init__(step, people)
            self._order = as_it_came if step.epoch == epoch else sort_by_hash

        def sort(
            self, index: int, spilled: Sequence[bytes]
        ) -> list[shard_sorter.Piece]:
            _exchange(shard_sorter, "sort_by_hash", self._order)
            return super().sort(index, spilled)

    return SabotagedShardSorter


class AnyOrder(ShardCheck):
    """Checks of a shard that it was signed, and not in which order it is."""

    def add(self, part: bytes) -> None:
        """Takes what comes next."""
        self._left -= len(part)
        self._digest.update(part)


def main(arguments: Sequence[str]) -> None:
    """Runs a command with the parts exchanged.

    Args:
        arguments: The epoch, then those of `shuffledp`.
    """
    epoch, *command = arguments
    _exchange(sqlite_tables, "ShardSorter", sorting_but_in(int(epoch)))
    _exchange(intake, "ShardCheck", AnyOrder)
    sys.argv = ["shuffledp", *command]
    runpy.run_module("shuffledp", run_name="__main__")


def _exchange(module: ModuleType, name: str, part: object) -> None:
    setattr(module, name, part)


if __name__ == "__main__":
    main(sys.argv[1:])
