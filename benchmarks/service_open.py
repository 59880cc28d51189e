"""Speed of opening and counting by an analyst: python benchmarks/service_open.py [messages]

Sealed messages of one batch, from the disk to the published result, on all cores, for both
suites; and the peak memory of the service, without its worker processes. Speeds are per
second of processor time, which excludes other load of the machine. A thousand different
messages are sealed and repeated: opening takes equally long, and sealing a million would
take longer than the benchmark.
"""

import hashlib
import os
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from machine import describe, isolated
from service_large_batch import enrolment_of

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "services" / "tests"))

from service_parties import LEVELS, parties

from shuffledp.statistics.frequency.survey import FrequencySurvey
from shuffledp_services.analyst.analyst_host import AnalystHost
from shuffledp_services.analyst.batch_processing import BatchProcessor, acknowledge
from shuffledp_services.analyst.sqlite_analyst_store import SqliteAnalystStore
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.wire.batch import BatchHeader, Shard, write_manifest
from shuffledp_services.wire.question import Question
from shuffledp_services.wire.roster import Enrolment
from shuffledp_services.wire.sealing import Suite
from shuffledp_services.wire.step import Step

DIFFERENT = 999


def prepared(suite: Suite, people: int) -> tuple[AnalystHost, bytes, Enrolment, bytes]:
    """Returns a task, its shuffler's key, the number of people, and sealed messages."""
    who = parties(
        question=Question("Which one?", FrequencySurvey(tuple("abcdefghijklmnop"))),
        suite=suite,
        minimum=(1, 1, 1),
        promise=LEVELS,
        allowance=LEVELS,
        delta=1e-8,
        absent=0,
    )
    task = who.task
    rng, step = np.random.default_rng(1), Step(task, 1)
    levels = np.repeat(LEVELS, DIFFERENT // 3)
    values = rng.integers(0, 16, DIFFERENT)
    messages = step.run.randomize(values, levels, rng=rng)
    reports = seal_reports(step, messages, levels, [bytes(32)] * DIFFERENT)
    sealed = b"".join(report.sealed[0] for report in reports)
    host, key = AnalystHost(task, who.analyst), who.shuffler.signing_key
    return host, key, enrolment_of(task, who.enroller.signing_key, people), sealed


def publish(suite_name: str, repeats: int) -> tuple[int, float, float]:
    """Returns the number of counted messages, wall-clock and processor seconds."""
    people = (DIFFERENT // 3 * repeats,) * 3
    hosted, shuffler_key, enrolment, sealed = prepared(Suite(suite_name), sum(people))
    task, batch_id = hosted.task, os.urandom(16)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteAnalystStore(Path(folder) / "analyst.db")
        store.open([task])
        digest = hashlib.sha256()
        for _ in range(repeats):
            digest.update(sealed)
        step = Step(task, 1)
        shard = Shard(0, 0, sum(people), digest.digest())
        header = BatchHeader(
            task=task.digest,
            epoch=1,
            after=0,
            stage=step.stage,
            batch_id=batch_id,
            people=people,
            sealed_size=step.sealed_size,
            bits=0,
            shards=(shard,),
            enrolment=enrolment,
        )
        manifest = write_manifest(header, shuffler_key)
        batch = store.begin_batch(task, header, manifest)
        assert batch is not None
        with batch.path(0).open("wb") as file:
            for _ in range(repeats):
                file.write(sealed)
        store.receive(task, batch, acknowledge(hosted, batch_id))
        start, busy = time.perf_counter(), _busy()
        BatchProcessor(hosted, store, stop=threading.Event()).run()
        seconds, busy = time.perf_counter() - start, _busy() - busy
        (record,) = store.epochs(task)
        store.close()
    if not record.published:
        raise SystemExit(f"Expected a result, got {record.failures}.")
    return sum(people), seconds, busy


def _busy() -> float:
    """Returns processor seconds of this process and its ended children."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(
            resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
    )


def main() -> None:
    """Prints one row per suite."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10**6
    print(describe())
    headings = ("messages", "seconds", "busy", "per second")
    print(f"{'suite':<10}" + "".join(f"{h:>12}" for h in headings) + f"{'peak MB':>9}")
    for suite in Suite:
        repeats = max(wanted // DIFFERENT, 1)
        (messages, seconds, busy), peak = isolated(publish, suite.value, repeats)
        print(
            f"{suite.value:<10}{messages:>12,}{seconds:>12.1f}{busy:>12.1f}"
            f"{messages / busy:>12,.0f}{peak:>9.0f}"
        )


if __name__ == "__main__":
    main()
