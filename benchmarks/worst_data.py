"""Random search for data whose exact divergence exceeds the two-message certificate.

Draws populations of up to three levels, with any probabilities, and a target user; computes
the divergence of every data set by its definition; and compares both ends of the search,
the bound of the box of all data, and that of a random box. Prints the number of
populations, and ends with an error at the first certificate below the truth.

    python benchmarks/worst_data.py --minutes 1
"""

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from oracles.bits import Crowd, random_crowd

from shuffledp.accounting.two_messages.binary_population import wider
from shuffledp.accounting.two_messages.branch_and_bound import search
from shuffledp.accounting.two_messages.tilted import TiltedPopulation
from shuffledp.accounting.two_messages.tilted_bounds import box_bounds

# Relative and absolute error of the oracle's own sums.
_RELATIVE, _ABSOLUTE = 1e-10, 1e-14
# People at most at each of one, two or three levels.
_SIZES = {False: (40, 9, 5), True: (1_200, 40, 12)}


def main() -> None:
    """Draws, compares and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    end = time.monotonic() + 60.0 * chosen.minutes
    checks, gaps = 0, [0.0]
    while time.monotonic() < end:
        # Small ones, of which all data are evaluated, and some that have to be searched.
        crowd = random_crowd(rng, most=_SIZES[checks % 10 == 0])
        epsilon = float(rng.uniform(0.0, 0.97)) * math.log(crowd.first / crowd.second)
        gaps.append(_check(crowd, epsilon, rng))
        checks += 1
    print(f"{checks:,} crowds, none certified below the truth.")
    print(f"Certified over exact: {max(gaps):.6f} at most.")


def _check(crowd: Crowd, epsilon: float, rng: np.random.Generator) -> float:
    """Returns the certified divergence over the exact one."""
    exact = {data: crowd.divergence(data, epsilon) for data in crowd.all_data()}
    worst = max(exact.values())
    tilted = TiltedPopulation(wider(crowd.bits, crowd.counts), epsilon)
    bounds = search(tilted)
    upper = math.exp(bounds.upper)
    _demand(worst, upper, "the search", crowd, epsilon)
    _demand(math.exp(bounds.lower), worst, "the attack", crowd, epsilon)
    low = rng.integers(0, crowd.counts + 1)
    high = rng.integers(low, crowd.counts + 1)
    for name, ends in (
        ("all data", (np.zeros_like(low), crowd.counts)),
        ("a box", (low, high)),
    ):
        first, last = ends
        corners = np.stack([first, last]).astype(np.float64)
        bound = box_bounds(tilted, corners[:1], corners[1:])[0][0]
        inside = [
            value
            for data, value in exact.items()
            if np.all(first <= data) and np.all(data <= last)
        ]
        _demand(max(inside), math.exp(min(bound, 700.0)), name, crowd, epsilon)
    return upper / worst if worst > 1e-9 else 1.0


def _demand(less: float, more: float, what: str, crowd: Crowd, epsilon: float) -> None:
    if not less <= more * (1.0 + _RELATIVE) + _ABSOLUTE:
        sys.exit(f"{what}: {less!r} > {more!r} at epsilon {epsilon!r}, {crowd!r}")


if __name__ == "__main__":
    main()
