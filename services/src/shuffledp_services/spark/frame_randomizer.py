"""Randomization of a frame of users on the executors, as their devices would do it."""

import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shuffledp.arrays import level_array
from shuffledp.errors import InvalidInputError
from shuffledp.randomness import KeyedRandom
from shuffledp.types import Floats
from shuffledp_services.spark.frame_columns import (
    answers,
    numbers,
    pieces,
    plain,
    type_of,
)
from shuffledp_services.spark.message_column import Countable, MessageColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

# Bytes: the least length of a secret, and the length of a user's digest in a stream.
_BLOCK = 16
LEVEL, MESSAGE = "level", "message"
# Columns of values, as executors and errors name them.
_VALUE, _ANSWER = "value", "answer to {}"

# Values as a protocol takes them, shape (n,) or (n, s); of several questions by name.
Values: TypeAlias = NDArray[Any] | Mapping[str, NDArray[Any]]


def randomize(
    frame: "DataFrame",
    protocol: Countable,
    *,
    person: str,
    value: str | Mapping[str, str],
    level: str,
    secret: bytes,
) -> "DataFrame":
    """Randomizes every user's value and returns levels and messages.

    >>> import secrets, shuffledp as sdp
    >>> from shuffledp_services import spark
    >>> columns = {"person": "person", "value": "answer", "level": "epsilon"}
    >>> messages = spark.randomize(  # doctest: +SKIP
    ...     frame, sdp.Frequency(17), secret=secrets.token_bytes(32), **columns
    ... )
    >>> messages.columns  # doctest: +SKIP
    ['level', 'message']

    A message depends only on the secret, the protocol, the user, the value and the level.
    A part that the engine computes again, on any machine, gives the same messages.

    Args:
        frame: A row per user.
        protocol: The protocol that the devices run.
        person: The column that identifies users: distinct whole numbers, texts or bytes.
            Use a new secret whenever the same users answer the same question again.
        value: The column of values, as the protocol takes them; of sets, lists of one
            length. Of a questionnaire, the column of each question by its name: positions
            of options, numbers, or lists of one length; null or NaN for a number that was
            skipped.
        level: The column of local budgets in nats, or of central targets.
        secret: At least 16 secret bytes; they suffice to remove the noise from every
            message. They travel with the job to the executors.

    Returns:
        A frame with the columns `level` (except where central targets are counted
        beforehand) and `message`. It is not shuffled: rows may reveal whose message each
        is.

    Raises:
        InvalidInputError: If a column is missing or of another type, or the secret is
            short. A value that is missing or out of range ends the job.
    """
    randomizer = FrameRandomizer.of(protocol, secret)
    columns = [
        person_of(frame, person).alias("person"),
        *(
            plain(frame, column, contents="values").alias(name)
            for name, column in randomizer.value_columns(value).items()
        ),
        plain(frame, level, contents="levels").alias("level"),
    ]
    from pyspark.sql.types import DoubleType, StructField, StructType

    fields = [StructField(MESSAGE, randomizer.column.type, nullable=False)]
    if randomizer.column.levels:
        fields.insert(0, StructField(LEVEL, DoubleType(), nullable=False))
    return frame.select(*columns).mapInArrow(randomizer.run, StructType(fields))


