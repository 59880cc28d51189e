"""Sealed shards opened by executors give the counts of one process, despite failures."""

import hashlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="Needs the extra spark.")

from pyspark.sql import SparkSession
from service_parties import LEVELS, Parties, answers, parties
from spark_frames import CONNECT, started

from shuffledp.errors import DataError
from shuffledp_services.analyst.sealed_batch import SealedBatch
from shuffledp_services.analyst.shard_opening import Interrupted, open_on_all_cores
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.spark import opening
from shuffledp_services.spark.opening import OpenOnSpark, open_and_tally
from shuffledp_services.wire.batch import BatchHeader, Shard, write_manifest
from shuffledp_services.wire.refusal import Refusal
from shuffledp_services.wire.step import Step

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
PEOPLE = 300


@pytest.fixture(scope="module", params=["local[2, 4]", CONNECT])
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    with started(request.param) as session:
        yield session


@pytest.fixture(scope="module")
def made() -> Parties:
    return parties("frequency", mode="stratified")


def digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@pytest.fixture
def batch(made: Parties, tmp_path: Path) -> SealedBatch:
    """Three groups, in shards of two bits; some messages cannot be opened."""
    step, rng = Step(made.task, 1), np.random.default_rng(1)
    levels = np.repeat(LEVELS, PEOPLE // 3)
    messages = step.run.randomize(answers("frequency", PEOPLE, rng), levels, rng=rng)
    reports = seal_reports(step, messages, levels, [bytes(32)] * PEOPLE)
    rows = [report.sealed[0] for report in reports]
    for place in (5, 6, 250):
        rows[place] = rng.bytes(step.sealed_size)
    each, shards = PEOPLE // 3, list[Shard]()
    for pile in range(3):
        ordered = sorted(rows[pile * each : (pile + 1) * each], key=digest)
        for prefix in range(4):
            part = [row for row in ordered if digest(row)[0] >> 6 == prefix]
            content = b"".join(part)
            (tmp_path / f"{len(shards)}.shard").write_bytes(content)
            shards.append(Shard(pile, prefix, len(part), digest(content)))
    header = BatchHeader(
        task=made.task.digest,
        epoch=1,
        after=0,
        stage=step.stage,
        batch_id=bytes(16),
        people=(each,) * 3,
        sealed_size=step.sealed_size,
        bits=2,
        shards=tuple(shards),
        enrolment=made.enroller.enrolment(1),
    )
    manifest = write_manifest(header, made.shuffler.signing_key)
    (tmp_path / "manifest.bin").write_bytes(manifest)
    return SealedBatch.read(tmp_path, made.task)


def opened(spark: SparkSession, batch: SealedBatch, made: Parties) -> MessageCounter:
    return open_and_tally(
        spark,
        str(batch.folder),
        task=made.task,
        private_key=made.analyst.private_key,
    )


def in_one_process(batch: SealedBatch, made: Parties) -> MessageCounter:
    key, step = made.analyst.private_key, Step(made.task, 1)
    return open_on_all_cores(step, batch.shards(), key, stopped=lambda: False)


def same(first: MessageCounter, second: MessageCounter) -> bool:
    assert second.tally is not None
    return first.tally == second.tally and first.spoiled.tolist() == (
        second.spoiled.tolist()
    )


def test_executors_count_what_one_process_counts(
    spark: SparkSession, made: Parties, batch: SealedBatch
) -> None:
    alone = in_one_process(batch, made)

    assert alone.spoiled.tolist() == [2, 0, 1]
    assert same(opened(spark, batch, made), alone)
    served = OpenOnSpark(spark)
    key, step = made.analyst.private_key, Step(made.task, 1)
    assert same(served(step, batch.shards(), key, stopped=lambda: False), alone)
    with pytest.raises(Interrupted):
        served(step, batch.shards(), key, stopped=lambda: True)


def test_a_worker_killed_while_it_opens_changes_nothing(
    spark: SparkSession,
    made: Parties,
    batch: SealedBatch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed, usual = str(batch.folder / "killed"), opening._ShardOpening.run

    def dies_once(self: Any, batches: Iterator[Any]) -> Iterator[Any]:
        for row in usual(self, batches):
            yield row
            try:
                os.close(os.open(killed, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(opening._ShardOpening, "run", dies_once)

    assert same(opened(spark, batch, made), in_one_process(batch, made))
    assert Path(killed).exists()


def test_what_was_not_signed_is_not_counted(
    spark: SparkSession, made: Parties, batch: SealedBatch
) -> None:
    path = batch.shards()[0].path
    whole, size = path.read_bytes(), batch.header.sealed_size
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: path.write_bytes(whole[:-1]), "as it was signed"),
        (lambda: path.write_bytes(whole[size:] + whole[:size]), "as it was signed"),
        (lambda: path.write_bytes(b"\0" + whole[1:]), "as it was signed"),
        (path.unlink, "shards as they were signed"),
        (lambda: path.with_name("99.shard").write_bytes(whole), "manifest names"),
    ]

    for change, said in wrong:
        change()
        with pytest.raises(DataError, match=said):
            opened(spark, batch, made)
    other = parties("frequency", mode="stratified")
    with pytest.raises(Refusal):
        opened(spark, batch, replace(made, task=other.task))


def test_no_description_of_the_job_shows_the_private_key(
    spark: SparkSession,
    made: Parties,
    batch: SealedBatch,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    frames: list[Any] = []
    kind = type(spark.range(1))
    usual = kind.collect

    def collect(self: Any) -> Any:
        frames.append(self)
        return usual(self)

    monkeypatch.setattr(kind, "collect", collect)
    opened(spark, batch, made)
    for mode in ("extended", "formatted", "codegen"):
        frames[-1].explain(mode)
    shown = capsys.readouterr().out + repr(frames[-1])

    key = made.analyst.private_key
    signed = ", ".join(str(byte - 256 * (byte > 127)) for byte in key[:4])
    assert "MapInArrow" in shown
    for secret in (key.hex(), repr(key)[2:12], signed, signed.replace(" ", "")):
        assert secret not in shown
    assert key.hex() not in repr(
        opening._ShardOpening(Step(made.task, 1), batch.header, key)
    )
