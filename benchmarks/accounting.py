"""Time and memory of the accountant: python benchmarks/accounting.py

Three levels and two numbers of categories at 10^3 to 10^9 people, then a million people
with a million distinct budgets, then noise, and repeated collections; last, the time of one
evaluation of delta(epsilon). Each setting runs in a process of its own, for its peak
memory; times are medians of five runs after one to warm up.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
from machine import describe, isolated

import shuffledp as sdp
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.cover import LocalRandomizer

RUNS = 5


def measure(
    randomizer: LocalRandomizer,
    people: sdp.Population,
    *,
    delta: float = 1e-6,
    coordinates: int = 1,
) -> tuple[float, float]:
    """Returns the median seconds for all levels, and the worst upper/lower ratio."""
    protocol = sdp.SingleMessage(randomizer)
    seconds = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        guarantee = sdp.account(protocol, people, delta=delta, coordinates=coordinates)
        seconds.append(time.perf_counter() - start)
    ratio = max(
        level.epsilon_central / level.epsilon_central_lower
        for level in guarantee.levels
    )
    return statistics.median(seconds[1:]), ratio


def three_levels(num_users: int) -> sdp.Population:
    """Returns a quarter, a half and a quarter of the people at 0.5, 1 and 2."""
    quarter = num_users // 4
    return sdp.Population.from_counts(
        {0.5: quarter, 1.0: num_users - 2 * quarter, 2.0: quarter}
    )


def uniform_budgets(num_users: int) -> sdp.Population:
    """Returns distinct budgets, drawn uniformly from [0.05, 1]."""
    rng = np.random.default_rng(1)
    return sdp.Population.from_budgets(
        sdp.draw_budgets("apes/uniform2", num_users, rng=rng)
    )


def kary(people: sdp.Population, k: int) -> tuple[float, float]:
    """Measures k-ary response."""
    return measure(sdp.KRandomizedResponse(k), people)


def noise(people: sdp.Population, coordinates: int) -> tuple[float, float]:
    """Measures Clip-Laplace noise on several coordinates."""
    delta = 1e-6 if coordinates == 1 else 3.6e-5
    return measure(sdp.ClipLaplace(), people, delta=delta, coordinates=coordinates)


def evaluation(num_users: int, k: int) -> float:
    """Returns the median milliseconds of one certified delta(epsilon)."""
    people = three_levels(num_users)
    randomizer = sdp.KRandomizedResponse(k)
    profile = upper_profiles(randomizer, people, [1], delta=1e-6)[0]
    seconds = []
    for step in range(40):
        start = time.perf_counter()
        profile.delta(5.0 / num_users**0.5 * (1.0 + step / 100.0))
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds)


def main() -> None:
    """Prints one row per setting."""
    print(describe())
    print(f"{'setting':<28}{'people':>14}{'k':>5}{'median s':>11}", end="")
    print(f"{'peak MB':>9}{'upper/lower':>13}")
    rows: list[tuple[str, int, str, Callable[..., tuple[float, float]], int]] = []
    for k in (2, 17):
        for exponent in range(3, 10):
            rows.append(("three levels", 10**exponent, "three", kary, k))
    for k in (2, 17):
        rows.append(("million distinct budgets", 10**6, "distinct", kary, k))
    rows.append(("clip-laplace", 10**4, "three", noise, 1))
    rows.append(("clip-laplace, 10^4 distinct", 10**4, "distinct", noise, 1))
    rows.append(("the same, 7850 coordinates", 10**4, "distinct", noise, 7850))
    for name, num_users, kind, function, parameter in rows:
        people = (three_levels if kind == "three" else uniform_budgets)(num_users)
        (seconds, ratio), peak = isolated(function, people, parameter)
        categories = parameter if function is kary else "-"
        print(f"{name:<28}{num_users:>14,}{categories:>5}{seconds:>11.3f}", end="")
        print(f"{peak:>9.0f}{ratio:>13.6f}")
    for num_users in (10**6, 10**9):
        milliseconds = evaluation(num_users, 17)
        print(
            f"one delta(epsilon), three levels, {num_users:,} people, k = 17:", end=""
        )
        print(f" {milliseconds:.2f} ms")


if __name__ == "__main__":
    main()
