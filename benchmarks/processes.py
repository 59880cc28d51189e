"""Processor time and memory of a process and all its child processes."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measured:
    """Output, time and memory of a process and its children.

    Attributes:
        output: Its standard output, read as JSON.
        seconds: Wall-clock time.
        busy: Seconds of processor time.
        megabytes: Largest sum of memory of all processes at one time.
        driver: Largest memory of the process itself, in megabytes.
    """

    output: str
    seconds: float
    busy: float
    megabytes: float
    driver: float


def measure(command: Sequence[str]) -> Measured:
    """Runs a program, and samples all of its processes, ten times a second."""
    start, peak, driver = time.perf_counter(), 0.0, 0.0
    busy: dict[int, float] = {}
    with tempfile.TemporaryFile() as output:
        running = subprocess.Popen(command, stdout=output)
        while running.poll() is None:
            memory = dict(sample(running.pid, busy))
            peak = max(peak, sum(memory.values()))
            driver = max(driver, memory.get(running.pid, 0.0))
            time.sleep(0.1)
        seconds = time.perf_counter() - start
        output.seek(0)
        printed = output.read()
    if running.returncode:
        raise SystemExit(f"Expected {command} to end, got {running.returncode}.")
    return Measured(json.loads(printed), seconds, sum(busy.values()), peak, driver)


def sample(root: int, busy: dict[int, float]) -> Iterator[tuple[int, float]]:
    """Records the processor time of a tree of processes; yields their megabytes."""
    ticks = os.sysconf("SC_CLK_TCK")
    for process in tree(root):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        busy[process] = (int(fields[11]) + int(fields[12])) / ticks
        pages = next(x for x in rollup.splitlines() if x.startswith("Pss:"))
        yield process, int(pages.split()[1]) / 1024


def tree(root: int) -> Iterator[int]:
    """Yields a process and all its descendants."""
    yield root
    try:
        tasks = list(Path(f"/proc/{root}/task").iterdir())
        children = [(task / "children").read_text().split() for task in tasks]
    except OSError:
        return
    for child in (int(child_id) for ids in children for child_id in ids):
        yield from tree(child)
