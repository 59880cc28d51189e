"""Devices' work, done for a frame of people by many machines."""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import KeyedRandom
from shuffledp.scale.frames import numbers, pieces, plain, type_of
from shuffledp.scale.messages import Countable, MessageColumn
from shuffledp.types import Floats

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

_BLOCK = 16
LEVEL, MESSAGE = "level", "message"


def randomize(
    frame: "DataFrame",
    protocol: Countable,
    *,
    person: str,
    value: str,
    level: str,
    secret: bytes,
) -> "DataFrame":
    """Returns everybody's level and message, as her device would have sent them.

    >>> import secrets, shuffledp as sdp
    >>> from shuffledp import scale
    >>> columns = {"person": "person", "value": "answer", "level": "epsilon"}
    >>> messages = scale.randomize(  # doctest: +SKIP
    ...     frame, sdp.Frequency(17), secret=secrets.token_bytes(32), **columns
    ... )
    >>> messages.columns  # doctest: +SKIP
    ['level', 'message']

    A message depends on the secret, the protocol, the person, her value and her level, and
    on nothing else: what an engine does again, on whatever machine, gives the same message.
    Two values of one person, or two protocols, have coins of their own.

    Args:
        frame: A row per person.
        protocol: What devices run.
        person: The column that names her: whole numbers, texts or bytes, no two alike.
            Nobody should answer two questions that are alike under one secret.
        value: The column of values, as the protocol takes them; of sets, lists of one
            length.
        level: The column of local budgets in nats.
        secret: At least 16 bytes that nobody else knows: whoever has it can take the noise
            off every message. It travels with the job to the executors.

    Returns:
        A frame with the columns `level` (but of items, whose targets are counted before
        anything is sent) and `message`. It is not shuffled: whoever has it may know whose
        each message is.

    Raises:
        InvalidInputError: If a column is missing or of another type, or the secret is
            short. What is wrong in a row (missing, out of range) ends the job.
    """
    columns = [
        person_of(frame, person).alias("person"),
        plain(frame, value, what="values").alias("value"),
        plain(frame, level, what="levels").alias("level"),
    ]
    from pyspark.sql.types import DoubleType, StructField, StructType

    work = Devices.of(protocol, secret)
    fields = [StructField(MESSAGE, work.column.type, nullable=False)]
    if work.column.levels:
        fields.insert(0, StructField(LEVEL, DoubleType(), nullable=False))
    return frame.select(*columns).mapInArrow(work.run, StructType(fields))


@dataclass(frozen=True)
class Devices:
    """What an executor does."""

    protocol: Countable
    column: MessageColumn
    key: bytes = field(repr=False)

    @classmethod
    def of(cls, protocol: Countable, secret: bytes) -> "Devices":
        """Returns the work for a protocol and a secret.

        Raises:
            InvalidInputError: If the secret is short, or people are dealt into cohorts.
        """
        if len(secret) < _BLOCK:
            raise InvalidInputError(f"Expected a secret of at least {_BLOCK} bytes.")
        column = MessageColumn.of(protocol)
        own = hmac.digest(secret, bytes.fromhex(protocol.identity.digest), "sha256")
        return cls(protocol, column, own)

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Gives everybody's level and message."""
        import pyarrow as pa

        for batch in pieces(batches):
            values = numbers(batch, "value")
            levels = level_array(numbers(batch, "level"))
            messages = self.messages(batch.column("person"), values, levels)
            sent = {MESSAGE: self.column.written(messages)}
            if self.column.levels:
                sent = {LEVEL: pa.array(levels), **sent}
            yield pa.RecordBatch.from_pydict(sent)

    def messages(
        self, person: "pa.Array", values: NDArray[Any], levels: Floats
    ) -> NDArray[Any]:
        """Returns everybody's message.

        Args:
            person: Who it is, as `person_of` has it.
            values: As the protocol takes them, shape (n,) or (n, s).
            levels: Local budgets in nats, shape (n,).
        """
        rng = KeyedRandom(self.key, _digests(person, values, levels))
        width = () if self.column.width is None else (self.column.width,)
        messages = np.empty((levels.size, *width), dtype=self.column.kind)
        # Level by level: numbers with noise draw as many coins as the smallest budget of
        # a crowd needs, and nobody's message may depend on who else is in a batch.
        distinct, places = np.unique(levels, return_inverse=True)
        # By place, as NaN is no level equal to itself: it must be refused.
        for place in range(distinct.size):
            here = np.flatnonzero(places == place)
            sent = self.protocol.randomize(values[here], levels[here], rng=rng.of(here))
            messages[here] = sent.messages
        return messages


def person_of(frame: "DataFrame", column: str) -> "Column":
    """Returns what tells people apart: a number, or 32 bytes."""
    from pyspark.sql import functions
    from pyspark.sql.types import BinaryType, IntegralType, StringType

    kind = type_of(frame, column, what="people")
    if isinstance(kind, IntegralType):
        return functions.col(column).cast("bigint")
    if isinstance(kind, StringType | BinaryType):
        whole = functions.col(column).cast("binary")
        return functions.unhex(functions.sha2(whole, 256))
    raise InvalidInputError(
        f"Expected people as whole numbers, texts or bytes, got {kind.simpleString()}."
    )


def _digests(
    person: "pa.Array", values: NDArray[Any], levels: Floats
) -> NDArray[np.uint8]:
    """Returns what streams belong to, shape (n, 16 m): person, level, value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if person.null_count:
        raise InvalidInputError("Expected every row to name its person.")
    count = len(person)
    table = values.reshape(count, -1)
    wide = table.astype(np.float64 if table.dtype.kind == "f" else np.int64)
    words = np.zeros((count, 3 + wide.shape[1] + (1 + wide.shape[1]) % 2), np.uint64)
    if pa.types.is_integer(person.type):
        words[:, 0] = person.to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        halves = pc.binary_slice(person, 0, _BLOCK).cast(pa.binary(_BLOCK))
        content = np.frombuffer(halves.buffers()[1], np.uint64).reshape(-1, 2)
        words[:, :2] = content[halves.offset : halves.offset + count]
    words[:, 2] = levels.view(np.uint64)
    words[:, 3 : 3 + wide.shape[1]] = wide.view(np.uint64)
    return words.view(np.uint8)
