"""Agreement of shuffledp with the checker in check/, which shares no code with it.

Computes certificates of random protocols, people and parameters, and checks each with
check/shuffledp_check.py; then understates one certified number of every tenth, or as often
as is said, by 0.1% to 50%, of counts by 1% and of rounds, bits and lists by 3% at least.
Prints how many hold, how many of the understated ones are caught, and the time and memory
of the checks; ends with an error where the two disagree.

    python benchmarks/check_certificates.py --certificates 1000 --seed 1
    python benchmarks/check_certificates.py --kind counts --certificates 36 --seed 2
    python benchmarks/check_certificates.py --kind composed --certificates 10 --seed 3

The second line draws counts, items, groups, rounds, floors and lists, which are checked by
check/shuffledp_check_counts.py; the third rounds, unary encoding, RAPPOR and lists, which
are checked by check/shuffledp_check_composed.py. Both say how many cannot be told.
"""

import argparse
import copy
import dataclasses
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
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp_check import check, check_level
from shuffledp_check_composed import check_level as check_composed
from shuffledp_check_counts import check_level as check_counts

_MOST_PEOPLE = 10**6
_SINGLE = (
    "kary-response",
    "hadamard-response",
    "subset-selection",
    "local-hashing",
    "grid-response",
    "one-bit",
)
_LEAST = 1e-300
# One answer, items, two groups, rounds, a list: compositions take longest.
_KINDS = ("messages", "counts", "composed")
_SHAPES = [0.6, 0.25, 0.05, 0.05, 0.05]


