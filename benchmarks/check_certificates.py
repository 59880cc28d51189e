"""Agreement of shuffledp with the checker in check/, which shares no code with it.

Computes certificates of random protocols, people and parameters, and checks each with
check/shuffledp_check.py; then understates one certified number, by 0.1% to 50%, of every
tenth, or as often as is said. Prints how many hold, how many of the understated ones are
caught, and the time and memory of the checks; ends with an error where the two disagree.

    python benchmarks/check_certificates.py --certificates 1000 --seed 1
"""

import argparse
import copy
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "check"))

from machine import describe

import shuffledp as sdp
from shuffledp_check import check

_MOST_PEOPLE = 10**6
_LEAST = 1e-300


def main() -> None:
    """Draws, checks and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certificates", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--understate-every", type=int, default=10)
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    times: list[float] = []
    refused: list[str] = []
    missed: list[str] = []
    num_levels = num_mutants = 0
    for number in range(chosen.certificates):
        record = random_certificate(rng)
        start = time.perf_counter()
        verdicts = check(json.dumps(record).encode())
        times.append(time.perf_counter() - start)
        num_levels += len(verdicts)
        if {verdict for _, verdict, _ in verdicts} != {"holds"}:
            refused.append(f"{number}: {verdicts}")
            print(refused[-1], record, flush=True)
        if number % chosen.understate_every == 0 and understate(record, rng):
            num_mutants += 1
            verdicts = check(json.dumps(record).encode())
            if {verdict for _, verdict, _ in verdicts} == {"holds"}:
                missed.append(f"{number}: {record}")
    print(describe())
    print(f"{chosen.certificates - len(refused):,} of {chosen.certificates:,} hold,")
    print(f"with {num_levels:,} levels; seed {chosen.seed}.")
    print(f"{num_mutants - len(missed)} of {num_mutants} understated ones are caught.")
    median, most = np.median(times), np.max(times)
    print(f"Seconds per certificate: {median:.2f} (median), {most:.1f} (most).")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory, shuffledp included: {peak:.0f} MB.")
    if refused or missed:
        sys.exit("\n".join(refused + missed))


def random_certificate(rng: np.random.Generator) -> dict[str, Any]:
    """Returns a certificate of a random protocol for random people."""
    size = int(10 ** rng.uniform(0.5, np.log10(_MOST_PEOPLE)))
    most = min(4, size - 1)
    counts = rng.multinomial(size, rng.dirichlet(np.ones(rng.integers(1, most + 1))))
    levels = np.round(rng.uniform(0.05, rng.choice([1.0, 3.0, 8.0]), counts.size), 3)
    people = sdp.Population.from_counts(
        {
            float(level): int(count)
            for level, count in zip(levels, counts, strict=True)
            if count
        }
    )
    absent = int(rng.choice([0, 0, people.num_users // 10]))
    given: dict[str, Any] = {"delta": float(10 ** rng.uniform(-12, -2))}
    if rng.random() < 0.5:
        given = {"epsilon": float(round(rng.uniform(0.0, float(levels.max())), 4))}
    protocol = random_protocol(rng)
    return sdp.account(protocol, people, absent=absent, **given).to_dict()


def random_protocol(rng: np.random.Generator) -> Any:
    """Returns a protocol that the checker knows."""
    categories = int(rng.choice([3, 4, 17, 100]))
    mode: Any = str(rng.choice(["agnostic", "stratified"]))
    protocols = (
        lambda: sdp.BinarySum(mode),
        lambda: sdp.Frequency(2, mode),
        lambda: sdp.Frequency(categories, mode),
        lambda: sdp.Frequency(categories, mode, sdp.HadamardResponse(categories)),
        lambda: sdp.SubsetSelection(categories, max(2, categories // 4)),
        lambda: sdp.LocalHashing(categories, int(rng.choice([2, 3, 5]))),
        lambda: sdp.GridResponse(low=0.0, high=1.0, num_values=categories),
        lambda: sdp.Mean(0.0, 1.0, mode),
    )
    return protocols[int(rng.integers(len(protocols)))]()


def understate(record: dict[str, Any], rng: np.random.Generator) -> bool:
    """Lowers one certified number; returns False where all of them are about 0."""
    what = "epsilon_central" if "delta" in record else "delta_central"
    # The library states 1e-306 for every smaller delta: there is room below.
    positive = [level for level in record["levels"] if level[what] > _LEAST]
    if not positive:
        return False
    level = copy.copy(positive[int(rng.integers(len(positive)))])
    # Rounding up in the sixth digit has at most 1e-5 to give.
    level[what] *= 1.0 - float(10 ** rng.uniform(-3, np.log10(0.5)))
    level[f"{what}_lower"] = 0.0
    record["levels"] = [
        level if other["epsilon_local"] == level["epsilon_local"] else other
        for other in record["levels"]
    ]
    return True


if __name__ == "__main__":
    main()
