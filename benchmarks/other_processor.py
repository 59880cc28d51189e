"""Random accounts on a processor with vector instructions, and on one without.

A certificate is verified by recomputation, often on another processor, whose sums are
rounded otherwise. NumPy is run once as it is, and once without most of what this
processor has beyond its baseline; certified numbers that differ are printed.

    python benchmarks/other_processor.py --seed 5 --settings 100
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys

import numpy as np
from machine import describe
from random_settings import account_setting

import shuffledp as sdp
from shuffledp.errors import ShuffledpError

# Names of NumPy's groups of instructions, of which a processor has some.
_INSTRUCTIONS = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3 AVX512F AVX512_SKX"
_WITHOUT = {
    "NPY_DISABLE_CPU_FEATURES": _INSTRUCTIONS,
    "OPENBLAS_CORETYPE": "Prescott",
}


class _LateError(Exception):
    """A setting took more processor time than it may."""


def _stop(_signal: int, _frame: object) -> None:
    raise _LateError


def certified(text: str, seconds: float) -> list[float] | None:
    """Returns certified epsilons and deltas of a call; None if refused or late."""
    names = {"sdp": sdp, "np": np}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        # Written by this benchmark's own generator of settings.
        guarantee = eval(text, names)
    except (ShuffledpError, _LateError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return [
        number
        for level in guarantee.levels
        for number in (level.epsilon_central, level.delta_central)
    ]


def answers(arguments: list[str], more: dict[str, str]) -> list[list[float] | None]:
    """Returns what a process of its own, with more environment variables, certifies."""
    printed = subprocess.run(
        [sys.executable, __file__, "--print", *arguments],
        env=os.environ | more,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    return [json.loads(line) for line in printed.splitlines()]


def main() -> int:
    """Prints settings whose numbers differ; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settings", type=int, default=100)
    parser.add_argument(
        "--limit", type=float, default=6.0, help="seconds of processor time of each"
    )
    parser.add_argument("--print", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    draw = random.Random(chosen.seed)
    texts = [account_setting(draw).text for _ in range(chosen.settings)]
    if chosen.print:
        signal.signal(signal.SIGPROF, _stop)
        for text in texts:
            print(json.dumps(certified(text, chosen.limit)), flush=True)
        return 0
    both = [answers(sys.argv[1:], more) for more in ({}, _WITHOUT)]
    pairs = list(zip(texts, *both, strict=True))
    compared = [(t, a, b) for t, a, b in pairs if a is not None and b is not None]
    others = [(t, a, b) for t, a, b in compared if a != b]
    for text, first, second in others:
        ratios = [
            x / y - 1.0 for x, y in zip(first, second, strict=True) if x != y and y
        ]
        print(f"{max(ratios, key=abs, default=0.0):+.1e} {text}")
    print(f"{describe()}: {len(others)} of {len(compared)} settings differ")
    return int(bool(others))


if __name__ == "__main__":
    raise SystemExit(main())
