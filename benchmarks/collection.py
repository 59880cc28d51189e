"""Time and memory of a whole collection: python benchmarks/collection.py

Ten million people at three levels: certify, randomize, shuffle, estimate. Medians of five
runs after one to warm up, each kind in a process of its own.
"""

import statistics
import time

import numpy as np
from machine import describe, isolated

import shuffledp as sdp
from shuffledp.types import Mode

RUNS = 5
NUM_USERS = 10**7
STEPS = ("certify", "randomize", "shuffle", "estimate", "total")


def collect(what: str, num_categories: int, mode: Mode) -> list[float]:
    """Returns the median seconds of each step."""
    rng = np.random.default_rng(1)
    quarter = NUM_USERS // 4
    people = sdp.Population.from_counts(
        {0.5: quarter, 1.0: NUM_USERS - 2 * quarter, 2.0: quarter}
    )
    levels = rng.permutation(people.budgets())
    protocol: sdp.Frequency | sdp.Mean
    if what == "mean":
        protocol = sdp.Mean(20.0, 80.0, mode=mode)
        values = np.clip(rng.normal(50.0, 10.0, NUM_USERS), 20.0, 80.0)
    else:
        protocol = sdp.Frequency(num_categories, mode)
        values = rng.integers(num_categories, size=NUM_USERS).astype(np.uint8)
    rows = []
    for _ in range(RUNS + 1):
        times = [time.perf_counter()]
        sdp.account(protocol, people, delta=1e-8)
        times.append(time.perf_counter())
        reports = protocol.randomize(values, levels, rng=rng)
        times.append(time.perf_counter())
        shuffled = sdp.shuffle(reports, rng=rng)
        times.append(time.perf_counter())
        protocol.estimate(shuffled, people)
        times.append(time.perf_counter())
        rows.append([*np.diff(times).tolist(), times[-1] - times[0]])
    return [statistics.median(column) for column in zip(*rows[1:], strict=True)]


def main() -> None:
    """Prints one row per kind of collection."""
    print(describe())
    print(
        f"{'statistic':<12}{'mode':<12}{'people':>12}{'k':>5}"
        + "".join(f"{s:>11}" for s in STEPS)
        + f"{'peak MB':>9}"
    )
    kinds: tuple[tuple[str, int], ...] = (
        ("frequency", 17),
        ("frequency", 128),
        ("mean", 2),
    )
    modes: tuple[Mode, ...] = ("agnostic", "stratified")
    for what, k in kinds:
        for mode in modes:
            seconds, peak = isolated(collect, what, k, mode)
            row = "".join(f"{second:>11.2f}" for second in seconds)
            categories = "-" if what == "mean" else str(k)
            print(
                f"{what:<12}{mode:<12}{NUM_USERS:>12,}{categories:>5}{row}{peak:>9.0f}"
            )


if __name__ == "__main__":
    main()
