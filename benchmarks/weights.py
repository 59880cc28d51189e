"""Prints by how much answers that are sent several times would lower errors of counts.

    python benchmarks/weights.py [--all]

A person of a larger target could send w copies of an answer's message (weight w), in place
of one message that people of smaller targets send with a probability (rate) below 1. Rates
alone give weights that differ, too; they add the error of who happened to send. Both are
searched here at the same certified targets, with the same kind of noise: rates with one
message per answer, and rates with whole weights. Only the count of one answer of several
that exclude each other is looked at: its noise depends on targets alone, and its error on
how many people hold the answer, and on how many chose each target.

*Guarantee.* With noise N in each of two buckets that a changed answer moves, the pair is
(N + w B, N') against (N, N' + w B), B = 1 with probability r. The ratio of N + w to N at x,

    Poisson noise of mean m             x! / ((x - w)! m^w)
    two-sided geometric noise, decay p  p^(|x - w| - |x|)

never falls in x, so that delta is a sum over one bucket of tails of the other. The program
checks it against the library's account at w = 1.

*Error.* With D the sum of all r w, f the share of people with the answer, the variance of
the count is

    (n / D)^2 (variance of N + f sum w^2 r (1 - r) + f (1 - f) var(r w) n^2 / (n - 1)).

Two-sided geometric noise is what geometric noise of devices comes to with long reports.
"""

import argparse
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from machine import describe
from weighted_noise import (
    DELTA,
    Noise,
    best_error,
    choices,
    smallest_noise,
)

import shuffledp as sdp
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.statistics.counts.counts_search import CountsSearch
from shuffledp.statistics.counts.noise_families import noise_families
from shuffledp.types import Floats

# Buckets of the question, and messages of a report in the mean, of the library's plan.
BUCKETS, MESSAGES = 8, 64
NOISES = ("Poisson", "geometric")
MIXES: dict[tuple[float, ...], tuple[tuple[float, ...], ...]] = {
    (1.0,): ((1.0,),),
    (4.0,): ((1.0,),),
    (0.1, 1.0): ((0.5, 0.5), (0.1, 0.9), (0.9, 0.1), (0.01, 0.99)),
    (0.5, 1.0, 2.0): ((0.25, 0.5, 0.25), (0.6, 0.3, 0.1), (0.05, 0.25, 0.7)),
    (0.25, 4.0): ((0.5, 0.5), (0.1, 0.9), (0.9, 0.1)),
    (0.02, 1.0): ((0.5, 0.5), (0.1, 0.9), (0.01, 0.99)),
}
PEOPLE = (100, 1_000, 10_000, 100_000)
SHARES = (0.001, 0.01, 0.1)


def planned_error(search: CountsSearch, kind: str) -> float:
    """Returns the error of the library's plan, with rates alone; infinite if unproven."""
    families = noise_families(
        num_honest=search.honest,
        buckets=BUCKETS,
        most=1,
        epsilon=float(search.people.epsilons[0]),
        max_messages=MESSAGES,
    )
    for family in families:
        if family.kind != kind.lower():
            continue
        try:
            design = search.design(family, 0)
        except (CertificationError, InvalidInputError):
            break
        if design.messages <= MESSAGES:
            return design.standard_error
    return math.inf


def in_library(noise: Noise) -> sdp.PoissonNoise | sdp.ShufflerNoise:
    """Returns the same noise as the library accounts for it."""
    if noise.kind == "Poisson":
        return sdp.PoissonNoise(noise.size)
    # So many dummies that their tails are far below delta.
    return sdp.ShufflerNoise(noise.size, math.ceil(40.0 / -math.log(noise.size)))


def check_account() -> float:
    """Compares epsilon at w = 1 with the library's account; returns the largest gap."""
    gap = 0.0
    for kind, target, rate in itertools.product(NOISES, (0.1, 1.0, 4.0), (0.2, 1.0)):
        noise = smallest_noise(kind, 1, target)
        group = sdp.CountGroup(BUCKETS, 1, in_library(noise))
        honest = 1_000 if kind == "Poisson" else 1
        counts = sdp.Counts((group,), (target,), (rate,), honest)
        people = sdp.Population.from_counts({target: 1_000})
        (level,) = sdp.account(counts, people, delta=DELTA).levels
        low, high = 0.0, 2.0 * target
        while high - low > 1e-9:
            middle = 0.5 * (low + high)
            is_enough = noise.delta(middle, 1, rate) <= DELTA
            low, high = (low, middle) if is_enough else (middle, high)
        assert high <= level.epsilon_central + 1e-6, (noise, rate, high)
        assert high >= level.epsilon_central_lower - 1e-3 * high, (noise, rate, high)
        gap = max(gap, level.epsilon_central / high - 1.0)
    return gap


