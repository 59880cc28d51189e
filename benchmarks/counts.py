"""Prints errors of counts beside those of a trusted curator, predicted and simulated.

    python benchmarks/counts.py [--collections 2000] [--map]

Every row is planned at equal certified guarantees, then drawn as often as asked. With
`--map`, the best noise and its ratio to the curator for many numbers of people and buckets.
"""

import argparse
import time

import numpy as np
from machine import describe

from shuffledp.accounting.counts.counts_parameters import Noise
from shuffledp.errors import CertificationError
from shuffledp.planning.protocol_plan import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_plan import plan_counts
from shuffledp.statistics.counts.counts_search import CountsDesign

_ROWS: tuple[tuple[int, int, int, dict[float, int]], ...] = (
    (8, 1, 2, {1.0: 100_000}),
    (8, 1, 9, {1.0: 100_000}),
    (8, 1, 16, {1.0: 100_000}),
    (128, 1, 3, {1.0: 100_000}),
    (128, 1, 9, {1.0: 100_000}),
    (128, 1, 16, {1.0: 100_000}),
    (128, 1, 16, {0.1: 100_000}),
    (128, 1, 16, {0.5: 25_000, 1.0: 50_000, 2.0: 25_000}),
    (128, 2, 16, {1.0: 100_000}),
    (128, 4, 16, {1.0: 100_000}),
    (128, 10, 16, {1.0: 100_000}),
    (1, 1, 9, {1.0: 100_000}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=2_000)
    parser.add_argument("--map", action="store_true")
    given = parser.parse_args()
    print(describe())
    if given.map:
        _print_map()
        return
    print(
        "buckets | of a person | targets | curator | from the shuffler | noise | messages "
        "| size | predicted | times | simulated | covered | certified | attack | seconds"
    )
    for buckets, most, limit, targets in _ROWS:
        start = time.perf_counter()
        wish = Wish(targets=targets)
        plan = plan_counts(wish, buckets=buckets, most=most, max_messages=limit)
        seconds = time.perf_counter() - start
        asked = "/".join(f"{target:g}" for target in targets)
        for design in plan.designs:
            simulated, covered = _simulated(design, buckets, most, given.collections)
            level = design.guarantee.levels[0]
            print(
                f"{buckets} | {most} | {asked} | {plan.curator:.2f} | "
                f"{plan.shuffler:.2f} | {design.name} | {design.messages:.2f} | "
                f"{'constant' if design.is_constant else 'varies'} | "
                f"{design.standard_error:.2f} | "
                f"{design.standard_error / plan.curator:.3f} | {simulated:.2f} | "
                f"{covered:.1%} | {level.epsilon_central:g} | "
                f"{level.epsilon_central_lower:g} | {seconds:.1f}",
                flush=True,
            )


def _simulated(
    design: CountsDesign, buckets: int, most: int, collections: int
) -> tuple[float, float]:
    """Returns the error of the first bucket, and how often intervals cover the truth."""
    rng = np.random.default_rng(2026)
    protocol = design.protocol
    people = Population.from_counts(
        {level.target or 0.0: level.count for level in design.guarantee.levels}
    )
    share = most / buckets if buckets > 1 else 0.5
    held = round(people.num_users * share)
    errors, covered = np.empty(collections), np.empty(collections, dtype=np.bool_)
    for index in range(collections):
        # Who is in the bucket does not depend on targets, which are dealt out at random.
        first = rng.multivariate_hypergeometric(people.counts, held)
        holders = np.zeros((people.num_levels, buckets), dtype=np.int64)
        holders[:, 0] = first
        tally = protocol.draw_tally([holders], people, rng=rng)
        estimate = protocol.estimate(tally, people)
        errors[index] = estimate.value[0][0] - held
        low, high = estimate.interval()[0][0]
        covered[index] = low <= held <= high
    return float(np.sqrt(np.mean(errors**2))), float(covered.mean())


def _print_map() -> None:
    print("epsilon | people | buckets | noise | messages | times a curator's error")
    for epsilon in (0.1, 1.0):
        for people in (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9):
            for buckets in (2, 8, 128, 1_024, 10**4, 10**5):
                wish = Wish(targets={epsilon: people})
                try:
                    plan = plan_counts(wish, buckets=buckets)
                except CertificationError as error:
                    print(f"{epsilon:g} | {people} | {buckets} | none: {error}")
                    continue
                best = plan.best
                noise: Noise = best.protocol.groups[0].noise
                print(
                    f"{epsilon:g} | {people} | {buckets} | {type(noise).__name__} | "
                    f"{best.messages:.3g} | {best.standard_error / plan.curator:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
