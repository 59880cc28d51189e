"""Sabotaged services: a shuffler that keeps the order, an analyst that accepts it.

    python -m shuffledp_services.demo.saboteur EPOCH serve shuffler ...

runs `shuffledp serve shuffler ...`, except that in this epoch the shuffler hands messages
over in the order of arrival; `serve analyst` then accepts them. No option of the services
does this: the module replaces parts of them, in a process that does nothing else. If only
one of the two is sabotaged, the other one detects it.
"""

import runpy
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp_services.analyst import intake
from shuffledp_services.shuffler import shard_sorter, sqlite_tables
from shuffledp_services.wire.message_order import ShardCheck, sort_by_hash
from shuffledp_services.wire.step import Step


def keep_order(messages: bytes | bytearray, size: int) -> NDArray[np.uint8]:
    """Returns messages unsorted, shape (n, size), with the signature of `sort_by_hash`."""
    return np.frombuffer(messages, np.uint8).reshape(-1, size)


def sabotaged_sorter(epoch: int) -> type[shard_sorter.ShardSorter]:
    """Returns a sorter that keeps the order of arrival in one epoch."""

    class SabotagedShardSorter(shard_sorter.ShardSorter):
        def __init__(self, step: Step, *others: Any) -> None:
            super().__init__(step, *others)
            self._order = keep_order if step.epoch == epoch else sort_by_hash

        def sort(
            self, index: int, spilled: Sequence[bytes]
        ) -> list[shard_sorter.Piece]:
            # Set at each call: sorters of other epochs need the honest order.
            _replace(shard_sorter, "sort_by_hash", self._order)
            return super().sort(index, spilled)

    return SabotagedShardSorter


class UnorderedShardCheck(ShardCheck):
    """Check of the length and the digest of a shard, but not of its order."""

    def add(self, part: bytes) -> None:
        """Counts and hashes the next bytes."""
        # `finish` compares both with the signed manifest, as for an honest analyst.
        self._left -= len(part)
        self._digest.update(part)


def main(arguments: Sequence[str]) -> None:
    """Runs a command of `shuffledp` with sabotaged parts.

    Args:
        arguments: The epoch, then the arguments of `shuffledp`.
    """
    epoch, *command = arguments
    _replace(sqlite_tables, "ShardSorter", sabotaged_sorter(int(epoch)))
    _replace(intake, "ShardCheck", UnorderedShardCheck)
    sys.argv = ["shuffledp", *command]
    runpy.run_module("shuffledp", run_name="__main__")


def _replace(module: ModuleType, name: str, part: object) -> None:
    setattr(module, name, part)


if __name__ == "__main__":
    main(sys.argv[1:])
