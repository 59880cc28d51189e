"""Time and memory of the accountant: python benchmarks/accounting.py

Three levels and two numbers of categories at 10^3 to 10^9 people, then a million people
with a million distinct budgets. Each setting runs in a process of its own, so that its
peak memory is its own; times are medians of five runs after one to warm up.
"""

import statistics
import time

import numpy as np
from machine import describe, isolated

import shuffledp as sdp

RUNS = 5


def measure(people: sdp.Population, num_categories: int) -> tuple[float, float]:
    """Returns the median seconds for all levels, and the worst upper/lower ratio."""
    protocol = sdp.Frequency(num_categories)
    seconds = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        guarantee = sdp.account(protocol, people, delta=1e-6)
        seconds.append(time.perf_counter() - start)
    ratio = max(
        level.epsilon_central / level.epsilon_central_lower
        for level in guarantee.levels
    )
    return statistics.median(seconds[1:]), ratio


def three_levels(num_users: int, num_categories: int) -> tuple[float, float]:
    """Measures a quarter, a half and a quarter of the people at 0.5, 1 and 2."""
    quarter = num_users // 4
    people = sdp.Population.from_counts(
        {0.5: quarter, 1.0: num_users - 2 * quarter, 2.0: quarter}
    )
    return measure(people, num_categories)


def million_budgets(num_users: int, num_categories: int) -> tuple[float, float]:
    """Measures distinct budgets, uniform on [0.05, 1]: minimum, quartiles, maximum."""
    rng = np.random.default_rng(1)
    people = sdp.Population.from_budgets(
        sdp.draw_budgets("apes/uniform2", num_users, rng=rng)
    )
    return measure(people, num_categories)


def main() -> None:
    """Prints one row per setting."""
    print(describe())
    print(f"{'setting':<28}{'people':>14}{'k':>5}{'median s':>11}", end="")
    print(f"{'peak MB':>9}{'upper/lower':>13}")
    settings = [
        (three_levels, "three levels", 10**exponent, k)
        for k in (2, 17)
        for exponent in range(3, 10)
    ]
    settings += [
        (million_budgets, "million distinct budgets", 10**6, k) for k in (2, 17)
    ]
    for function, name, num_users, k in settings:
        (seconds, ratio), peak = isolated(function, num_users, k)
        print(
            f"{name:<28}{num_users:>14,}{k:>5}{seconds:>11.3f}{peak:>9.0f}{ratio:>13.6f}"
        )


if __name__ == "__main__":
    main()
