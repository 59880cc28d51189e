"""Time and memory for a million to a hundred million people, locally and on Spark.

    python benchmarks/scale.py devices 1e6 2e6 4e6 1e7    randomize, tally, certify
    python benchmarks/scale.py open 1e5 2e5 4e5 1e6       open sealed messages, and count
    python benchmarks/scale.py account 1e6 1e7 1e8        certify budgets that all differ

Every size is run by one process, piece by piece, then by `local[2]` and, where messages are
opened, by all cores without Spark. Their results must be equal. Seconds are processor time,
child processes included; memory is the largest sampled sum of all processes' memory
(proportional set sizes, in which shared pages count once), and the largest of the first
process, the driver.

The engine's start is the same work at a size of 1,000: `ratio` is the time of `local[2]`
over that of one process, `less start` is without the start. A line is fitted to the seconds
of all sizes; printed are its residuals, its value at 10^9, and the ratio of slopes, which
do not depend on the start.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from machine import describe
from processes import Measured, measure

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from sealed_batches import bytes_of, prepare, whose

import shuffledp as sdp
from shuffledp.tally import Tally
from shuffledp_services import spark as frames
from shuffledp_services.analyst.sealed_batch import SealedBatch
from shuffledp_services.analyst.shard_opening import open_on_all_cores
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.spark.frame_randomizer import FrameRandomizer
from shuffledp_services.spark.opening import open_and_tally
from shuffledp_services.spark.session import session
from shuffledp_services.wire.sealing import Opener
from shuffledp_services.wire.step import Step

SECRET = bytes(range(32))
PROTOCOL, DELTA, LEVELS = sdp.Frequency(128), 1e-8, np.array([0.5, 1.0, 2.0, 1.0])
PIECE, STARTING = 1 << 18, 1_000
# Scrambles whole numbers below 2^31 without a collision, in NumPy and in Spark alike.
FACTOR, BELOW = 2_654_435_761, 1 << 32


def scrambled(start: int, end: int) -> np.ndarray:
    """Returns a hash in [0, 2^32) of each person, shape (end - start,)."""
    return np.arange(start, end) * FACTOR % BELOW


def digest_of(tally: Tally, people: sdp.Population) -> str:
    """Returns a digest of the tally, the certificate and the estimate of a collection."""
    guarantee = sdp.account(PROTOCOL, people, delta=DELTA)
    estimate = PROTOCOL.estimate(tally, people)
    parts = (
        tally.to_bytes(),
        estimate.value.tobytes(),
        str(guarantee.to_dict()).encode(),
    )
    return hashlib.sha256(b"".join(parts)).hexdigest()


def devices_in_one(people: int) -> str:
    devices, tally = FrameRandomizer.of(PROTOCOL, SECRET), None
    for start in range(0, people, PIECE):
        end = min(start + PIECE, people)
        hashed = scrambled(start, end)
        levels = LEVELS[hashed >> 9 & 3]
        person = pa.array(np.arange(start, end))
        messages = devices.messages(person, hashed >> 25, levels)
        seen = sdp.ShuffledReports(PROTOCOL.identity, messages, levels)
        part = PROTOCOL.tally(seen)
        tally = part if tally is None else tally + part
    assert tally is not None
    return digest_of(tally, sdp.Population(tally.levels, tally.people[0]))


def devices_on_spark(people: int) -> str:
    from pyspark.sql import functions as f

    with session("local[2]") as spark:
        hashed = f.expr(f"id * {FACTOR}L % {BELOW}L")
        index = f.shiftright("hashed", 9).bitwiseAND(3)
        level = f.element_at(
            f.array(*map(f.lit, LEVELS.tolist())), index.cast("int") + 1
        )
        value = f.shiftright("hashed", 25)
        frame = spark.range(people).select("id", hashed.alias("hashed"))
        frame = frame.select("id", value.alias("value"), level.alias("level"))
        crowd = frames.population(frame, "level")
        sent = frames.randomize(
            frame, PROTOCOL, person="id", value="value", level="level", secret=SECRET
        )
        return digest_of(frames.tally(sent, PROTOCOL), crowd)


def account_in_one(people: int) -> str:
    budgets = 0.1 + 2.9 * (scrambled(0, people) / BELOW)
    people_at = sdp.Population.from_budgets(budgets)
    guarantee = sdp.account(PROTOCOL, people_at, delta=DELTA)
    return str(guarantee.to_dict())


def account_on_spark(people: int) -> str:
    from pyspark.sql import functions as f

    with session("local[2]") as spark:
        budget = f.lit(0.1) + f.lit(2.9) * (
            f.expr(f"id * {FACTOR}L % {BELOW}L") / BELOW
        )
        frame = spark.range(people).select(budget.alias("budget"))
        guarantee = frames.account(frame, PROTOCOL, budget="budget", delta=DELTA)
    return str(guarantee.to_dict())


def digest_of_counts(counting: MessageCounter) -> str:
    assert counting.tally is not None
    return str((counting.tally.to_dict(), counting.spoiled.tolist()))


def open_in_one(folder: str) -> str:
    """Opens and counts messages, without a service."""
    task, key = whose(Path(folder))
    batch, step = SealedBatch.read(Path(folder), task), Step(task, 1)
    counting, size = MessageCounter(step), step.sealed_size
    opener = Opener(task.suite, key, step.info(0))
    for shard in batch.shards():
        content = shard.path.read_bytes()
        for start in range(0, len(content), 4096 * size):
            part = content[start : start + 4096 * size]
            opened = [
                opener.open(part[at : at + size]) for at in range(0, len(part), size)
            ]
            counting.add(0, opened)
    return digest_of_counts(counting)


def open_on_cores(folder: str) -> str:
    task, key = whose(Path(folder))
    shards = SealedBatch.read(Path(folder), task).shards()
    step = Step(task, 1)
    return digest_of_counts(open_on_all_cores(step, shards, key, stopped=lambda: False))


def open_on_spark(folder: str) -> str:
    task, key = whose(Path(folder))
    with session("local[2]") as spark:
        return digest_of_counts(
            open_and_tally(spark, folder, task=task, private_key=key)
        )


ONE, SPARK = "one process", "local[2]"
WORK: dict[str, dict[str, Callable[[Any], str]]] = {
    "devices": {ONE: devices_in_one, SPARK: devices_on_spark},
    "open": {ONE: open_in_one, "all cores": open_on_cores, SPARK: open_on_spark},
    "account": {ONE: account_in_one, SPARK: account_on_spark},
}
HEADINGS = ("seconds", "busy s", "MB", "driver MB", "ratio", "less start")


def main() -> None:
    """Prints a row per size and engine, and the fitted lines."""
    if sys.argv[1:2] == ["--work"]:
        name, where, argument = sys.argv[2:]
        given: Any = argument if name == "open" else int(argument)
        print(json.dumps(WORK[name][where](given)))
        return
    name, sizes = sys.argv[1], [int(float(text)) for text in sys.argv[2:]]
    print(describe())
    ((_, start),) = run(name, STARTING, [SPARK])
    print(f"start of {SPARK}: {start.busy:.1f} s busy, {start.seconds:.1f} s")
    print(f"{'size':>13}  {'':<11}" + "".join(f"{heading:>11}" for heading in HEADINGS))
    busy: dict[str, list[float]] = {where: [] for where in WORK[name]}
    for size in sizes:
        for where, cost in run(name, size, list(WORK[name])):
            busy[where].append(cost.busy)
            numbers = [cost.seconds, cost.busy, cost.megabytes, cost.driver]
            engine = start.busy if where == SPARK else 0.0
            ratios = [(cost.busy - less) / busy[ONE][-1] for less in (0.0, engine)]
            print(
                f"{size:>13,}  {where:<11}"
                + "".join(f"{number:>11,.1f}" for number in numbers)
                + "".join(f"{ratio:>11.2f}" for ratio in ratios),
                flush=True,
            )
    if len(sizes) > 2:
        slopes = {where: fit(sizes, seconds, where) for where, seconds in busy.items()}
        for where in list(slopes)[1:]:
            print(f"each message or person, {where}: {slopes[where] / slopes[ONE]:.2f}")


def run(name: str, size: int, engines: list[str]) -> Iterator[tuple[str, Measured]]:
    """Runs the same work on several engines in turn, and checks that results agree."""
    with tempfile.TemporaryDirectory() as folder:
        argument, expected = str(size), None
        if name == "open":
            prepare(size, Path(folder))
            argument = folder
            print(f"{size:,} messages: {bytes_of(Path(folder)) / size:.2f} bytes each")
        for where in engines:
            work = [sys.executable, __file__, "--work", name, where, argument]
            measured = measure(work)
            if expected not in (None, measured.output):
                raise SystemExit(f"Expected the same of {size:,}, got something else.")
            expected = measured.output
            yield where, measured


def fit(sizes: list[int], seconds: list[float], where: str) -> float:
    """Prints the line through all sizes, and returns its slope."""
    slope, start = np.polyfit(sizes, seconds, 1)
    left = np.array(seconds) - (start + slope * np.array(sizes))
    print(
        f"{where}: {start:.1f} s + {slope * 1e6:.2f} us each; residuals "
        f"{', '.join(f'{residual:+.1f}' for residual in left)} s; 10^9: "
        f"{(start + slope * 1e9) / 3600:.2f} core-hours"
    )
    return float(slope)


if __name__ == "__main__":
    main()
