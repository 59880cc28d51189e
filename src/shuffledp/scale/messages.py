"""Messages as a column: whole numbers, or rows of bytes where a message is several."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.exposure import Certifiable
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, SystemRandom
from shuffledp.reports import Arrangement, Reports, ShuffledReports
from shuffledp.statistics.items.protocol import Items
from shuffledp.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType


class Countable(Certifiable, Protocol):
    """A protocol whose devices and counts can be spread over machines."""

    def randomize(self, values: Any, levels: Any, *, rng: Rng) -> Reports:
        """Runs on the devices."""
        ...

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts."""
        ...


@dataclass(frozen=True)
class MessageColumn:
    """How a protocol's messages stand in a data frame.

    Attributes:
        kind: Of each number.
        width: How many numbers a report has; None for one, which is no array.
        arrangement: What of a report stays together.
        levels: Whether reports name levels; of items, targets are counted before.
    """

    kind: np.dtype[Any]
    width: int | None
    arrangement: Arrangement
    levels: bool

    @classmethod
    def of(cls, protocol: Countable) -> "MessageColumn":
        """Learns it from what nobody sends, or somebody who holds no matter what.

        Raises:
            InvalidInputError: If people of the protocol are dealt into cohorts, which no
                machine can do that sees a part of them.
        """
        sent = None
        if getattr(protocol, "num_cohorts", 1) == 1 and hasattr(protocol, "tally"):
            sent = protocol.randomize(*_example(protocol), rng=SystemRandom())
        if sent is None or sent.cohorts is not None:
            raise InvalidInputError(
                f"Expected a protocol whose reports have no cohorts, got {protocol}."
            )
        messages = sent.messages
        width = messages.shape[1] if messages.ndim == 2 else None
        named = sent.levels is not None
        return cls(messages.dtype, width, sent.arrangement, named)

    @property
    def type(self) -> "DataType":
        """The column's type."""
        from pyspark.sql.types import BinaryType, LongType

        return LongType() if self.width is None else BinaryType()

    def written(self, messages: NDArray[Any]) -> "pa.Array":
        """Returns messages of n reports as a column."""
        import pyarrow as pa

        if self.width is None:
            return pa.array(messages.astype(np.int64))
        rows = np.ascontiguousarray(messages.astype(self._stored))
        size = rows.shape[1] * rows.itemsize
        fixed = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(size), len(rows), [None, pa.py_buffer(rows.data)]
        )
        return fixed.cast(pa.binary())

    def read(self, column: "pa.Array") -> NDArray[Any]:
        """Returns the messages of a column as the protocol's devices sent them.

        Raises:
            InvalidInputError: If one is missing, or of another size.
        """
        import pyarrow as pa

        if column.null_count:
            raise InvalidInputError("Expected a message in every row.")
        if self.width is None:
            found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
            return found
        size = self.width * self._stored.itemsize
        try:
            fixed = column.cast(pa.binary(size))
        except pa.ArrowInvalid:
            raise InvalidInputError(f"Expected messages of {size} bytes.") from None
        content = np.frombuffer(fixed.buffers()[1], dtype=np.uint8)
        content = content[fixed.offset * size : (fixed.offset + len(fixed)) * size]
        rows = content.view(self._stored).reshape(len(fixed), self.width)
        if self.kind == np.bool_ and rows.size and rows.max() > 1:
            raise InvalidInputError("Expected messages of zeros and ones.")
        return rows.astype(self.kind)

    @property
    def _stored(self) -> np.dtype[Any]:
        # The same bytes on every machine.
        kind = np.dtype(np.uint8) if self.kind == np.bool_ else self.kind
        return kind.newbyteorder("<")


def _example(protocol: Countable) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(protocol, Items):
        # Of sets there must be one.
        return np.arange(protocol.set_size)[None], np.array(protocol.targets[:1])
    return np.zeros(0, dtype=np.int64), np.zeros(0)
