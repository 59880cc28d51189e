"""Prints errors of counts in parts, and in hashed buckets, beside those of `plan counts`.

    python benchmarks/counts_alternatives.py

*Parts*: people of neighboring targets form a collection of their own, with its own noise;
their estimated counts are added. *Hashed buckets*: a public hash maps the buckets to fewer
ones. An estimate has the noise of these, and the sum of squared counts of all other buckets
over the number of hashed ones, for collisions.
"""

import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np
from machine import describe

from shuffledp.errors import CertificationError
from shuffledp.planning.protocol_plan import Wish
from shuffledp.statistics.counts.several_messages import several_messages
from shuffledp.statistics.frequency.protocol import Frequency

_DELTA = 1e-6
_POPULATIONS: tuple[dict[float, int], ...] = (
    {0.5: 25_000, 1.0: 50_000, 2.0: 25_000},
    {0.05: 50_000, 4.0: 50_000},
    {0.05: 1_000, 4.0: 99_000},
    {0.5: 100, 1.0: 99_900},
    {0.5: 10_000, 0.51: 90_000},
)
_BUCKETS = 128
_HASHED = ((1_000, 10_000, 1.0), (10_000, 10_000, 1.0), (10_000, 10_000, 0.1))


def main() -> None:
    print(describe())
    print("targets and people | parts | error of a count")
    for targets in _POPULATIONS:
        for parts in _contiguous(sorted(targets)):
            errors = [_error({e: targets[e] for e in part}, _BUCKETS) for part in parts]
            print(f"{targets} | {parts} | {math.hypot(*errors):.2f}", flush=True)
    print(
        "people | buckets | epsilon | not hashed | one message (k-ary) | hashed to | "
        "error, even counts | error, counts ~ 1 / rank"
    )
    for people, buckets, epsilon in _HASHED:
        _print_hashed(people, buckets, epsilon)


def _contiguous(targets: list[float]) -> Iterator[list[list[float]]]:
    for cuts in itertools.product((False, True), repeat=len(targets) - 1):
        parts = [targets[:1]]
        for target, cut in zip(targets[1:], cuts, strict=True):
            if cut:
                parts.append([target])
            else:
                parts[-1].append(target)
        yield parts


def _error(targets: Mapping[float, int], buckets: int) -> float:
    """Returns the error of a count from up to 16 messages; infinite if unproven."""
    design = several_messages(
        targets, delta=_DELTA, absent=0, buckets=buckets, share=1.0 / buckets
    )
    if design is None:
        return math.inf
    return design.standard_error * sum(targets.values())


def _print_hashed(people: int, buckets: int, epsilon: float) -> None:
    targets = {epsilon: people}
    kary = Frequency(buckets)
    try:
        levels, _ = Wish(targets=targets, delta=_DELTA).fit(kary)
        single = people * kary.predicted_error(levels, share=1.0 / buckets)
    except CertificationError:
        single = math.inf
    ranks = np.arange(1.0, buckets + 1.0)
    uneven = people / ranks / (1.0 / ranks).sum()
    squares = [people**2 / buckets, float((uneven**2).sum())]
    plain = _error(targets, buckets)
    for fewer in (2**power for power in range(5, 14)):
        noise = _error(targets, fewer)
        even, skewed = (math.hypot(noise, math.sqrt(s / fewer)) for s in squares)
        print(
            f"{people} | {buckets} | {epsilon:g} | {plain:.2f} | {single:.2f} | {fewer} | "
            f"{even:.2f} | {skewed:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
