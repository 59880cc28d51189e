"""Sealed shards opened in several processes: what one process counts, bit for bit."""

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from service_parties import LEVELS, Parties, answers, parties

from shuffledp_services.analyst import shard_opening
from shuffledp_services.analyst.sealed_batch import SealedShard
from shuffledp_services.analyst.shard_opening import Interrupted, open_on_all_cores
from shuffledp_services.collection.message_counter import MessageCounter
from shuffledp_services.device.encode import seal_reports
from shuffledp_services.wire.canonical import to_text
from shuffledp_services.wire.step import Step

PEOPLE = 300


def sealed(folder: Path, made: Parties) -> tuple[Step, list[SealedShard]]:
    """Shards of three levels, of different sizes; some messages cannot be opened."""
    step, rng = Step(made.task, 1), np.random.default_rng(1)
    levels = np.repeat(LEVELS, PEOPLE // 3)
    values = answers("frequency", PEOPLE, rng)
    messages = step.run.randomize(values, levels, rng=rng)
    reports = seal_reports(step, messages, levels, [bytes(32)] * PEOPLE)
    rows = [report.sealed[0] for report in reports]
    rows[5] = rows[6] = rows[250] = bytes(step.sealed_size)
    shards, start = [], 0
    for number, count in enumerate((7, 93, 100, 41, 59)):
        path = folder / f"{number}.shard"
        path.write_bytes(b"".join(rows[start : start + count]))
        shards.append(SealedShard(path, start // 100, count))
        start += count
    return step, shards


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few messages are worth processes, and are many parts."""
    monkeypatch.setattr(shard_opening, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(shard_opening, "PART", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def counted(
    step: Step,
    shards: list[SealedShard],
    made: Parties,
    stopped: Callable[[], bool] = lambda: False,
) -> MessageCounter:
    key = made.analyst.private_key
    return open_on_all_cores(step, shards, key, stopped=stopped)


def in_one_process(
    step: Step, shards: list[SealedShard], made: Parties
) -> MessageCounter:
    assert shard_opening.WORTH_PROCESSES > PEOPLE
    return counted(step, shards, made)


@pytest.mark.slow
def test_all_cores_count_what_one_process_counts_and_find_no_key_lying_about(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = parties("frequency", mode="stratified")
    step, shards = sealed(tmp_path, made)
    alone = in_one_process(step, shards, made)
    request.getfixturevalue("many")
    seen, said = set[int](), b""

    def look() -> bool:
        nonlocal said
        for child in multiprocessing.active_children():
            seen.add(child.pid or 0)
            for name in ("cmdline", "environ"):
                said += Path(f"/proc/{child.pid}/{name}").read_bytes()
        return False

    found = counted(step, shards, made, look)

    assert len(seen) == 2
    key = made.analyst.private_key
    for text in (key, key.hex().encode(), to_text(key).encode(), repr(key).encode()):
        assert text not in said
    assert found.tally == alone.tally
    assert found.spoiled.tolist() == alone.spoiled.tolist() == [2, 0, 1]
    assert not multiprocessing.active_children()


def test_opening_stops_when_it_is_asked_to(tmp_path: Path) -> None:
    made = parties("frequency", mode="stratified")
    step, shards = sealed(tmp_path, made)

    with pytest.raises(Interrupted):
        counted(step, shards, made, lambda: True)


@pytest.mark.slow
def test_processes_stop_with_the_service_and_one_that_is_killed_loses_the_batch(
    tmp_path: Path, many: None
) -> None:
    made = parties("frequency", mode="stratified")
    step, shards = sealed(tmp_path, made)
    asked = 0

    def after_a_while() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    def kill() -> bool:
        for child in multiprocessing.active_children():
            child.kill()
        return False

    with pytest.raises(Interrupted):
        counted(step, shards, made, after_a_while)
    assert not multiprocessing.active_children()
    with pytest.raises(BrokenProcessPool):
        counted(step, shards, made, kill)


ORPHANS = """
import multiprocessing, os, signal, sys
sys.path[:0] = sys.argv[1:3]
from pathlib import Path
from test_shard_opening import counted, sealed, shard_opening
from service_parties import parties
def stopped():
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    shard_opening.WORTH_PROCESSES, shard_opening.PART = 1, 10
    os.cpu_count = lambda: 2
    made = parties("frequency", mode="stratified")
    counted(*sealed(Path(sys.argv[3]), made), made, stopped)
"""


@pytest.mark.slow
def test_no_process_with_a_key_outlives_the_service(tmp_path: Path) -> None:
    here = Path(__file__).parent
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)

    command = [sys.executable, str(script), str(here), str(here.parent), str(tmp_path)]
    done: Any = subprocess.run(command, capture_output=True, timeout=120, check=False)
    pids = [int(pid) for pid in done.stdout.split()]
    end = time.monotonic() + 60
    while time.monotonic() < end and any(map(runs, pids)):
        time.sleep(0.1)

    assert len(pids) == 2
    assert not any(map(runs, pids))


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    # What nobody waits for any more runs no longer, either.
    return state.rpartition(")")[2].split()[0] != "Z"
