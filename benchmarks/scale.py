"""What a million to a hundred million cost, in one process and on Spark.

    python benchmarks/scale.py devices 1e6 2e6 4e6 1e7    randomize, tally, certify
    python benchmarks/scale.py open 1e5 2e5 4e5 1e6       open sealed messages, and count
    python benchmarks/scale.py account 1e5 1e6 1e7        certify budgets that all differ

Every size is done twice, one after the other: by one process, with the same work in
pieces, and by `local[2]`. What they found must be equal. Seconds are of the processors,
those of all child processes included; memory is the largest sum, sampled, of what the
processes hold (proportional set sizes, in which shared pages count once). A line is fitted
to the seconds of all sizes; residuals are shown, and what it says of 10^9.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from machine import describe

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from oracles.service_parties import LEVELS as CHOICES
from oracles.service_parties import Parties, answers, parties

import shuffledp as sdp
from shuffledp import scale
from shuffledp.scale.devices import Devices
from shuffledp.scale.opening import open_and_tally
from shuffledp.scale.session import session
from shuffledp.service.analyst.sealed_batch import SealedBatch
from shuffledp.service.collection.counting import Counting
from shuffledp.service.encode import seal_reports
from shuffledp.service.wire.batch import BatchHeader, Shard, write_manifest
from shuffledp.service.wire.canonical import to_text
from shuffledp.service.wire.order import hashes_of, prefixes_of
from shuffledp.service.wire.roster import Enrolment
from shuffledp.service.wire.sealing import Opener
from shuffledp.service.wire.signing import signed
from shuffledp.service.wire.step import Step
from shuffledp.tally import Tally

SECRET = bytes(range(32))
PROTOCOL, DELTA, LEVELS = sdp.Frequency(128), 1e-8, np.array([0.5, 1.0, 2.0, 1.0])
PIECE, SHARD = 1 << 18, 1 << 17
# Scrambles whole numbers below 2^31 without a collision, in NumPy and in Spark alike.
FACTOR, BELOW = 2_654_435_761, 1 << 32


def scrambled(start: int, end: int) -> np.ndarray:
    """Returns numbers in [0, 2^32), one for each person, shape (end - start,)."""
    return np.arange(start, end) * FACTOR % BELOW


def said(tally: Tally, people: sdp.Population) -> str:
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
    devices, tally = Devices.of(PROTOCOL, SECRET), None
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
    return said(tally, sdp.Population(tally.levels, tally.people[0]))


def devices_on_spark(people: int) -> str:
    from pyspark.sql import functions as f

    with session("local[2]") as spark:
        hashed = f.expr(f"id * {FACTOR}L % {BELOW}L")
        place = f.shiftright("hashed", 9).bitwiseAND(3)
        level = f.element_at(
            f.array(*map(f.lit, LEVELS.tolist())), place.cast("int") + 1
        )
        value = f.shiftright("hashed", 25)
        frame = spark.range(people).select("id", hashed.alias("hashed"))
        frame = frame.select("id", value.alias("value"), level.alias("level"))
        crowd = scale.population(frame, "level")
        sent = scale.randomize(
            frame, PROTOCOL, person="id", value="value", level="level", secret=SECRET
        )
        return said(scale.tally(sent, PROTOCOL), crowd)


def account_in_one(people: int) -> str:
    budgets = 0.1 + 2.9 * (scrambled(0, people) / BELOW)
    found = sdp.account(PROTOCOL, sdp.Population.from_budgets(budgets), delta=DELTA)
    return str(found.to_dict())


def account_on_spark(people: int) -> str:
    from pyspark.sql import functions as f

    with session("local[2]") as spark:
        budget = f.lit(0.1) + f.lit(2.9) * (
            f.expr(f"id * {FACTOR}L % {BELOW}L") / BELOW
        )
        frame = spark.range(people).select(budget.alias("budget"))
        found = scale.account(frame, PROTOCOL, budget="budget", delta=DELTA)
    return str(found.to_dict())


def asker() -> Parties:
    """Returns a task, the same in every process."""
    return parties("frequency")


def prepare(people: int, folder: Path) -> None:
    """Writes a batch of so many sealed messages, and whose it is."""
    import pickle

    made, rng = asker(), np.random.default_rng(1)
    step, rows = Step(made.task, 1), list[bytes]()
    for start in range(0, people, PIECE):
        count = min(PIECE, people - start)
        levels = np.resize(CHOICES, count)
        values = answers("frequency", count, rng)
        messages = step.run.randomize(values, levels, rng=rng)
        reports = seal_reports(step, messages, levels, [bytes(32)] * count)
        rows += [report.sealed[0] for report in reports]
    content, size = b"".join(rows), step.sealed_size
    hashes = hashes_of(content, size)
    order = np.argsort(hashes)
    bits = max(people - 1, 1).bit_length() - SHARD.bit_length() + 1
    bits = max(bits, 1)
    prefixes = prefixes_of(hashes[order], bits)
    table, shards = np.frombuffer(content, np.uint8).reshape(-1, size)[order], []
    for prefix in range(1 << bits):
        first, end = np.searchsorted(prefixes, [prefix, prefix + 1])
        part = table[first:end].tobytes()
        (folder / f"{prefix}.shard").write_bytes(part)
        shards.append(Shard(0, prefix, int(end - first), hashlib.sha256(part).digest()))
    told = {
        "task": to_text(made.task.digest),
        "epoch": 1,
        "tokens": people,
        "sha256": to_text(bytes(32)),
    }
    enrolment = Enrolment.read(
        signed("enrolment", told, made.enroller.signing_key), made.task
    )
    counts = np.bincount(np.resize(np.arange(len(CHOICES)), people)).tolist()
    header = BatchHeader(
        made.task.digest,
        1,
        0,
        step.stage,
        bytes(16),
        tuple(counts),
        size,
        bits,
        tuple(shards),
        enrolment,
    )
    (folder / "manifest.bin").write_bytes(
        write_manifest(header, made.shuffler.signing_key)
    )
    secrets = (made.task, made.analyst.private_key)
    (folder / "whose.pickle").write_bytes(pickle.dumps(secrets))


def told_of(counting: Counting) -> str:
    assert counting.tally is not None
    return str((counting.tally.to_dict(), counting.spoiled.tolist()))


def whose(folder: Path) -> Any:
    import pickle

    return pickle.loads((folder / "whose.pickle").read_bytes())


def open_in_one(folder: str) -> str:
    """Opens and counts, and does nothing else."""
    task, key = whose(Path(folder))
    batch, step = SealedBatch.read(Path(folder), task), Step(task, 1)
    counting, size = Counting(step), step.sealed_size
    opener = Opener(task.suite, key, step.info(0))
    for shard in batch.shards():
        content = shard.path.read_bytes()
        for start in range(0, len(content), 4096 * size):
            part = content[start : start + 4096 * size]
            opened = [
                opener.open(part[at : at + size]) for at in range(0, len(part), size)
            ]
            counting.add(0, opened)
    return told_of(counting)


def open_on_spark(folder: str) -> str:
    task, key = whose(Path(folder))
    with session("local[2]") as spark:
        return told_of(open_and_tally(spark, folder, task=task, private_key=key))


WORK: dict[str, tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    "devices": (devices_in_one, devices_on_spark),
    "open": (open_in_one, open_on_spark),
    "account": (account_in_one, account_on_spark),
}


@dataclass(frozen=True)
class Measured:
    """What a process and its children took."""

    found: str
    seconds: float
    busy: float
    megabytes: float


def measure(name: str, where: int, argument: str) -> Measured:
    """Runs work in a process of its own, and looks at all of its processes."""
    start, peak = time.perf_counter(), 0.0
    busy: dict[int, float] = {}
    command = [sys.executable, __file__, "--work", name, str(where), argument]
    with tempfile.TemporaryFile() as output:
        running = subprocess.Popen(command, stdout=output)
        while running.poll() is None:
            peak = max(peak, look(running.pid, busy))
            time.sleep(0.1)
        seconds = time.perf_counter() - start
        output.seek(0)
        found = json.loads(output.read())
    if running.returncode:
        raise SystemExit(f"Expected {name} to end, got {running.returncode}.")
    return Measured(found, seconds, sum(busy.values()), peak)


def look(root: int, busy: dict[int, float]) -> float:
    """Notes the processors' seconds of a tree of processes; returns its megabytes."""
    total, ticks = 0, os.sysconf("SC_CLK_TCK")
    for process in tree(root):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        busy[process] = (int(fields[11]) + int(fields[12])) / ticks
        total += next(int(x.split()[1]) for x in rollup.splitlines() if x[:4] == "Pss:")
    return total / 1024