def main() -> None:
    """Draws, checks and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certificates", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--understate-every", type=int, default=10)
    parser.add_argument("--kind", choices=_KINDS, default="messages")
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    times: list[float] = []
    refused: list[str] = []
    missed: list[str] = []
    num_levels = num_mutants = num_open = 0
    judge, draw = check_level, random_certificate
    if chosen.kind == "counts":
        judge, draw = check_counts, random_counts
    elif chosen.kind == "composed":
        judge, draw = check_composed, random_composed
    for number in range(chosen.certificates):
        if number % 25 == 0 and number:
            print(f"{number:,} checked: {len(refused)} refused", flush=True)
        record = draw(rng)
        start = time.perf_counter()
        verdicts = check(json.dumps(record).encode(), judge)
        times.append(time.perf_counter() - start)
        num_levels += len(verdicts)
        told = {verdict for _, verdict, _ in verdicts}
        if told == {"holds", "cannot tell"} or told == {"cannot tell"}:
            num_open += 1
            print(f"{number}: {verdicts}", flush=True)
        elif told != {"holds"}:
            refused.append(f"{number}: {verdicts}")
            print(refused[-1], record, flush=True)
        if number % chosen.understate_every == 0 and understate(record, rng):
            num_mutants += 1
            verdicts = check(json.dumps(record).encode(), judge)
            if {verdict for _, verdict, _ in verdicts} == {"holds"}:
                missed.append(f"{number}: {record}")
    print(describe())
    held = chosen.certificates - len(refused) - num_open
    print(f"{held:,} of {chosen.certificates:,} hold, {num_open} cannot be told,")
    print(f"with {num_levels:,} levels; seed {chosen.seed}.")
    print(f"{num_mutants - len(missed)} of {num_mutants} understated ones are caught.")
    median, most = np.median(times), np.max(times)
    print(f"Seconds per certificate: {median:.2f} (median), {most:.1f} (most).")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory, shuffledp included: {peak:.0f} MB.")
    # Every single message can be told; of others, bounds may be too wide.
    if refused or missed or (num_open and chosen.kind == "messages"):
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


def random_composed(rng: np.random.Generator) -> dict[str, Any]:
    """Returns a certificate of rounds, bits, or two statistics of the same people."""
    size = int(10 ** rng.uniform(2.5, 5.0))
    levels = np.unique(np.round(rng.uniform(0.05, 3.0, 2), 3)).tolist()
    people = sdp.Population.from_counts(
        {level: size * (place + 1) for place, level in enumerate(levels)}
    )
    given: dict[str, Any] = {"delta": float(10 ** rng.uniform(-9, -2))}
    if rng.random() < 0.3:
        given = {"epsilon": float(np.round(rng.uniform(0.0, levels[0]), 4))}
    given["absent"] = int(rng.choice([0, size // 10]))
    categories = int(rng.choice([3, 4, 17]))
    shape = rng.choice(["rounds", "bits", "unary", "rappor", "list"])
    protocol: Any = sdp.Frequency(categories)
    if shape == "rounds":
        given["rounds"] = int(rng.choice([2, 3, 10]))
    elif shape == "bits":
        protocol, given["rounds"] = sdp.BinarySum(), int(rng.choice([2, 10]))
    elif shape == "unary":
        variant = str(rng.choice(["symmetric", "optimized"]))
        protocol = sdp.UnaryEncoding(categories, variant)
    elif shape == "rappor":
        protocol = sdp.Rappor(32, int(rng.choice([1, 2])))
    else:
        protocol = [protocol, sdp.BinarySum()]
    return sdp.account(protocol, people, **given).to_dict()


def random_counts(rng: np.random.Generator) -> dict[str, Any]:
    """Returns a certificate of counts or items, mostly of one answer in one round."""
    while True:
        size = int(10 ** rng.uniform(1.5, np.log10(_MOST_PEOPLE)))
        honest = int(size * rng.uniform(0.7, 1.0))
        targets = tuple(np.unique(np.round(rng.uniform(0.05, 3.0, 3), 3)).tolist())
        rates = tuple(
            np.sort(np.round(rng.uniform(0.1, 1.0, len(targets)), 3)).tolist()
        )
        counts = rng.multinomial(
            size - len(targets), rng.dirichlet(np.ones(len(targets)))
        )
        people = sdp.Population.from_counts(
            dict(zip(targets, (counts + 1).tolist(), strict=True))
        )
        given: dict[str, Any] = {"absent": int(rng.choice([0, size - honest]))}
        given["delta"] = float(10 ** rng.uniform(-10, -2))
        if rng.random() < 0.3:
            del given["delta"]
            given["epsilon"] = float(np.round(rng.uniform(0.0, 2.0), 4))
        shape = rng.choice(["one", "items", "groups", "rounds", "list"], p=_SHAPES)
        protocol: Any = _random_collection(rng, targets, rates, honest)
        if shape == "items":
            answers, messages = (
                int(rng.choice([1, 1, 1, 3])),
                float(rng.uniform(0.05, 2)),
            )
            protocol = sdp.Items(20, answers, targets, rates, messages, answers + 20)
        elif shape == "groups":
            other = _random_collection(rng, targets, rates, honest)
            groups = (*protocol.groups, *other.groups)
            protocol = sdp.Counts(groups, targets, rates, honest)
        elif shape == "rounds":
            given["rounds"] = int(rng.integers(2, 9))
        elif shape == "list":
            protocol = [protocol, _random_collection(rng, targets, rates, honest)]
        if shape != "items" and rng.random() < 0.3:
            protocol = _floored(rng, protocol)
        try:
            return sdp.account(protocol, people, **given).to_dict()
        except (CertificationError, InvalidInputError):
            continue  # Too little noise for these rates, or reports that are too small.


def _random_collection(
    rng: np.random.Generator,
    targets: tuple[float, ...],
    rates: tuple[float, ...],
    honest: int,
) -> sdp.Counts:
    noise: Any = sdp.PoissonNoise(float(np.round(10 ** rng.uniform(1.0, 3.5), 2)))
    if rng.random() < 0.5:
        pairs = float(np.round(10 ** rng.uniform(1.5, 3.0), 1))
        shape = float(rng.choice([4.0, 8.0, 12.0, np.inf]))
        noise = sdp.GeometricNoise(
            float(np.round(rng.uniform(0.3, 0.9), 3)), pairs, shape
        )
    group = sdp.CountGroup(int(rng.choice([1, 2, 8, 100])), 1, noise)
    return sdp.Counts((group,), targets, rates, honest)


def _floored(rng: np.random.Generator, protocol: Any) -> Any:
    """Returns the protocol, or all of a list, with a floor."""
    if isinstance(protocol, list):
        return [_floored(rng, part) for part in protocol]
    local_epsilon = float(np.round(10 ** rng.uniform(-2.0, 1.0), 3))
    return dataclasses.replace(protocol, local_epsilon=local_epsilon)


def _chosen(level: dict[str, Any]) -> float:
    """Returns a level's local budget, or its target."""
    return float(
        level["epsilon_local"] if "epsilon_local" in level else level["target"]
    )


def understate(record: dict[str, Any], rng: np.random.Generator) -> bool:
    """Lowers one certified number; returns False where all of them are about 0."""
    what = "epsilon_central" if "delta" in record else "delta_central"
    # The library states 1e-306 for every smaller delta: there is room below. And what
    # devices' draws cost where there is a target is not checked.
    least = _LEAST if "epsilon_local" in record["levels"][0] else 1e-12
    positive = [level for level in record["levels"] if level[what] > least]
    if not positive:
        return False
    level = copy.copy(positive[int(rng.integers(len(positive)))])
    # Rounding up in the sixth digit has at most 1e-5 to give, and what the library's
    # compositions of counts have to give is below 1e-2 of delta, of others 3e-2.
    single = "epsilon_local" in level and record["rounds"] == 1
    smallest = -3.0 if single and record["protocol"]["mechanism"] in _SINGLE else -1.5
    if "target" in level:
        smallest = -2.0
    level[what] *= 1.0 - float(10 ** rng.uniform(smallest, np.log10(0.5)))
    level[f"{what}_lower"] = 0.0
    record["levels"] = [
        level if _chosen(other) == _chosen(level) else other
        for other in record["levels"]
    ]
    return True


if __name__ == "__main__":
    main()
