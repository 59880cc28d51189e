"""Sealed shards of a batch, checked, opened and counted by executors."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from shuffledp.errors import DataError
from shuffledp.identity import Identity
from shuffledp.scale.failures import in_our_words
from shuffledp.service.analyst.sealed_batch import SealedBatch, SealedShard
from shuffledp.service.analyst.shard_opening import PART, Interrupted
from shuffledp.service.collection.message_counter import MessageCounter
from shuffledp.service.wire.batch import BatchHeader, read_manifest
from shuffledp.service.wire.message_order import ShardCheck
from shuffledp.service.wire.refusal import Refusal
from shuffledp.service.wire.sealing import Opener
from shuffledp.service.wire.step import Step
from shuffledp.service.wire.task import Task
from shuffledp.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_COLUMNS = ("place", "sha256", "tally", "spoiled")


def open_and_tally(
    spark: "SparkSession",
    batch: str,
    *,
    task: Task,
    private_key: bytes,
    plan: Identity | None = None,
) -> MessageCounter:
    """Opens a batch and counts it: what one process counts, bit for bit.

    >>> from shuffledp import scale
    >>> counting = scale.open_and_tally(  # doctest: +SKIP
    ...     spark, "hdfs://host/batch", task=task, private_key=key
    ... )

    Every shard is checked against the signed manifest where it is opened: its digest, the
    order of its messages and their prefix. An engine may open a shard again, on another
    machine: each counts once.

    Args:
        spark: A session.
        batch: A folder with `manifest.bin` and a file `PLACE.shard` for each shard with
            messages, on storage that executors reach.
        task: Whose batch it is.
        private_key: The analyst's. It travels to the executors within the job.
        plan: What answers follow; None if nothing was published.

    Raises:
        Refusal: If the manifest was not signed by the task's shuffler, for this task.
        DataError: If a shard is missing, or is not what was signed.
    """
    folder = batch.rstrip("/")
    files = spark.read.format("binaryFile")
    with in_our_words(f"reads {folder}/manifest.bin"):
        row = files.load(f"{folder}/manifest.bin").select("content").head()
    header = read_manifest(bytes(row[0]) if row else b"", task)
    step = Step(task, header.epoch, header.stage, plan)
    return _opened(spark, folder, _Shards(step, header, private_key))


class OpenOnSpark:
    """As `OpenShards`, for an analyst's service whose batches executors can read."""

    def __init__(self, spark: "SparkSession") -> None:
        """Takes a session, of which nobody else makes use."""
        self._spark = spark

    def __call__(
        self,
        step: Step,
        shards: Sequence[SealedShard],
        private_key: bytes,
        *,
        stopped: Callable[[], bool],
    ) -> MessageCounter:
        """See `OpenShards`."""
        folder = shards[0].path.parent.resolve()
        work = _Shards(step, SealedBatch.read(folder, step.task).header, private_key)
        pool = ThreadPoolExecutor(1, thread_name_prefix="spark")
        try:
            counted = pool.submit(_opened, self._spark, folder.as_uri(), work)
            while True:
                if stopped():
                    self._spark.interruptAll()
                    raise Interrupted
                try:
                    return counted.result(timeout=0.5)
                except NotYet:
                    continue
        finally:
            pool.shutdown()


def _opened(spark: "SparkSession", folder: str, work: "_Shards") -> MessageCounter:
    """Returns the counts of all shards, each of which came exactly once."""
    from pyspark.sql import functions
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    kinds = (LongType(), BinaryType(), BinaryType(), LongType())
    schema = StructType(
        [StructField(n, kind) for n, kind in zip(_COLUMNS, kinds, strict=True)]
    )
    files = spark.read.format("binaryFile").option("pathGlobFilter", "*.shard")
    with in_our_words(f"opens {folder}"):
        shards = files.load(folder).select(
            functions.col("path"), functions.col("content")
        )
        rows = shards.mapInArrow(work.run, schema).collect()
    found: dict[int, tuple[Any, ...]] = {}
    for row in rows:
        # The same shard twice says the same, or nothing is believed.
        if found.setdefault(row["place"], tuple(row)) != tuple(row):
            raise DataError("Expected a shard to say the same whenever it is opened.")
    wanted = {p: s for p, s in enumerate(work.header.shards) if s.messages}
    signed = {place: bytes(row[1]) for place, row in found.items()}
    if signed != {place: shard.sha256 for place, shard in wanted.items()}:
        raise DataError(
            f"Expected {len(wanted):,} shards as they were signed, got {len(signed):,}."
        )
    counting = MessageCounter(work.step)
    for place, shard in wanted.items():
        counting.merge(_read(work.step, shard.group, found[place]))
    return counting


def _read(step: Step, pile: int, row: tuple[Any, ...]) -> MessageCounter:
    _, _, content, spoiled = row
    counting = MessageCounter(
        step, None if content is None else Tally.from_bytes(bytes(content))
    )
    counting.spoiled[pile] = spoiled
    return counting


@dataclass(frozen=True)
class _Shards:
    """What an executor does."""

    step: Step
    header: BatchHeader
    # In the job's pickled function alone: what describes a job names the function.
    private_key: bytes = field(repr=False)

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Gives one row per shard."""
        import pyarrow as pa

        for batch in batches:
            for place in range(batch.num_rows):
                name = PurePosixPath(batch.column("path")[place].as_py()).stem
                content = batch.column("content")[place].as_buffer()
                row = self._counted(name, memoryview(content))
                yield pa.RecordBatch.from_pydict(
                    {
                        "place": pa.array([row[0]], pa.int64()),
                        "sha256": pa.array([row[1]], pa.binary()),
                        "tally": pa.array([row[2]], pa.binary()),
                        "spoiled": pa.array([row[3]], pa.int64()),
                    }
                )

    def _counted(
        self, name: str, content: memoryview
    ) -> tuple[int, bytes, bytes | None, int]:
        known = (
            name.isascii() and name.isdecimal() and int(name) < len(self.header.shards)
        )
        if not known:
            raise DataError("Expected shards that the manifest names.")
        shard, size = self.header.shards[int(name)], self.header.sealed_size
        check = ShardCheck(shard, bits=self.header.bits, size=size)
        counting = MessageCounter(self.step)
        opener = Opener(
            self.step.task.suite, self.private_key, self.step.info(shard.group)
        )
        try:
            self._check(check, content)
        except Refusal as error:
            raise DataError(f"Expected the batch as it was signed: {error}") from None
        for start in range(0, len(content), PART * size):
            part = bytes(content[start : start + PART * size])
            counting.add(shard.group, opener.open_all(part, size))
        tally = None if counting.tally is None else counting.tally.to_bytes()
        return int(name), shard.sha256, tally, int(counting.spoiled[shard.group])

    def _check(self, check: ShardCheck, content: memoryview) -> None:
        """Raises Refusal unless all messages are those that were signed."""
        each = PART * self.header.sealed_size
        for start in range(0, len(content), each):
            check.add(bytes(content[start : start + each]))
        check.finish()
