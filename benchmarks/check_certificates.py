"""Agreement of shuffledp with the checker in check/, which shares no code with it.

Computes certificates of random protocols, people and parameters, and checks each with
check/shuffledp_check.py; then understates one certified number of every tenth, or as often
as is said, by 0.1% to 50%, of counts by 1% and of rounds, bits and lists by 3% at least; of
dummies and slots, by exactly 0.2%.
Prints the counts so far after every ten, and each that takes over five seconds or cannot
be told; at the end, or when interrupted, how many hold, how many of the understated ones
are caught, and processor time and memory. Ends with an error where the two disagree.

    python benchmarks/check_certificates.py --certificates 1000 --seed 1
    python benchmarks/check_certificates.py --kind counts --certificates 100 --seed 2
    python benchmarks/check_certificates.py --kind composed --certificates 20 --seed 3
    python benchmarks/check_certificates.py --kind noises --certificates 40 --seed 4
    python benchmarks/check_certificates.py --first 124 --certificates 1 --seed 1

The second line draws counts, items, groups, rounds, floors and lists, which are checked by
check/shuffledp_check_counts.py; the third rounds, unary encoding, RAPPOR and lists, which
are checked by check/shuffledp_check_composed.py; the fourth counts among dummies of the
shuffler and noise in slots. All three say how many cannot be told. The last line repeats
one certificate of the first.
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
from random_certificates import (
    random_certificate,
    random_composed,
    random_counts,
    random_noises,
)

from shuffledp_check import check, check_level
from shuffledp_check_composed import check_level as check_composed
from shuffledp_check_counts import check_level as check_counts

_SINGLE = (
    "kary-response",
    "hadamard-response",
    "subset-selection",
    "local-hashing",
    "grid-response",
    "one-bit",
)
_LEAST = 1e-300
# By how much numbers of dummies and slots are understated: few changes lose nothing.
_SHARE = 0.002
# Checks that take longer than these seconds are printed, and counts after so many.
_SLOW, _EVERY = 5.0, 10


@dataclasses.dataclass
class Tally:
    """Numbers of verdicts so far, and what the library and the checker disagree about."""

    certificates: int = 0
    levels: int = 0
    hold: int = 0
    cannot_tell: int = 0
    understated: int = 0
    caught: int = 0
    disagreements: list[str] = dataclasses.field(default_factory=list)
    seconds: list[float] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        refused = self.certificates - self.hold - self.cannot_tell
        return (
            f"{self.certificates:,} checked: {self.hold:,} hold, {self.cannot_tell} "
            f"cannot be told, {refused} refused; {self.caught} of {self.understated} "
            "understated ones are caught"
        )

    def check(self, name: str, record: dict[str, Any], judge: Any) -> None:
        """Checks a certificate, and prints what is slow, not told or refused."""
        start = time.process_time()
        verdicts = check(json.dumps(record).encode(), judge)
        self.seconds.append(time.process_time() - start)
        told = {verdict for _, verdict, _ in verdicts}
        self.certificates += 1
        self.levels += len(verdicts)
        if told == {"holds"}:
            self.hold += 1
        elif "does not hold" not in told:
            self.cannot_tell += 1
            print(f"{name}: {verdicts}", flush=True)
        else:
            self.disagreements.append(f"{name}: {verdicts} {record}")
            print(self.disagreements[-1], flush=True)
        if self.seconds[-1] > _SLOW:
            print(f"{name}: {self.seconds[-1]:.0f} s, {_described(record)}", flush=True)

    def check_understated(self, name: str, record: dict[str, Any], judge: Any) -> None:
        """Checks a certificate with a number that is too small."""
        verdicts = check(json.dumps(record).encode(), judge)
        caught = {verdict for _, verdict, _ in verdicts} != {"holds"}
        self.understated, self.caught = self.understated + 1, self.caught + caught
        if not caught:
            self.disagreements.append(f"{name}: understated and holds: {record}")
            print(self.disagreements[-1], flush=True)


def main() -> None:
    """Draws, checks and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certificates", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--understate-every", type=int, default=10)
    parser.add_argument("--kind", choices=list(_KINDS), default="messages")
    chosen = parser.parse_args()
    draw, judge = _KINDS[chosen.kind]
    tally, start = Tally(), time.process_time()
    try:
        for number in range(chosen.first, chosen.first + chosen.certificates):
            # Every certificate can be drawn again without those before it.
            rng = np.random.default_rng([chosen.seed, number])
            record = draw(rng)
            tally.check(f"{number}", record, judge)
            share = _SHARE if chosen.kind == "noises" else None
            if number % chosen.understate_every == 0 and understate(record, rng, share):
                tally.check_understated(f"{number}", record, judge)
            if tally.certificates % _EVERY == 0:
                print(f"{tally}, {time.process_time() - start:.0f} s", flush=True)
    except KeyboardInterrupt:
        print("Interrupted.")
    print(describe())
    print(f"{tally}; with {tally.levels:,} levels, seed {chosen.seed}.")
    if tally.seconds:
        median, most = np.median(tally.seconds), np.max(tally.seconds)
        print(f"CPU seconds per certificate: {median:.2f} (median), {most:.1f} (most).")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"Peak memory, shuffledp included: {peak:.0f} MB.")
    # Every single message can be told; of others, bounds may be too wide.
    if tally.disagreements or (tally.cannot_tell and chosen.kind == "messages"):
        sys.exit("The library and the checker disagree.")


def _described(record: dict[str, Any]) -> str:
    """Returns what may make a certificate slow to check."""
    protocol, theorems = record["protocol"], {e["rests_on"] for e in record["levels"]}
    return (
        f"{protocol['mode']} {protocol['mechanism']}, {record['num_users']:,} people, "
        f"by {', '.join(sorted(theorems))}"
    )


def _chosen(level: dict[str, Any]) -> float:
    """Returns a level's local budget, or its target."""
    return float(
        level["epsilon_local"] if "epsilon_local" in level else level["target"]
    )


def understate(
    record: dict[str, Any], rng: np.random.Generator, share: float | None
) -> bool:
    """Lowers one certified number; returns False where all of them are about 0.

    Args:
        record: A certificate, which is changed.
        rng: Draws the number, and by how much it is lowered.
        share: By how much, as a part of it; None to draw that.
    """
    what = "epsilon_central" if "delta" in record else "delta_central"
    # The library states 1e-306 for every smaller delta: there is room below. And what
    # devices' draws cost where there is a target is not checked.
    least = _LEAST if "epsilon_local" in record["levels"][0] else 1e-12
    # The library pays for rounding in the masses of slots, the checker for less.
    least = least if share is None else 1e-8
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
    level[what] *= 1.0 - (share or float(10 ** rng.uniform(smallest, np.log10(0.5))))
    level[f"{what}_lower"] = 0.0
    record["levels"] = [
        level if _chosen(other) == _chosen(level) else other
        for other in record["levels"]
    ]
    return True


_KINDS: dict[str, tuple[Any, Any]] = {
    "messages": (random_certificate, check_level),
    "counts": (random_counts, check_counts),
    "composed": (random_composed, check_composed),
    "noises": (random_noises, check_counts),
}

if __name__ == "__main__":
    main()