def tree(root: int) -> Iterator[int]:
    yield root
    try:
        tasks = list(Path(f"/proc/{root}/task").iterdir())
        children = [(task / "children").read_text().split() for task in tasks]
    except OSError:
        return
    for child in (int(one) for some in children for one in some):
        yield from tree(child)


def main() -> None:
    """Prints a row per size, and the lines through them."""
    if sys.argv[1:2] == ["--work"]:
        name, where, argument = sys.argv[2:]
        given: Any = argument if name == "open" else int(argument)
        print(json.dumps(WORK[name][int(where)](given)))
        return
    name, sizes = sys.argv[1], [int(float(text)) for text in sys.argv[2:]]
    print(describe())
    names = (
        "size",
        "one: s",
        "busy s",
        "MB",
        "local[2]: s",
        "busy s",
        "MB",
        "busy ratio",
    )
    print("".join(f"{heading:>13}" for heading in names), flush=True)
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            argument = str(size)
            if name == "open":
                prepare(size, Path(folder))
                argument = folder
            one, spark = (measure(name, where, argument) for where in (0, 1))
        if one.found != spark.found:
            raise SystemExit(f"Expected the same of {size:,}, got something else.")
        rows.append((size, one.busy, spark.busy))
        numbers = [v for m in (one, spark) for v in (m.seconds, m.busy, m.megabytes)]
        shown = "".join(f"{number:>13,.1f}" for number in numbers)
        print(f"{size:>13,}{shown}{spark.busy / one.busy:>13.2f}", flush=True)
    for place, where in ((1, "one process"), (2, "local[2]")):
        if len(rows) > 2:
            fit([row[0] for row in rows], [row[place] for row in rows], where)


def fit(sizes: list[int], seconds: list[float], where: str) -> None:
    slope, start = np.polyfit(sizes, seconds, 1)
    left = np.array(seconds) - (start + slope * np.array(sizes))
    print(
        f"{where}: {start:.1f} s + {slope * 1e6:.2f} us each; residuals "
        f"{', '.join(f'{one:+.1f}' for one in left)} s; 10^9: "
        f"{(start + slope * 1e9) / 3600:.2f} core-hours"
    )


if __name__ == "__main__":
    main()
