"""Detection rates and false-alarm rates of audits of devices.

Ten devices that are broken in ten ways, and two correct ones, are audited many times with
few and with many samples, at 1% false alarms. With `--mechanisms`, the library's ten
mechanisms are audited at budgets from 0.1 to 8; the table has the ratio of the proven
epsilon to the promised one, which must not exceed 1.

    python benchmarks/audit_detection.py --runs 200
    python benchmarks/audit_detection.py --mechanisms --samples 1000000
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from machine import describe
from oracles import broken_devices
from scipy.stats import binomtest

import shuffledp as sdp
from shuffledp.audit.audit_plan import AuditPlan, plan_audit
from shuffledp.audit.audit_result import SideCheckOutcome, breaks
from shuffledp.audit.neighbor_leakage import neighbors
from shuffledp.audit.pairs import audited_pairs
from shuffledp.audit.side_checks import side_checks
from shuffledp.audit.target import CallableTarget
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace

CONFIDENCE = 0.99
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
LEVELS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Case:
    """A device, its test values and levels, and the checks to run."""

    name: str
    words: str
    values: tuple[Any, ...]
    levels: tuple[float, ...] = (1.0,)
    right: bool = False
    forks: bool = False


CASES = (
    Case("doubled_epsilon", "epsilon doubled", (0, 3)),
    Case("swapped_level", "level 1 instead of 0.5", (0, 3), (0.5, 1.0)),
    Case("memoized_coin", "memoized coin", (0, 3)),
    Case("forked_seed", "seed reused after fork", (0, 3), forks=True),
    Case("rare_leak", "value leaked with chance 1e-3", (0, 3)),
    Case("rounding_leak", "rounding leak", (0.0, 1.0)),
    Case("biased_sampler", "biased sampler", (0, 2)),
    Case("wrong_count", "wrong category count", (0, 3)),
    Case("wrong_clip", "wrong clip", (0.0, 1.0)),
    Case("rejection", "post-hoc rejection", (0.0, 1.0)),
    Case("response", "right: randomized response", (0, 3), (0.5, 1.0), right=True),
    Case("response", "right: and forked", (0, 3), right=True, forks=True),
    Case("rounded_laplace", "right: rounded Laplace", (0.0, 1.0), right=True),
)


def main() -> None:
    """Prints one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--mechanisms", action="store_true")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    start = time.monotonic()
    if chosen.mechanisms:
        _mechanisms(chosen.samples, chosen.seed)
    else:
        _detections(chosen.runs, chosen.seed)
    print(f"\n{time.monotonic() - start:.0f} s on {describe()}")


def _detections(runs: int, seed: int) -> None:
    print(f"Alarms in {runs} audits each, at {1.0 - CONFIDENCE:.0%} false alarms.\n")
    print("| device | " + " | ".join(f"{size:,}" for size in SIZES) + " |")
    print("|---|" + "---:|" * len(SIZES))
    with ProcessPoolExecutor() as pool:
        for row in pool.map(partial(_row, runs, seed), range(len(CASES))):
            print(row, flush=True)


def _row(runs: int, seed: int, number: int) -> str:
    case, shares = CASES[number], []
    # The check for reused seeds does not depend on the number of samples.
    for size in SIZES[:1] if case.forks else SIZES:
        rng = np.random.default_rng([seed, number, size])
        alarms = sum(_alarm(case, size, rng) for _ in range(runs))
        shares.append(f"{alarms / runs:.1%}")
        if case.right and binomtest(alarms, runs, 0.01, "greater").pvalue < 1e-4:
            sys.exit(f"{case.words}: {alarms} alarms in {runs} audits")
        if not case.right and alarms == runs:
            break
    shares += [""] * (len(SIZES) - len(shares))
    return f"| {case.words} | " + " | ".join(shares) + " |"


def _alarm(case: Case, size: int, rng: np.random.Generator) -> bool:
    plan = plan_audit(case.values, case.levels, samples=size, confidence=CONFIDENCE)
    target = CallableTarget(getattr(broken_devices, case.name), case.name)
    if case.forks:
        checks = list(side_checks(target, plan, rng=rng))
    else:
        alpha = plan.alpha_of_behavior
        checks = [neighbors(target, plan, alpha=0.9 * alpha, rng=rng)]
    return any(check.outcome is SideCheckOutcome.BROKEN for check in checks) or any(
        breaks(pair, 0.0) for pair in audited_pairs(target, plan, rng=rng)
    )


def _mechanisms(samples: int, seed: int) -> None:
    devices: list[tuple[Any, tuple[Any, ...]]] = [
        (sdp.KRandomizedResponse(4), (0, 3)),
        (sdp.OneBit(), (0.0, 1.0)),
        (sdp.SubsetSelection(6, 2), (0, 5)),
        (sdp.HadamardResponse(4), (0, 3)),
        (sdp.LocalHashing(6, 3), (0, 5)),
        (sdp.UnaryEncoding(4), (0, 3)),
        (sdp.Laplace(), (0.0, 1.0)),
        (sdp.ClipLaplace(), (-1.0, 1.0)),
        (SparsifiedClipLaplace(), (-1.0, 1.0)),
        (sdp.Gaussian(delta_local=0.01), (0.0, 1.0)),
    ]
    print(f"Proven epsilon over promised, {samples:,} messages per value and level.\n")
    print("| mechanism | " + " | ".join(f"{level:g}" for level in LEVELS) + " |")
    print("|---|" + "---:|" * len(LEVELS))
    above = 0
    for number, (device, values) in enumerate(devices):
        row = []
        for level in LEVELS:
            plan = _plan(device, values, level, samples)
            rng = np.random.default_rng([seed, number])
            pairs = audited_pairs(CallableTarget(device, ""), plan, rng=rng)
            best = max(pair.epsilon.bound for pair in pairs)
            above += any(breaks(pair, plan.delta) for pair in pairs)
            row.append(f"{best / level:.1%}")
        print(f"| {device.mechanism} | " + " | ".join(row) + " |", flush=True)
    total = len(devices) * len(LEVELS)
    print(f"\n{above} of {total} audits show more than is promised.")
    # One in a hundred may: more than 6 of 60 have a probability of 1e-5.
    if binomtest(above, total, 0.01, "greater").pvalue < 1e-4:
        sys.exit("A mechanism breaks its promise.")


def _plan(
    device: Any, values: tuple[Any, ...], level: float, samples: int
) -> AuditPlan:
    return plan_audit(
        values,
        [level],
        delta=device.delta_local,
        samples=samples,
        confidence=CONFIDENCE,
    )


if __name__ == "__main__":
    main()
