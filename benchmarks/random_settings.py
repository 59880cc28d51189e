"""Random calls of the library and of its commands, each as users may write them."""

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import shuffledp as sdp
from shuffledp.cli import main as command_line
from shuffledp.errors import ShuffledpError

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

    def run(self) -> int:
        """Returns the exit code."""
        if not self.is_command:
            try:
                exec(self.text, {"np": np, "sdp": sdp, "people": people})
            except ShuffledpError:
                return 0
            return 0
        sys.argv = ["shuffledp", *self.text.split()]
        try:
            command_line.main()
        except SystemExit as stopped:
            return stopped.code if isinstance(stopped.code, int) else 0
        return 0


def people(users: int, levels: list[float], values: int) -> dict[str, object]:
    """Returns columns of answers and of levels, in no particular order."""
    draw = np.random.default_rng(1)
    return {
        "value": draw.integers(values, size=users),
        "level": draw.choice(levels, users),
    }


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
    mechanism = draw.choice(
        ["kary-response", "one-bit", "laplace", "gaussian", "clip-laplace"]
    )
    command = draw.choice(["levels", "scale", "rounds"])
    if mechanism == "kary-response":
        mechanism += f"(categories={draw.choice([2, 17, 300])})"
    text = f"calibrate {command} --mechanism {mechanism} --delta {_delta(draw)}"
    if command != "rounds":
        text += draw.choice(["", "", " --rounds 12", " --rounds 365", " --absent 1"])
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
