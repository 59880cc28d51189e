"""Processor time and memory of accounts, calibrations, plans and rehearsals.

Statistics, mechanisms, people, levels, delta and rounds are drawn from a seeded
generator. Every setting runs in a process of its own, with its processor time and peak
memory measured, until all together have used the stated seconds. A setting is stopped at
its own limit of processor time, and counts as beyond. Each is printed to standard error
before it runs, with what it took after. The worst are printed at the end, also where the
program is interrupted or terminated, and their number beyond 5 s or 1 GB; errors that
users are meant to see count as answers, others as failures.

    python benchmarks/budget.py --seed 1 --seconds 300 --limit 60
    python benchmarks/budget.py --seed 1 --only 17,45
"""

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from machine import describe

# What one call may take.
_MOST_SECONDS, _MOST_GIGABYTES = 5.0, 1.0
_WORST = 10
# Exit code of commands that refuse what they were asked.
_REFUSED = 2

_PROGRAM = """
import sys
import numpy as np
import shuffledp as sdp
from shuffledp.errors import ShuffledpError

def people(users, levels, values):
    draw = np.random.default_rng(1)
    return dict(value=draw.integers(values, size=users), level=draw.choice(levels, users))

try:
    {body}
except ShuffledpError as error:
    print(type(error).__name__, str(error)[:90], file=sys.stderr)
"""
_CLASSES = (
    "sdp.Frequency({k})",
    "sdp.Frequency({k}, mode='stratified')",
    "sdp.Mean(0, 1)",
    "sdp.Mean(0, 1, randomizer=sdp.Laplace())",
    "sdp.BinarySum()",
    "sdp.Strings({bits}, num_cohorts=2)",
    "sdp.KRandomizedResponse({k})",
    "sdp.UnaryEncoding({k})",
    "sdp.UnaryEncoding({k}, 'optimized')",
    "sdp.HadamardResponse({k})",
    "sdp.LocalHashing({k}, {b})",
    "sdp.SubsetSelection({k}, {b})",
    "sdp.GridResponse(0, 1, num_values={b})",
    "sdp.OneBit()",
    "sdp.Laplace()",
    "sdp.ClipLaplace()",
    "sdp.Gaussian()",
    "[sdp.Frequency({k}), sdp.Mean(0, 1)]",
    "[sdp.Frequency({k}), sdp.Mean(0, 1), sdp.BinarySum()]",
)


@dataclass(frozen=True)
class Setting:
    """A call in Python or on the command line.

    Attributes:
        text: A statement, or the arguments of `shuffledp`.
        is_command: Whether it is the latter.
    """

    text: str
    is_command: bool

    @property
    def command(self) -> list[str]:
        """The program and its arguments."""
        if self.is_command:
            main = "from shuffledp.cli.main import main; main()"
            return [sys.executable, "-c", main, *self.text.split()]
        return [sys.executable, "-c", _PROGRAM.format(body=self.text)]


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


def _protocol(draw: random.Random) -> str:
    k = draw.choice([3, 4, 8, 17, 30, 64, 300, 1024])
    small = draw.choice([2, 3])
    return draw.choice(_CLASSES).format(k=k, b=small, bits=draw.choice([32, 128]))


def _level(draw: random.Random) -> float:
    return round(draw.choice([0.03, 0.3, 1.0, 3.0, 10.0]) * draw.uniform(0.5, 1.5), 3)


