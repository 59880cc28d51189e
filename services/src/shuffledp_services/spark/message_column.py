"""Messages as a column: whole numbers, or bytes for messages of several numbers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.exposure import Certifiable
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, SystemRandom
from shuffledp.reports import Arrangement, Reports, ShuffledReports
from shuffledp.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType


class Countable(Certifiable, Protocol):
    """A protocol whose randomization and counts can be spread over machines."""

    def randomize(self, values: Any, levels: Any, *, rng: Rng) -> Reports:
        """Randomizes values on the devices."""
        ...

    def tally(self, shuffled: ShuffledReports) -> Tally:
        """Counts shuffled messages."""
        ...


@dataclass(frozen=True)
class MessageColumn:
    """The format of a protocol's messages in a data frame.

    Attributes:
        kind: The data type of each number.
        width: The count of numbers in a report; None for a single number, not in an array.
        arrangement: The parts of a report that stay together.
        levels: Whether reports carry levels; those of items do not.
    """

    kind: np.dtype[Any]
    width: int | None
    arrangement: Arrangement
    levels: bool

    @classmethod
    def of(cls, protocol: Countable) -> "MessageColumn":
        """Derives the format from example reports of the protocol.

        Raises:
            InvalidInputError: If the protocol deals users into cohorts, sizes of
                reports vary, or the shuffler is to add noise.
        """
        # Of several questions, counts of encoded answers run.
        running: Countable = getattr(protocol, "counts", protocol)
        # Dealing cohorts needs all users at once; each machine sees only a part of them.
        sent = None
        if getattr(running, "num_cohorts", 1) == 1 and hasattr(running, "tally"):
            sent = running.randomize(*_example(running), rng=SystemRandom())
        if sent is None or sent.cohorts is not None:
            raise InvalidInputError(
                f"Expected a protocol whose reports have no cohorts, got {protocol}."
            )
        # Messages without the dummies that hide them would be counted as they are.
        if sent.arrangement == "loose with dummies":
            raise InvalidInputError(
                f"Expected a protocol whose noise devices add, got {protocol}."
            )
        if sent.arrangement == "loose":
            raise InvalidInputError(
                f"Expected a protocol whose reports have one size, got {protocol}."
            )
        messages = sent.messages
        width = messages.shape[1] if messages.ndim == 2 else None
        named = sent.levels is not None
        return cls(messages.dtype, width, sent.arrangement, named)

    @property
    def type(self) -> "DataType":
        """The Spark type of the column."""
        from pyspark.sql.types import BinaryType, LongType

        return LongType() if self.width is None else BinaryType()

    def written(self, messages: NDArray[Any]) -> "pa.Array":
        """Encodes the messages of n reports as a column."""
        import pyarrow as pa

        if self.width is None:
            return pa.array(messages.astype(np.int64))
        # The buffer is used as it is, without a copy, so it must be contiguous.
        rows = np.ascontiguousarray(messages.astype(self._stored))
        size = rows.shape[1] * rows.itemsize
        fixed = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(size), len(rows), [None, pa.py_buffer(rows.data)]
        )
        return fixed.cast(pa.binary())

    def read(self, column: "pa.Array") -> NDArray[Any]:
        """Decodes the messages of a column.

        Raises:
            InvalidInputError: If a message is missing or of another size.
        """
        import pyarrow as pa

        if column.null_count:
            raise InvalidInputError("Expected a message in every row.")
        if self.width is None:
            scalars: NDArray[Any] = column.to_numpy(zero_copy_only=False)
            return scalars
        size = self.width * self._stored.itemsize
        try:
            fixed = column.cast(pa.binary(size))
        except pa.ArrowInvalid:
            raise InvalidInputError(f"Expected messages of {size} bytes.") from None
        content = np.frombuffer(fixed.buffers()[1], dtype=np.uint8)
        # The buffer may hold more rows than this array: the offset is counted in rows.
        content = content[fixed.offset * size : (fixed.offset + len(fixed)) * size]
        rows = content.view(self._stored).reshape(len(fixed), self.width)
        # astype(bool) would accept any nonzero byte as a one.
        if self.kind == np.bool_ and rows.size and rows.max() > 1:
            raise InvalidInputError("Expected messages of zeros and ones.")
        return rows.astype(self.kind)

    @property
    def _stored(self) -> np.dtype[Any]:
        # Little-endian, so that the bytes do not depend on the machine.
        kind = np.dtype(np.uint8) if self.kind == np.bool_ else self.kind
        return kind.newbyteorder("<")


def _example(protocol: Countable) -> tuple[NDArray[Any], NDArray[Any]]:
    # Protocols of several answers have these attributes beside those that are declared,
    # and refuse an empty batch: take one person.
    several: Any = protocol
    if hasattr(several, "set_size"):
        return np.arange(several.set_size)[None], np.array(several.targets[:1])
    if hasattr(several, "groups"):
        answers = [np.arange(group.most) for group in several.groups]
        return np.concatenate(answers)[None], np.array(several.targets[:1])
    return np.zeros(0, dtype=np.int64), np.zeros(0)
