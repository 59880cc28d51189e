"""How fast an analyst opens and counts: python benchmarks/service_open.py [messages]

Sealed messages of one batch, from the disk to the published result, on one core, for both
suites; and the peak memory of the process that does it. Speeds are per second of the
processor's time, so that whatever else the machine does is not counted. A thousand
different messages are sealed and repeated: an analyst cannot tell, and sealing a million
takes longer than this.
"""

import hashlib
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from machine import describe, isolated

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from oracles.service_parties import LEVELS, parties

from shuffledp.service.analyst.hosted import AnalystHost
from shuffledp.service.analyst.sqlite_store import SqliteAnalystStore
from shuffledp.service.analyst.work import Work, acknowledge
from shuffledp.service.encode import seal_reports
from shuffledp.service.wire.batch import BatchHeader
from shuffledp.service.wire.question import Question
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.sealing import Suite
from shuffledp.service.wire.step import Step
from shuffledp.statistics.frequency.survey import FrequencySurvey

DIFFERENT = 999


def prepared(suite: Suite) -> tuple[AnalystHost, Enrolment, bytes]:
    """Returns a task, who may answer, and `DIFFERENT` sealed messages in a row."""
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
    return AnalystHost(task, who.analyst), who.enroller.enrolment(1), sealed


def publish(suite_name: str, repeats: int) -> tuple[int, float, float]:
    """Returns how many messages were counted, and the seconds of clock and processor."""
    hosted, enrolment, sealed = prepared(Suite(suite_name))
    task, batch_id = hosted.task, os.urandom(16)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteAnalystStore(Path(folder) / "analyst.db")
        store.open([task])
        digest, path = hashlib.sha256(), store.incoming()
        with path.open("wb") as file:
            for _ in range(repeats):
                digest.update(sealed)
                file.write(sealed)
        people = (DIFFERENT // 3 * repeats,) * 3
        step = Step(task, 1)
        header = BatchHeader(
            task=task.digest,
            epoch=1,
            after=0,
            stage=step.stage,
            batch_id=batch_id,
            people=people,
            sealed_size=step.sealed_size,
            sha256=digest.digest(),
            enrolment=enrolment,
        )
        store.receive(task, header, path, acknowledge(hosted, batch_id))
        start, busy = time.perf_counter(), time.process_time()
        Work(hosted, store, stop=threading.Event()).run()
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        (record,) = store.epochs(task)
        store.close()
    if not record.published:
        raise SystemExit(f"Expected a result, got {record.failures}.")
    return sum(people), seconds, busy


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
