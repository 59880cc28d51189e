"""Detection rate of `check_randomizer` on randomizers that leak.

Runs every device of tests/oracles/wrong_randomizers.py several times.

    python benchmarks/wrong_randomizers.py --runs 5
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from machine import describe
from oracles.wrong_randomizers import wrong_randomizers

import shuffledp as sdp
from shuffledp.testing import check_randomizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print(describe())
    print("| what is wrong | found | by |\n|---|---|---|")
    caught = 0
    for name, (device, _) in wrong_randomizers().items():
        failed: list[str] = []
        hits = 0
        for seed in range(runs):
            try:
                check_randomizer(device, rng=np.random.default_rng(seed))
            except sdp.ConformanceError as error:
                hits += 1
                failed += error.conformance.failed  # type: ignore[attr-defined]
        caught += hits == runs
        by = ", ".join(dict.fromkeys(failed)) or "-"
        print(f"| {name} | {hits} of {runs} | {by} |", flush=True)
    print(f"\n{caught} of {len(wrong_randomizers())} are found every time.")


if __name__ == "__main__":
    main()
