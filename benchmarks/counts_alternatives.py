"""Prints errors of counts in parts beside those of `plan counts`.

    python benchmarks/counts_alternatives.py

*Parts*: people of neighboring targets form a collection of their own, with its own noise;
their estimated counts are added.
"""

import itertools
import math
from collections.abc import Iterator, Mapping

from machine import describe

from shuffledp.statistics.counts.several_messages import several_messages

_DELTA = 1e-6
_POPULATIONS: tuple[dict[float, int], ...] = (
    {0.5: 25_000, 1.0: 50_000, 2.0: 25_000},
    {0.05: 50_000, 4.0: 50_000},
    {0.05: 1_000, 4.0: 99_000},
    {0.5: 100, 1.0: 99_900},
    {0.5: 10_000, 0.51: 90_000},
)
_BUCKETS = 128


def main() -> None:
    print(describe())
    print("targets and people | parts | error of a count")
    for targets in _POPULATIONS:
        for parts in _contiguous(sorted(targets)):
            errors = [_error({e: targets[e] for e in part}, _BUCKETS) for part in parts]
            print(f"{targets} | {parts} | {math.hypot(*errors):.2f}", flush=True)


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


if __name__ == "__main__":
    main()
