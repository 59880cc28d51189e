"""What a process and all that it starts take: seconds of processors, and memory."""

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
    """What a process and its children took.

    Attributes:
        found: What it printed, read as JSON.
        seconds: By the clock.
        busy: Of the processors.
        megabytes: The most that all of them held at a time.
        driver: The most that the process itself held, in megabytes.
    """

    found: str
    seconds: float
    busy: float
    megabytes: float
    driver: float


def measure(command: Sequence[str]) -> Measured:
    """Runs a program, and looks at all of its processes, ten times a second."""
    start, peak, own = time.perf_counter(), 0.0, 0.0
    busy: dict[int, float] = {}
    with tempfile.TemporaryFile() as output:
        running = subprocess.Popen(command, stdout=output)
        while running.poll() is None:
            held = dict(look(running.pid, busy))
            peak = max(peak, sum(held.values()))
            own = max(own, held.get(running.pid, 0.0))
            time.sleep(0.1)
        seconds = time.perf_counter() - start
        output.seek(0)
        said = output.read()
    if running.returncode:
        raise SystemExit(f"Expected {command} to end, got {running.returncode}.")
    return Measured(json.loads(said), seconds, sum(busy.values()), peak, own)


def look(root: int, busy: dict[int, float]) -> Iterator[tuple[int, float]]:
    """Notes the processors' seconds of a tree of processes; gives each one's megabytes."""
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
    """Gives a process and all below it."""
    yield root
    try:
        tasks = list(Path(f"/proc/{root}/task").iterdir())
        children = [(task / "children").read_text().split() for task in tasks]
    except OSError:
        return
    for child in (int(one) for some in children for one in some):
        yield from tree(child)
