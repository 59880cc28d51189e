"""Time and memory of collecting strings: python benchmarks/strings.py

A million people at three levels, 128 bits, 16 cohorts, 1,000 candidates: randomize,
shuffle, decode. Medians of three runs after one to warm up, in a process of its own. The
last row decodes alone: 4,000 candidates from 64 cohorts.
"""

import statistics
import time

import numpy as np
from machine import describe, isolated

import shuffledp as sdp
from shuffledp.analyzer.bit_shares import BitShares
from shuffledp.analyzer.strings import decode_strings
from shuffledp.statistics.strings.protocol import Strings

RUNS = 3
STEPS = ("randomize", "shuffle", "decode", "total")


def collect(num_users: int, num_candidates: int, mode: str) -> list[float]:
    """Returns the median seconds of each step."""
    rng = np.random.default_rng(1)
    quarter = num_users // 4
    people = sdp.Population.from_counts(
        {1.0: quarter, 2.0: num_users - 2 * quarter, 4.0: quarter}
    )
    levels = rng.permutation(people.budgets())
    candidates = [f"word {number}" for number in range(num_candidates)]
    chances = 1.0 / np.arange(1, num_candidates + 1)
    drawn = rng.choice(num_candidates, num_users, p=chances / chances.sum())
    strings = [candidates[number] for number in drawn]
    protocol = Strings(mode="stratified" if mode == "stratified" else "agnostic")
    rows = []
    for _ in range(RUNS + 1):
        times = [time.perf_counter()]
        reports = protocol.randomize(strings, levels, rng=rng)
        times.append(time.perf_counter())
        shuffled = sdp.shuffle(reports, rng=rng)
        times.append(time.perf_counter())
        protocol.estimate(shuffled, people, candidates=candidates)
        times.append(time.perf_counter())
        rows.append([*np.diff(times).tolist(), times[-1] - times[0]])
    return [statistics.median(column) for column in zip(*rows[1:], strict=True)]


def decode(num_candidates: int, num_cohorts: int, num_bits: int) -> float:
    """Returns the seconds of decoding counts of pure noise."""
    rng = np.random.default_rng(1)
    noise = np.full(num_cohorts, 1e-4)
    value = rng.normal(2.0 / num_bits, 1e-2, (num_cohorts, num_bits))
    start = time.perf_counter()
    decode_strings(
        BitShares(value, noise, noise, noise, noise),
        tuple(f"word {number}" for number in range(num_candidates)),
        num_hashes=2,
        num_users=10**6,
        false_discovery_rate=0.05,
        mode="agnostic",
    )
    return time.perf_counter() - start


def main() -> None:
    """Prints one row per mode, and one for a long list."""
    print(describe())
    print(
        f"{'mode':<12}{'people':>11}{'candidates':>12}"
        + "".join(f"{step:>11}" for step in STEPS)
        + f"{'peak MB':>9}"
    )
    for mode in ("agnostic", "stratified"):
        seconds, peak = isolated(collect, 10**6, 1000, mode)
        row = "".join(f"{second:>11.2f}" for second in seconds)
        print(f"{mode:<12}{10**6:>11,}{1000:>12,}{row}{peak:>9.0f}")
    alone, peak = isolated(decode, 4000, 64, 128)
    print(f"{'decode only':<12}{'':>11}{4000:>12,}{alone:>33.2f}{'':>11}{peak:>9.0f}")


if __name__ == "__main__":
    main()
