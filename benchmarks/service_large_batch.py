"""Close and hand-over of large batches: service_large_batch.py [people...]

Both services run as processes of their own, the shuffler on SQLite. Its database is filled
with random bytes of the size of sealed messages, which neither service can distinguish: no
batch can keep the promise, so that it is received and withheld unopened (`service_open.py`
opens messages). For each number of people: seconds of the close and of the hand-over, bytes
of the messages, and the peak memory of each service; then linear fits, and their values at
10^8 people. Memory stops growing at a million people: its fit is meaningful only above.
"""

import asyncio
import os
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from machine import describe
from numpy.typing import NDArray

sys.path += [
    str(Path(__file__).parents[1] / part)
    for part in ("tests", "services/tests", "services/tests/service")
]

import live_collection
from live_collection import close, status_of, until
from live_services import Running, pair
from service_parties import Enroller, Parties, parties

from shuffledp_services.shuffler.keyed_digests import KEYED_DIGEST_SIZE
from shuffledp_services.shuffler.shuffler_host import ShufflerHost
from shuffledp_services.shuffler.sqlite_store import SqliteStore
from shuffledp_services.shuffler.store import Arrivals
from shuffledp_services.shuffler.task_lifecycle import TaskLifecycle
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.roster import Enrolment, Roster
from shuffledp_services.wire.signing import signed
from shuffledp_services.wire.step import Step
from shuffledp_services.wire.task import Task

UPLOAD = 10_000
SHARD = 1 << 17
USUAL = (1_000_000, 2_000_000, 4_000_000)
WANTED = 10**8


def enrolment_of(task: Task, signing_key: bytes, people: int) -> Enrolment:
    """Returns a signed enrolment of tokens for the first epoch."""
    terms = {
        "task": to_text(task.digest),
        "epoch": 1,
        "tokens": people,
        "sha256": to_text(bytes(32)),
    }
    return Enrolment.read(signed("enrolment", terms, signing_key), task)


class SomeEnroller(Enroller):
    """An enroller that states a number of tokens without drawing them."""

    def __init__(self, task: Task, signing_key: bytes, people: int) -> None:
        super().__init__(task, signing_key)
        enrolment = enrolment_of(task, signing_key, people)
        self._roster = Roster(task, enrolment, np.zeros((0, 16), dtype=np.uint8))

    def roster(self, epoch: int) -> Roster:
        """Returns the roster of the first epoch, without any token."""
        assert epoch == 1
        return self._roster


def fill(who: Parties, path: Path, people: int) -> None:
    """Stores random bytes as messages of people."""

    async def run() -> None:
        store = SqliteStore(path)
        hosted = ShufflerHost(who.task, who.shuffler, who.enroller.roster, lambda: 1)
        await store.open([who.task])
        lifecycle = TaskLifecycle(hosted, store)
        await lifecycle.restore()
        for start in range(0, people, UPLOAD):
            number = min(UPLOAD, people - start)
            each = np.bincount(np.arange(number) % 3, minlength=3)
            content = os.urandom(number * lifecycle.state.step.sealed_size)
            mark = np.frombuffer(os.urandom(KEYED_DIGEST_SIZE), np.uint8).reshape(1, -1)
            arrivals = Arrivals(tuple(each.tolist()), [content], mark)
            await store.add(lifecycle.state, mark, partial(_all_of_it, arrivals))
        await store.close()

    asyncio.run(run())


def _all_of_it(arrivals: Arrivals, _known: NDArray[np.bool_]) -> Arrivals:
    return arrivals


async def hand_over(shuffler: Running, analyst: Running) -> tuple[float, float]:
    """Returns the seconds of the close, and until the analyst has the batch."""
    start = time.perf_counter()
    await close(shuffler, 1)
    closed = time.perf_counter()
    await until(shuffler, lambda now: now["phase"] == "delivered")
    delivered = time.perf_counter()
    await until(analyst, lambda now: now["phase"] == "withheld")
    assert (await status_of(analyst))["spent"] == [0.0] * 3
    return closed - start, delivered - closed


def measure(people: int) -> tuple[float, ...]:
    """Returns MB of the batch, seconds of close and hand-over, and MB of both services."""
    who = parties(minimum=(people // 4,) * 3, promise=(1e-9,) * 3, delta=1e-8, absent=0)
    enroller = SomeEnroller(who.task, who.enroller.signing_key, people)
    who = replace(who, enroller=enroller)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(who, folder / "shuffler.db", people)
        shuffler, analyst = pair(who, folder, shuffler={"shard": SHARD})
        with shuffler, analyst:
            seconds = asyncio.run(hand_over(shuffler, analyst))
            size = people * Step(who.task, 1).sealed_size / 1e6
            return size, *seconds, shuffler.peak_memory(), analyst.peak_memory()


def main() -> None:
    """Prints one row per number of people, and the fit."""
    live_collection._PATIENCE = 3600.0
    numbers = [int(text) for text in sys.argv[1:]] or list(USUAL)
    print(describe())
    columns = ("MB", "close s", "hand-over s", "shuffler MB", "analyst MB")
    print(f"{'people':>14}" + "".join(f"{column:>14}" for column in columns))
    rows = []
    for people in numbers:
        row = measure(people)
        rows.append(row)
        print(f"{people:>14,}" + "".join(f"{n:>14.1f}" for n in row), flush=True)
    if len(rows) > 2:
        lines = np.polyfit(np.array(numbers, dtype=float), np.array(rows), 1)
        print("fit per million" + "".join(f"{1e6 * n:>14.2f}" for n in lines[0]))
        far = lines[0] * WANTED + lines[1]
        print(f"{WANTED:>14,}" + "".join(f"{n:>14.0f}" for n in far))


if __name__ == "__main__":
    main()
