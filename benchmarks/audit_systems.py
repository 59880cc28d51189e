"""Detection rates and false-alarm rates of canaries in collections.

Eight systems that are broken in eight ways, and one correct one, are simulated as arrays:
10,000 people at levels 1 and 2 hold one of 32 categories, canaries one of 32 others, by
k-ary response. The shuffler promises a uniformly random order that hides levels; every
canary has a receipt, four go in each upload, and the batch is disclosed.

    python benchmarks/audit_systems.py --runs 200

An alarm in one epoch is a p-value of at most 1% / 6 in one of six tests; in 12 epochs, a
running e-value that reached 100. Both have a false-alarm rate of at most 1%.
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from machine import describe
from scipy.stats import binomtest

import shuffledp as sdp
from shuffledp.types import Floats, Ints
from shuffledp_services.evidence.all_tests import run_all_tests
from shuffledp_services.evidence.canaries import Canaries
from shuffledp_services.evidence.epoch_view import (
    EpochView,
    MessageBatch,
    SupportCounts,
    SupportDependence,
)
from shuffledp_services.evidence.evidence import EpochFindings, EpochTest, Evidence
from shuffledp_services.evidence.privacy_profiles import (
    PrivacyProfiles,
    certified_profiles,
)

SYSTEMS = (
    "order kept",
    "order reversed within uploads",
    "1% dropped",
    "one report doubled",
    "a replayed batch",
    "levels revealed",
    "noise-free tally published",
    "minimum ignored",
    "right",
)
ALPHA = 0.01
SIZES = (10, 30, 100, 300, 1_000)
EPOCHS, FOR_EPOCHS = 12, 30
TASK = "ab" * 32
LEVELS = np.array([1.0, 2.0])
PEOPLE, CATEGORIES, UPLOAD = 10_000, 64, 4
MINIMUM = 4_000
RANDOMIZER = sdp.KRandomizedResponse(CATEGORIES)


@dataclass(frozen=True, eq=False)
class SentMessages:
    """All messages of an epoch, canaries first.

    Attributes:
        canaries: The auditor's.
        levels: Index of each sender's level, shape (n,).
        values: Value of each sender, shape (n,).
        uploads: Position of each sender's upload in time, shape (n,).
        hashes: Of each sealed message, shape (n,).
    """

    canaries: Canaries
    levels: Ints
    values: Ints
    uploads: Ints
    hashes: np.ndarray[tuple[int], np.dtype[np.bytes_]]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    start = time.monotonic()
    print("| system | " + " | ".join(f"{size:,} canaries" for size in SIZES), end="")
    print(f" | {EPOCHS} epochs of {FOR_EPOCHS} |")
    print("|---|" + "---:|" * (len(SIZES) + 1))
    with ProcessPoolExecutor(2) as pool:
        row = partial(_row, chosen.runs, chosen.seed)
        for line in pool.map(row, range(len(SYSTEMS))):
            print(line, flush=True)
    print(f"\n{time.monotonic() - start:.0f} s on {describe()}")


def _row(runs: int, seed: int, number: int) -> str:
    system, shares = SYSTEMS[number], []
    for size in (*SIZES, None):
        rng = np.random.default_rng([seed, number, size or 0])
        alarms = sum(
            _alarm_in_epochs(system, rng)
            if size is None
            else _alarm_in_one(system, size, rng)
            for _ in range(runs)
        )
        shares.append(f"{alarms / runs:.1%}")
        if (
            system == "right"
            and binomtest(alarms, runs, ALPHA, "greater").pvalue < 1e-4
        ):
            sys.exit(f"what is right was accused {alarms} times of {runs}")
    return f"| {system} | " + " | ".join(shares) + " |"


def _alarm_in_one(system: str, size: int, rng: np.random.Generator) -> bool:
    findings = _epoch(system, 1, size=size, rng=rng).findings
    p_values = [test.p_value for test in findings if test.p_value is not None]
    return min(p_values) <= ALPHA / len(EpochTest)


def _alarm_in_epochs(system: str, rng: np.random.Generator) -> bool:
    evidence = Evidence(TASK, ALPHA)
    for epoch in range(1, EPOCHS + 1):
        findings = _epoch(system, epoch, size=FOR_EPOCHS, rng=rng)
        evidence = evidence.with_epoch(findings)
        if evidence.crossed_in is not None:
            return True
    return False


def _epoch(
    system: str, epoch: int, *, size: int, rng: np.random.Generator
) -> EpochFindings:
    sent = _sent(epoch, size, rng)
    people = np.bincount(sent.levels, minlength=LEVELS.size)
    order = rng.permutation(sent.levels.size)
    earlier = np.frombuffer(rng.bytes(32 * size), "S32")
    if system == "order kept":
        order = np.argsort(sent.uploads, kind="stable")
    elif system == "order reversed within uploads":
        # Uploads in random order, with the reports of each in reverse order.
        keys = rng.permutation(int(sent.uploads.max()) + 1)[sent.uploads]
        order = np.argsort(keys, kind="stable")[::-1]
    elif system == "1% dropped":
        order = order[rng.random(order.size) >= 0.01]
    elif system == "one report doubled":
        order = np.append(order, rng.choice(order))
        order = rng.permutation(order)
    elif system == "levels revealed":
        order = order[np.argsort(sent.levels[order], kind="stable")]
    hashes = sent.hashes[order]
    if system == "a replayed batch":
        hashes = rng.permutation(np.concatenate([hashes, earlier]))
    counts = _counts(
        sent, people, exact=system == "noise-free tally published", rng=rng
    )
    if system == "minimum ignored":
        people = np.array([MINIMUM - 1, people.sum() - MINIMUM + 1])
    keep, flip = RANDOMIZER.densities(LEVELS)
    zeros = np.zeros(hashes.size, np.int64)
    seen = EpochView(
        task=TASK,
        epoch=epoch,
        levels=LEVELS,
        people=people,
        minimum=np.array([MINIMUM, MINIMUM]),
        absent=0,
        hides_levels=True,
        sorted_by_hash=False,
        estimate=counts - people @ flip,
        center=0.0,
        support=SupportCounts(counts, keep, flip, SupportDependence.ONE),
        included=None,
        batch=MessageBatch(hashes, zeros, zeros),
        earlier=earlier,
    )
    return run_all_tests(sent.canaries, seen, promises=_promises())


def _sent(epoch: int, size: int, rng: np.random.Generator) -> SentMessages:
    pairs = rng.permuted(
        np.tile(np.arange(CATEGORIES // 2.0, CATEGORIES), (size, 1)), axis=1
    )[:, :2]
    total = PEOPLE + size
    levels = rng.integers(LEVELS.size, size=total)
    # All uploads have the same size; canaries come first, side by side.
    starts = rng.permutation(-(-total // UPLOAD))
    uploads = starts[np.arange(total) // UPLOAD]
    canaries = Canaries(
        task=TASK,
        epoch=epoch,
        levels=LEVELS[levels[:size]],
        pairs=pairs,
        bits=rng.integers(2, size=size),
        send_positions=uploads[:size] * UPLOAD + np.arange(size) % UPLOAD,
        uploads=uploads[:size],
        hashes=np.frombuffer(rng.bytes(32 * size), "S32")[:, None],
        receipts=np.ones(size, np.bool_),
    )
    others = rng.integers(CATEGORIES // 2, size=PEOPLE)
    values = np.concatenate([canaries.values.astype(np.int64), others])
    hashes = np.concatenate(
        [canaries.hashes[:, 0], np.frombuffer(rng.bytes(32 * PEOPLE), "S32")]
    )
    return SentMessages(canaries, levels, values, uploads, hashes)


def _counts(
    sent: SentMessages, people: Ints, *, exact: bool, rng: np.random.Generator
) -> Floats:
    """Returns support counts: randomized ones, or expected ones without noise."""
    keep, flip = RANDOMIZER.densities(LEVELS)
    holders = np.zeros((LEVELS.size, CATEGORIES), np.int64)
    np.add.at(holders, (sent.levels, sent.values), 1)
    if exact:
        expected: Floats = people @ flip + (keep - flip) @ holders
        return expected
    drawn = RANDOMIZER.draw_support_counts(holders, LEVELS, rng=rng)
    return np.asarray(drawn.sum(axis=0), np.float64)


@cache
def _promises() -> PrivacyProfiles:
    """Returns certified profiles for fewer people, which hold for more of them."""
    half = PEOPLE * 9 // 20
    people = sdp.Population.from_counts(dict.fromkeys(LEVELS.tolist(), half))
    return certified_profiles(sdp.Frequency(CATEGORIES), people, num_points=33)


if __name__ == "__main__":
    main()
