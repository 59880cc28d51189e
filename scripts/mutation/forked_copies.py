"""Jobs in processes of their own, each in a copy of the project."""

import contextlib
import importlib
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

MEMORY = 6 << 30  # bytes: a wrong size must not take the machine's
# What nearly every test needs is loaded once; nothing of the project may be.
LOADED = ("mpmath", "numpy", "scipy.optimize", "scipy.stats")
SOURCES = ("src", "services/src", "papers/src")
TESTS = ("tests", "services/tests", "papers/tests")
# What a child does in its copy, and what becomes of its exit code.
Job = tuple[Callable[[Path], int], Callable[[Path, int | None, float], None]]


def copied(root: Path, place: Path) -> Path:
    """Copies what mutants change and tests read; the rest of the project is linked."""
    place.mkdir()
    for each in root.iterdir():
        if each.name in ("src", "tests", "services", "papers"):
            # What is compiled stays: it is taken only where the source is the same.
            ignore = shutil.ignore_patterns("node_modules")
            shutil.copytree(each, place / each.name, ignore=ignore)
        elif each.name not in (".git", "build"):
            (place / each.name).symlink_to(each)
    return place


def run(jobs: Iterable[Job], copies: list[Path], limit: float) -> None:
    """Runs each in a process of its own, which has its own process group."""
    for module in LOADED:
        importlib.import_module(module)
    waiting, free = iter(jobs), list(copies)
    running = dict[int, tuple[Path, float, Job]]()
    job = next(waiting, None)
    try:
        while job is not None or running:
            while job is not None and free:
                place = free.pop()
                pid = os.fork()
                if pid == 0:
                    os._exit(_in_child(job[0], place))
                running[pid] = (place, time.monotonic(), job)
                job = next(waiting, None)
            for pid, (place, since, (_, finish)) in list(running.items()):
                ended, status = os.waitpid(pid, os.WNOHANG)
                took = time.monotonic() - since
                if not ended and took < limit:
                    continue
                _stop(pid)
                if not ended:
                    os.waitpid(pid, 0)
                del running[pid]
                free.append(place)
                finish(
                    place, os.waitstatus_to_exitcode(status) if ended else None, took
                )
            time.sleep(0.02)
    finally:
        for pid in running:
            _stop(pid)


def _stop(pid: int) -> None:
    # Nothing may be left of it.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _in_child(act: Callable[[Path], int], place: Path) -> int:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.chdir(place)
    with Path("output.txt").open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sources = [str(place / folder) for folder in SOURCES]
    tests = [str(place / folder) for folder in TESTS]
    sys.path[:0] = sources
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([*sources, *tests, before])
    try:
        return act(place)
    except BaseException:
        return 1
