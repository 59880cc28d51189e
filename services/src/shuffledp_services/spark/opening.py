"""Sealed shards of a batch, checked, opened and counted by executors."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from shuffledp.errors import DataError
from shuffledp.identity import Identity
from shuffledp.tally import Tally
from shuffledp_services.analyst.sealed_batch import SealedBatch, SealedShard
from shuffledp_services.analyst.shard_opening import PART, Interrupted
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.spark.failures import translated_errors
from shuffledp_services.wire.batch import BatchHeader, read_manifest
from shuffledp_services.wire.message_order import ShardCheck
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_COLUMNS = ("index", "sha256", "tally", "spoiled")


def open_and_tally(
    spark: "SparkSession",
    batch: str,
    *,
    task: Task,
    private_key: bytes,
    plan: Identity | None = None,
) -> MessageCounter:
    """Opens a batch and counts its messages, exactly as one process does.

    >>> from shuffledp_services import spark
    >>> counting = spark.open_and_tally(  # doctest: +SKIP
    ...     session, "hdfs://host/batch", task=task, private_key=key
    ... )

    The executor that opens a shard checks it against the signed manifest: its digest, the
    order of its messages and their prefix.

    Args:
        spark: A session.
        batch: A folder with `manifest.bin` and a file `INDEX.shard` for each shard with
            messages, on storage that executors reach.
        task: The task of the batch.
        private_key: The analyst's private key; it travels to the executors in the job.
        plan: The published plan that answers follow; None if there is none.

    Raises:
        Refusal: If the manifest was not signed by the task's shuffler, for this task.
        DataError: If a shard is missing, or differs from the signed one.
    """
    folder = batch.rstrip("/")
    files = spark.read.format("binaryFile")
    with translated_errors(f"reads {folder}/manifest.bin"):
        row = files.load(f"{folder}/manifest.bin").select("content").head()
    header = read_manifest(bytes(row[0]) if row else b"", task)
    step = Step(task, header.epoch, header.stage, plan)
    return _opened(spark, folder, _ShardOpening(step, header, private_key))


class OpenOnSpark:
    """An `OpenShards` for an analyst's service whose batches executors can read."""

    def __init__(self, spark: "SparkSession") -> None:
        """Takes a session for exclusive use."""
        # Exclusive, because stopping interrupts all jobs of the session.
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
        work = _ShardOpening(
            step, SealedBatch.read(folder, step.task).header, private_key
        )
        # In a thread of its own, as `collect` blocks and cannot watch `stopped`.
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


def _opened(
    spark: "SparkSession", folder: str, work: "_ShardOpening"
) -> MessageCounter:
    """Returns the counts of all shards, with each shard counted exactly once."""
    from pyspark.sql import functions
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    kinds = (LongType(), BinaryType(), BinaryType(), LongType())
    schema = StructType(
        [StructField(n, kind) for n, kind in zip(_COLUMNS, kinds, strict=True)]
    )
    files = spark.read.format("binaryFile").option("pathGlobFilter", "*.shard")
    with translated_errors(f"opens {folder}"):
        shards = files.load(folder).select(
            functions.col("path"), functions.col("content")
        )
        rows = shards.mapInArrow(work.run, schema).collect()
    by_index: dict[int, tuple[Any, ...]] = {}
    for row in rows:
        # An engine may open a shard again, on another machine. It counts once, and must
        # have the same counts each time.
        if by_index.setdefault(row["index"], tuple(row)) != tuple(row):
            raise DataError("Expected the same counts whenever a shard is opened.")
    # Shards without messages have no file.
    expected = {i: s for i, s in enumerate(work.header.shards) if s.messages}
    digests = {index: bytes(row[1]) for index, row in by_index.items()}
    if digests != {index: shard.sha256 for index, shard in expected.items()}:
        raise DataError(
            f"Expected {len(expected):,} shards as they were signed, got {len(digests):,}."
        )
    counting = MessageCounter(work.step)
    for index, shard in expected.items():
        counting.merge(_read(work.step, shard.group, by_index[index]))
    return counting


def _read(step: Step, group: int, row: tuple[Any, ...]) -> MessageCounter:
    _, _, content, spoiled = row
    counting = MessageCounter(
        step, None if content is None else Tally.from_bytes(bytes(content))
    )
    counting.spoiled[group] = spoiled
    return counting


@dataclass(frozen=True)
class _ShardOpening:
    """The opening of shards by an executor; it is pickled into the job."""

    step: Step
    header: BatchHeader
    # Only in the pickled function of the job: plans and logs of the engine show just the
    # name of the function.
    private_key: bytes = field(repr=False)

    def run(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yields one row per shard."""
        import pyarrow as pa

        for batch in batches:
            for index in range(batch.num_rows):
                name = PurePosixPath(batch.column("path")[index].as_py()).stem
                content = batch.column("content")[index].as_buffer()
                row = self._counted(name, memoryview(content))
                yield pa.RecordBatch.from_pydict(
                    {
                        "index": pa.array([row[0]], pa.int64()),
                        "sha256": pa.array([row[1]], pa.binary()),
                        "tally": pa.array([row[2]], pa.binary()),
                        "spoiled": pa.array([row[3]], pa.int64()),
                    }
                )

    def _counted(
        self, name: str, content: memoryview
    ) -> tuple[int, bytes, bytes | None, int]:
        # isdecimal() alone accepts digits of other scripts.
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
        # In parts, after the whole shard has passed its check: opening copies the bytes.
        for start in range(0, len(content), PART * size):
            part = bytes(content[start : start + PART * size])
            counting.add(shard.group, opener.open_all(part, size))
        tally = None if counting.tally is None else counting.tally.to_bytes()
        return int(name), shard.sha256, tally, int(counting.spoiled[shard.group])

    def _check(self, check: ShardCheck, content: memoryview) -> None:
        """Raises Refusal unless all messages are the signed ones."""
        part_size = PART * self.header.sealed_size
        for start in range(0, len(content), part_size):
            check.add(bytes(content[start : start + part_size]))
        check.finish()