def _levels(draw: random.Random, most: int = 40) -> dict[float, int]:
    users = draw.choice([2, 40, 1_000, 10_000, 10**6, 10**8])
    number = min(draw.choice([1, 1, 2, 3, 8, most]), users)
    levels = sorted({_level(draw) for _ in range(number)})
    return dict.fromkeys(levels, max(users // len(levels), 1))


def _population(draw: random.Random) -> str:
    if draw.random() < 0.7:
        return f"sdp.Population.from_counts({_levels(draw)})"
    users, low = draw.choice([3_000, 10**5, 10**6]), draw.choice([0.01, 0.05, 4.0])
    high = low * draw.choice([2.0, 20.0])
    budgets = f"np.random.default_rng(1).uniform({low}, {high}, {users})"
    return f"sdp.Population.from_budgets({budgets})"


def _delta(draw: random.Random) -> float:
    return draw.choice([1e-6, 1e-6, 1e-9, 1e-12, 1e-100])


def account_setting(draw: random.Random) -> Setting:
    """Returns an account of a random protocol and population."""
    asked = f"delta={_delta(draw)}"
    if draw.random() < 0.2:
        asked = f"epsilon={draw.choice([0.0, 0.1, 1.0])}"
    more = draw.choice(["", "", "", ", rounds=3", ", rounds=1000", ", absent=1"])
    call = f"sdp.account({_protocol(draw)}, {_population(draw)}, {asked}{more})"
    return Setting(call, is_command=False)


def _pairs(people: dict[float, int]) -> str:
    return ",".join(f"{level}:{count}" for level, count in people.items())


def _calibrate(draw: random.Random) -> Setting:
    mechanism = draw.choice(["kary-response", "one-bit", "laplace", "clip-laplace"])
    command = draw.choice(["levels", "scale", "rounds"])
    if mechanism == "kary-response":
        mechanism += f"(categories={draw.choice([2, 17, 300])})"
    text = f"calibrate {command} --mechanism {mechanism} --delta {_delta(draw)}"
    people = _levels(draw, 4)
    if command == "levels":
        targets = {round(0.02 * level, 5): n for level, n in people.items()}
        return Setting(f"{text} --targets {_pairs(targets)}", is_command=True)
    wanted = ",".join(str(round(0.3 * level, 5)) for level in people)
    text += f" --levels {_pairs(people)} --targets {wanted}"
    return Setting(text, is_command=True)


def _plan(draw: random.Random) -> Setting:
    statistic = draw.choice(["frequency", "mean", "counts"])
    size = {
        "frequency": f" --categories {draw.choice([2, 17, 128, 1024, 100_000])}",
        "mean": " --low 0 --high 1",
        "counts": f" --buckets {draw.choice([8, 64, 1024])}",
    }[statistic]
    people = _levels(draw, 4)
    option = "--levels"
    if statistic == "counts" or draw.random() < 0.3:
        option = "--targets"
        people = {round(0.3 * level, 5): n for level, n in people.items()}
    text = f"plan {statistic}{size} {option} {_pairs(people)} --delta {_delta(draw)}"
    return Setting(text, is_command=True)


def _rehearse(draw: random.Random) -> Setting:
    people = _levels(draw, 8)
    users = min(sum(people.values()), 10**6)
    statistic, options, values = draw.choice(
        [
            ("frequency", "", draw.choice([2, 17, 300])),
            ("mean", ", low=0, high=100", 101),
            ("sum", "", 2),
        ]
    )
    call = (
        f"sdp.rehearse(people({users}, {list(people)}, {values}), value='value', "
        f"{draw.choice(['level', 'level', 'targets'])}='level', "
        f"statistic='{statistic}'{options}, delta={_delta(draw)}, seed=1)"
    )
    return Setting(call, is_command=False)


def setting(draw: random.Random) -> Setting:
    """Returns a setting, of `account` more often than of others."""
    kinds: list[Callable[[random.Random], Setting]] = [
        account_setting,
        _calibrate,
        _plan,
        _rehearse,
    ]
    (kind,) = draw.choices(kinds, [6, 1, 2, 1])
    return kind(draw)


def cost(number: int, call: Setting, *, limit: int) -> Cost:
    """Runs a setting in a process of its own, and returns what it took.

    Args:
        number: Of the setting.
        call: The setting.
        limit: Seconds of processor time after which it is stopped.
    """
    process = subprocess.Popen(
        call.command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
    )
    try:
        _, status, used = os.wait4(process.pid, 0)
    except KeyboardInterrupt:
        process.kill()
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    return Cost(number, call, seconds, used.ru_maxrss / 1e6, process.returncode)


def measure(chosen: argparse.Namespace, costs: list[Cost]) -> None:
    """Runs settings one after the other, and adds what they took."""
    only = {int(number) for number in chosen.only.split(",") if number}
    draw, number = random.Random(chosen.seed), 0
    while sum(each.seconds for each in costs) < chosen.seconds:
        call = setting(draw)
        if not only or number in only:
            print(f"{number:4d} {call.text}", file=sys.stderr, flush=True)
            costs.append(cost(number, call, limit=chosen.limit))
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