def settings(mix: tuple[float, ...]) -> Iterator[tuple[int, Floats, float]]:
    """Yields people, people of each target, and the share with the answer."""
    for n in PEOPLE:
        counts = np.round(n * np.array(mix))
        for share in sorted({1.0 / n, *(each for each in SHARES if each > 1.0 / n)}):
            yield n, counts, share


@dataclass(frozen=True)
class Row:
    """Errors in a setting: with rates alone, with weights, and of the library's plan."""

    targets: tuple[float, ...]
    mix: tuple[float, ...]
    people: int
    share: float
    alone: float
    weighted: float
    plan: float
    curator: float

    @property
    def holders(self) -> int:
        """People with the answer."""
        return round(self.share * self.people)

    @property
    def factor(self) -> float:
        """By which weights lower the error."""
        return self.alone / self.weighted


def rows_of(kind: str, targets: tuple[float, ...], *, prints: bool) -> Iterator[Row]:
    """Yields the settings of some targets with one noise."""
    alone = list(choices(kind, targets, weighted=False))
    weighted = [*alone, *choices(kind, targets, weighted=True)]
    for mix in MIXES[targets]:
        for n, counts, share in settings(mix):
            people = sdp.Population.from_counts(
                dict(zip(targets, counts.astype(int).tolist(), strict=True))
            )
            search = CountsSearch(people, BUCKETS, 1, share, DELTA, n)
            rates, rates_sent = best_error(alone, counts, share)
            both, both_sent = best_error(weighted, counts, share)
            plan = planned_error(search, kind)
            row = Row(targets, mix, n, share, rates, both, plan, search.curator())
            if prints:
                print(
                    f"{listed(targets)} | {listed(mix)} | {kind} | {n:,} | {share:g} | "
                    f"{rates:.3f} | {rates_sent} | {plan:.3f} | {both:.3f} | {both_sent} "
                    f"| {row.factor:.3f} | {row.curator:.3f}",
                    flush=True,
                )
            yield row


def better(first: Row, second: Row) -> Row:
    """Returns a setting with the better of two kinds of noise, whether weighted or not."""
    return replace(
        first,
        alone=min(first.alone, second.alone),
        weighted=min(first.weighted, second.weighted),
        plan=min(first.plan, second.plan),
    )


def listed(numbers: tuple[float, ...]) -> str:
    """Returns numbers with slashes between them."""
    return "/".join(f"{number:g}" for number in numbers)


def summarized(name: str, targets: str, rows: list[Row]) -> str:
    """Returns a line of the table."""
    top = max(rows, key=lambda row: row.factor)
    factors = np.array([row.factor for row in rows])
    plans = [row.plan / row.alone for row in rows if math.isfinite(row.plan)]
    to_curator = np.median([row.weighted / row.curator for row in rows])
    return (
        f"{name} | {targets} | {len(rows)} | {np.median(factors):.3f} | "
        f"{top.factor:.3f} | {listed(top.mix)} of {top.people:,}, "
        f"{top.holders:,} | {int((factors >= 1.05).sum())} | "
        f"{np.median(plans):.3f}, {max(plans):.3f} | {to_curator:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every setting, in rows")
    prints = parser.parse_args().all
    print(describe())
    print(f"epsilon at weight 1 is the account's up to {check_account():.1e} of it")
    if prints:
        print(
            "targets | people of each | noise | people | share | rates alone: error | "
            "copies x rate | the library's plan | with weights: error | copies x rate | "
            "factor | curator"
        )
    rows: dict[str, list[Row]] = {kind: [] for kind in NOISES}
    for kind, targets in itertools.product(NOISES, MIXES):
        rows[kind] += rows_of(kind, targets, prints=prints)
    rows["better of both"] = list(map(better, *rows.values()))
    print(
        "noise | targets | settings | factor by which weights lower the error: median | "
        "largest | where: mix, people, with the answer | 5% or more in | the library's "
        "plan to best rates: median, largest | with weights, to a curator: median"
    )
    for name, of_noise in rows.items():
        for targets in MIXES:
            own = [row for row in of_noise if row.targets == targets]
            print(summarized(name, listed(targets), own))
        several = [row for row in of_noise if len(row.mix) > 1]
        print(summarized(name, "all of several", several))
        for holders in sorted({row.holders for row in several}):
            own = [row for row in several if row.holders == holders]
            print(summarized(name, f"several, {holders:,} with the answer", own))


if __name__ == "__main__":
    main()
