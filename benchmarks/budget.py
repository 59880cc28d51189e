"""Processor time and memory of accounts, calibrations, plans and rehearsals.

Statistics, mechanisms, people, levels, delta and rounds are drawn from a seeded
generator. Every setting runs in a process of its own, forked from one that has imported
the library and nothing else, with its processor time and peak memory measured; what
Python and that import take is measured once, and added. Settings are drawn until there
are enough of them, or until all together have used the stated seconds. A setting is
stopped at its own limit of processor time, and counts as beyond. Each is printed to
standard error before it runs, with what it took after. The worst are printed at the end,
also where the program is interrupted or terminated, and their number beyond 5 s or 1 GB;
errors that users are meant to see count as answers, others as failures.

    python benchmarks/budget.py --seed 1 --seconds 300 --limit 60
    python benchmarks/budget.py --seed 1 --number 5000 --seconds inf
    python benchmarks/budget.py --seed 1 --only 17,45
"""

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass

from machine import describe
from random_settings import Setting, setting

# What one call may take.
_MOST_SECONDS, _MOST_GIGABYTES = 5.0, 1.0
_WORST = 10
# Exit code of commands that refuse what they were asked.
_REFUSED = 2

# What all settings need.
_START = "import numpy as np, shuffledp as sdp, shuffledp.cli.main"


@dataclass(frozen=True)
class Cost:
    """What a setting took.

    Attributes:
        number: Of the setting, from 0.
        setting: The call.
        seconds: Processor time, with the start of Python.
        gigabytes: Peak memory.
        code: Exit code; negative if it was stopped.
    """

    number: int
    setting: Setting
    seconds: float
    gigabytes: float
    code: int

    @property
    def exceeds(self) -> bool:
        """Whether it took more than a call may."""
        late = self.seconds > _MOST_SECONDS or self.code < 0
        return late or self.gigabytes > _MOST_GIGABYTES

    @property
    def failed(self) -> bool:
        """Whether it ended with an error that no user should see."""
        return self.code > 0 and self.code != _REFUSED


def start_seconds() -> float:
    """Returns the processor time of a process that imports what all settings need."""
    process = subprocess.Popen([sys.executable, "-c", _START])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def cost(number: int, call: Setting, *, start: float, limit: int) -> Cost:
    """Runs a setting in a process of its own, and returns what it took.

    Args:
        number: Of the setting.
        call: The setting.
        start: Seconds of processor time to add, of the start of Python.
        limit: Seconds of processor time after which it is stopped.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if not process:
        code = 1
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            code = call.run()
        finally:
            os._exit(code)
    try:
        _, status, used = os.wait4(process, 0)
    except KeyboardInterrupt:
        os.kill(process, signal.SIGKILL)
        os.wait4(process, 0)
        raise
    seconds = start + used.ru_utime + used.ru_stime
    code = os.waitstatus_to_exitcode(status)
    return Cost(number, call, seconds, used.ru_maxrss / 1e6, code)


def measure(chosen: argparse.Namespace, costs: list[Cost]) -> None:
    """Runs settings one after the other, and adds what they took."""
    only = {int(number) for number in chosen.only.split(",") if number}
    draw, number, start = random.Random(chosen.seed), 0, start_seconds()
    while (
        len(costs) < chosen.number
        and sum(each.seconds for each in costs) < chosen.seconds
    ):
        call = setting(draw)
        if not only or number in only:
            print(f"{number:4d} {call.text}", file=sys.stderr, flush=True)
            costs.append(cost(number, call, start=start, limit=chosen.limit))
            _print(
                costs[-1], to_errors=not (costs[-1].exceeds or costs[-1].failed or only)
            )
        number += 1
        if only and number > max(only):
            break


def _terminated(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Prints the worst settings; exit code 1 if one takes more than it may, or fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--number", type=int, default=10_000, help="of settings")
    parser.add_argument(
        "--limit", type=int, default=60, help="seconds after which a setting is stopped"
    )
    parser.add_argument("--only", default="", help="numbers of settings, as 17,45")
    costs: list[Cost] = []
    signal.signal(signal.SIGTERM, _terminated)
    try:
        measure(parser.parse_args(), costs)
    except KeyboardInterrupt:
        print("Stopped early.", flush=True)
    print(f"{describe()}: {len(costs)} settings, the worst {_WORST}:")
    for each in sorted(costs, key=lambda each: -each.seconds)[:_WORST]:
        _print(each)
    largest = max((each.gigabytes for each in costs), default=0.0)
    beyond = sum(each.exceeds for each in costs)
    failed = sum(each.failed for each in costs)
    print(
        f"largest memory {largest:.2f} GB; {beyond} beyond 5 s or 1 GB; {failed} failed"
    )
    return int(beyond + failed > 0)


def _print(each: Cost, *, to_errors: bool = False) -> None:
    what = f"{each.seconds:6.2f} s {each.gigabytes:5.2f} GB, exit {each.code}"
    file = sys.stderr if to_errors else sys.stdout
    print(f"{each.number:4d} {what}: {each.setting.text}", file=file, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
