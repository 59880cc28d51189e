"""Time and memory of a whole collection: python benchmarks/collection.py

Ten million people at three levels, 17 categories: randomize, shuffle, estimate. Medians of
five runs after one to warm up, in a process of its own.
"""

import statistics
import time

import numpy as np
from machine import describe, isolated

import shuffledp as sdp

RUNS = 5
STEPS = ("randomize", "shuffle", "estimate", "total")


def collect(num_users: int, num_categories: int, mode: str) -> list[float]:
    """Returns the median seconds of each step."""
    rng = np.random.default_rng(1)
    quarter = num_users // 4
    people = sdp.Population.from_counts(
        {0.5: quarter, 1.0: num_users - 2 * quarter, 2.0: quarter}
    )
    levels = rng.permutation(people.budgets())
    values = rng.integers(num_categories, size=num_users).astype(np.uint8)
    frequency = sdp.Frequency(
        num_categories, "stratified" if mode == "stratified" else "agnostic"
    )
    rows = []
    for _ in range(RUNS + 1):
        times = [time.perf_counter()]
        reports = frequency.randomize(values, levels, rng=rng)
        times.append(time.perf_counter())
        shuffled = sdp.shuffle(reports, rng=rng)
        times.append(time.perf_counter())
        frequency.estimate(shuffled, people)
        times.append(time.perf_counter())
        rows.append([*np.diff(times).tolist(), times[-1] - times[0]])
    return [statistics.median(column) for column in zip(*rows[1:], strict=True)]


def main() -> None:
    """Prints one row per mode."""
    print(describe())
    print(
        f"{'mode':<12}{'people':>12}{'k':>4}"
        + "".join(f"{s:>11}" for s in STEPS)
        + f"{'peak MB':>9}"
    )
    for mode in ("agnostic", "stratified"):
        seconds, peak = isolated(collect, 10**7, 17, mode)
        row = "".join(f"{second:>11.2f}" for second in seconds)
        print(f"{mode:<12}{10**7:>12,}{17:>4}{row}{peak:>9.0f}")


if __name__ == "__main__":
    main()