@dataclass(frozen=True)
class FrameRandomizer:
    """The randomization of users by executors; it is pickled into the job.

    Attributes:
        protocol: That the devices run.
        column: The format of its messages.
        key: Of all random streams.
        questions: Names of the questions of a questionnaire, in their order; none of other
            protocols, which take one column of values.
    """

    protocol: Countable
    column: MessageColumn
    key: bytes = field(repr=False)
    questions: tuple[str, ...] = ()

    @classmethod
    def of(cls, protocol: Countable, secret: bytes) -> "FrameRandomizer":
        """Returns the randomization for a protocol and a secret.

        Raises:
            InvalidInputError: If the secret is short, or the protocol has cohorts.
        """
        if len(secret) < _BLOCK:
            raise InvalidInputError(f"Expected a secret of at least {_BLOCK} bytes.")
        column = MessageColumn.of(protocol)
        # A key per protocol: two protocols never share a user's random stream.
        own = hmac.digest(secret, bytes.fromhex(protocol.identity.digest), "sha256")
        asked: Sequence[Any] = getattr(protocol, "questions", ())
        return cls(protocol, column, own, tuple(question.name for question in asked))

    def value_columns(self, value: str | Mapping[str, str]) -> dict[str, str]:
        """Returns the columns of values by the names that executors know them by.

        Raises:
            InvalidInputError: If a question has no column, or a column no question.
        """
        if isinstance(value, str) and not self.questions:
            return {_VALUE: value}
        if not isinstance(value, Mapping) or set(value) != set(self.questions):
            raise InvalidInputError(
                "Expected a column for each question, by its name: "
                f"{', '.join(self.questions) or 'there are none'}."
            )
        return {_ANSWER.format(name): value[name] for name in self.questions}

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yields levels and messages, a batch at a time."""
        import pyarrow as pa

        for batch in pieces(batches):
            values = self.values(batch)
            levels = level_array(numbers(batch, "level"))
            messages = self.messages(batch.column("person"), values, levels)
            sent = {MESSAGE: self.column.written(messages)}
            if self.column.levels:
                sent = {LEVEL: pa.array(levels), **sent}
            yield pa.RecordBatch.from_pydict(sent)

    def values(self, batch: "pa.RecordBatch") -> Values:
        """Returns the values of a batch, as the protocol takes them."""
        if not self.questions:
            return numbers(batch, _VALUE)
        return {name: answers(batch, _ANSWER.format(name)) for name in self.questions}

    def messages(
        self, person: "pa.Array", values: Values, levels: Floats
    ) -> NDArray[Any]:
        """Randomizes the values of a batch and returns its messages.

        Args:
            person: Identities of users, as `person_of` returns them.
            values: Of the n users, in the protocol's format.
            levels: Local budgets in nats, shape (n,).
        """
        rng = KeyedRandom(self.key, _digests(person, values, levels))
        width = () if self.column.width is None else (self.column.width,)
        messages = np.empty((levels.size, *width), dtype=self.column.kind)
        if _draws_alike(self.protocol):
            messages[...] = self.protocol.randomize(values, levels, rng=rng).messages
            return messages
        # Level by level: mechanisms with noise draw as many random bits as the smallest
        # level of a call needs, and no message may depend on the others in its batch.
        distinct, level_indices = np.unique(levels, return_inverse=True)
        # By index, because NaN equals no level, not even NaN: it must reach `randomize`,
        # which refuses it.
        for index in range(distinct.size):
            rows = np.flatnonzero(level_indices == index)
            own = _of_rows(values, rows)
            sent = self.protocol.randomize(own, levels[rows], rng=rng.of(rows))
            messages[rows] = sent.messages
        return messages


def _draws_alike(protocol: Countable) -> bool:
    """Returns whether a person's draws do not depend on the levels of others in a call."""
    randomizer = type(getattr(protocol, "randomizer", None))
    # Of the class itself: a subclass may draw in another way.
    return vars(randomizer).get("draws_alike", False) is True


def person_of(frame: "DataFrame", column: str) -> "Column":
    """Returns the identities of users as a column of numbers or of 32-byte digests."""
    from pyspark.sql import functions
    from pyspark.sql.types import BinaryType, IntegralType, StringType

    kind = type_of(frame, column, contents="people")
    if isinstance(kind, IntegralType):
        return functions.col(column).cast("bigint")
    if isinstance(kind, StringType | BinaryType):
        whole = functions.col(column).cast("binary")
        return functions.unhex(functions.sha2(whole, 256))
    raise InvalidInputError(
        f"Expected people as whole numbers, texts or bytes, got {kind.simpleString()}."
    )


def _of_rows(values: Values, rows: NDArray[np.intp]) -> Values:
    if isinstance(values, Mapping):
        return {name: column[rows] for name, column in values.items()}
    return values[rows]


def _as_table(values: Values, count: int) -> NDArray[Any]:
    """Returns values as numbers, shape (n, s): the same ones for the same values."""
    if not isinstance(values, Mapping):
        return values.reshape(count, -1)
    columns = [column.reshape(count, -1) for column in values.values()]
    # Minus zero is zero, and a number that was skipped is one of many spellings of NaN.
    table = np.concatenate(columns, axis=1, dtype=np.float64) + 0.0
    return np.where(np.isnan(table), np.nan, table)


def _digests(person: "pa.Array", values: Values, levels: Floats) -> NDArray[np.uint8]:
    """Returns the inputs of users' random streams, shape (n, 16 m): user, level, value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if person.null_count:
        raise InvalidInputError("Expected every row to name its person.")
    count = len(person)
    table = _as_table(values, count)
    wide = table.astype(np.float64 if table.dtype.kind == "f" else np.int64)
    # An even number of 64-bit words, so that each row is whole blocks of 16 bytes.
    words = np.zeros((count, 3 + wide.shape[1] + (1 + wide.shape[1]) % 2), np.uint64)
    if pa.types.is_integer(person.type):
        words[:, 0] = person.to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        # Half of the SHA-256 digest: 128 bits keep different users apart.
        halves = pc.binary_slice(person, 0, _BLOCK).cast(pa.binary(_BLOCK))
        content = np.frombuffer(halves.buffers()[1], np.uint64).reshape(-1, 2)
        # Arrow arrays may share one buffer: this one begins at its offset.
        words[:, :2] = content[halves.offset : halves.offset + count]
    # Bit patterns, not values: floats are hashed without any rounding.
    words[:, 2] = levels.view(np.uint64)
    words[:, 3 : 3 + wide.shape[1]] = wide.view(np.uint64)
    return words.view(np.uint8)
