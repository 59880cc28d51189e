"""Prints errors of counts beside those of a trusted curator, predicted and simulated.

    python benchmarks/counts.py [--collections 2000]
    python benchmarks/counts.py --speed
    python benchmarks/counts.py --floor
    python benchmarks/counts.py --shuffler
    python benchmarks/counts.py --map [--picture docs/pictures/counts-map.svg]

Every row is planned at equal certified guarantees, then drawn as often as asked. With
`--map`, the best noise of up to 16 messages per person, and its ratio to the curator, for
many numbers of people and buckets. With `--speed`, seconds of a plan, of the certificate of
its best slots, and of a tally. With `--floor`, errors beside a local epsilon. With
`--shuffler`, errors if a trusted shuffler adds the noise.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from machine import describe
from numpy.typing import NDArray

from shuffledp.accounting.account import account
from shuffledp.accounting.counts.slot_noise import SlotNoise
from shuffledp.errors import CertificationError
from shuffledp.matplotlib_picture import new_figure
from shuffledp.planning.wish import Wish
from shuffledp.population import Population
from shuffledp.statistics.counts.counts_plan import CountsPlan, plan_counts
from shuffledp.statistics.counts.counts_search import CountsDesign, CountsSearch

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

# Buckets, messages of a report, epsilon, people.
_SPEED: tuple[tuple[int, int, float, int], ...] = (
    (1, 9, 1.0, 10**5),
    (8, 9, 1.0, 10**5),
    (128, 16, 1.0, 10**5),
    (1_024, 16, 1.0, 10**6),
    (10**5, 16, 1.0, 10**9),
    (10**5, 40, 0.25, 10**7),
)
_EPSILONS = (0.1, 1.0)
_FLOORS = (None, 12.0, 10.0, 8.0, 6.0)
_PEOPLE = tuple(10**power for power in range(3, 10))
_BUCKETS = (2, 8, 128, 1_024, 10**4, 10**5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=2_000)
    parser.add_argument("--map", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--floor", action="store_true")
    parser.add_argument("--shuffler", action="store_true")
    parser.add_argument("--picture", type=Path, help="Where to draw the map.")
    given = parser.parse_args()
    print(describe())
    if given.speed:
        _print_speed()
        return
    if given.floor:
        _print_floors()
        return
    if given.shuffler:
        _print_shuffler(given.collections)
        return
    if given.map:
        _print_map(given.picture)
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
                f"{_shuffler_error(plan):.2f} | {design.name} | {design.messages:.2f} | "
                f"{'constant' if design.is_constant else 'varies'} | "
                f"{design.standard_error:.2f} | "
                f"{design.standard_error / plan.curator:.3f} | {simulated:.2f} | "
                f"{covered:.1%} | {level.epsilon_central:g} | "
                f"{level.epsilon_central_lower:g} | {seconds:.1f}",
                flush=True,
            )


def _shuffler_error(plan: CountsPlan) -> float:
    return np.nan if plan.shuffler is None else plan.shuffler.standard_error


def _print_shuffler(collections: int) -> None:
    """Prints errors of a count where the shuffler adds the noise."""
    print(
        "buckets | answers | targets | curator | predicted | simulated | dummies | epsilon"
    )
    # A single bucket is left out: whether a person sends a message is the answer.
    rows = {(d, s, tuple(targets.items())) for d, s, _, targets in _ROWS if d > 1}
    for buckets, most, targets in sorted(rows):
        people = Population.from_counts(dict(targets))
        share = most / buckets
        search = CountsSearch(people, buckets, most, share, 1e-6, people.num_users)
        design = search.shuffler(absent=0)
        simulated, _ = _simulated(design, buckets, most, collections)
        (group,), level = design.protocol.groups, design.guarantee.levels[0]
        print(
            f"{buckets} | {most} | {'/'.join(f'{target:g}' for target, _ in targets)} | "
            f"{search.curator():.2f} | {design.standard_error:.2f} | {simulated:.2f} | "
            f"{buckets * group.noise.messages:,.0f} | {level.epsilon_central_lower:g} to "
            f"{level.epsilon_central:g}",
            flush=True,
        )


def _print_floors() -> None:
    """Prints errors of a count beside floors against shuffler and analyst together."""
    people, buckets = Population.from_counts({1.0: 100_000}), 128
    plan = plan_counts(Wish(targets={1.0: 100_000}), buckets=buckets, max_messages=9)
    shares = [np.full(buckets, 1.0 / buckets)]
    print(f"{buckets} buckets, {people.num_users:,} people, {plan.best.name}")
    for floor in _FLOORS:
        counts = replace(plan.best.protocol, local_epsilon=floor)
        (errors,) = counts.predicted_errors(people, shares)
        level = account(counts, people, delta=1e-6).levels[0]
        print(
            f"local {floor} | error {errors[0]:.2f} | central {level.epsilon_central:g} | "
            f"together {level.epsilon_coalition}"
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


def _print_speed() -> None:
    print("buckets | epsilon | people | longest report | plan | certificate | tally")
    for buckets, limit, epsilon, number in _SPEED:
        people = Population.from_counts({epsilon: number})
        start = time.perf_counter()
        wish = Wish(targets={epsilon: number})
        plan = plan_counts(wish, buckets=buckets, max_messages=limit)
        planned = time.perf_counter()
        best = next(d for d in plan.designs if d.is_constant)
        # A noise that was not certified before: nothing is stored of it.
        noise = best.protocol.groups[0].noise
        assert isinstance(noise, SlotNoise)
        noise = replace(noise, strength=1.0 + 1e-9)
        group = replace(best.protocol.groups[0], noise=noise)
        protocol = replace(best.protocol, groups=(group,))
        account(protocol, people, delta=wish.delta)
        certified = time.perf_counter()
        holders = np.zeros((1, buckets), dtype=np.int64)
        protocol.draw_tally([holders], people, rng=np.random.default_rng(1))
        drawn = time.perf_counter()
        print(
            f"{buckets:,} | {epsilon:g} | {number:,} | {limit} | {planned - start:.1f} | "
            f"{certified - planned:.2f} | {drawn - certified:.2f}",
            flush=True,
        )


def _print_map(picture: Path | None) -> None:
    print("epsilon | people | buckets | noise | messages | times a curator's error")
    ratios = np.full((len(_EPSILONS), len(_PEOPLE), len(_BUCKETS)), np.nan)
    for index in np.ndindex(ratios.shape):
        epsilon, people, buckets = (
            values[i]
            for values, i in zip((_EPSILONS, _PEOPLE, _BUCKETS), index, strict=True)
        )
        try:
            plan = plan_counts(Wish(targets={epsilon: people}), buckets=buckets)
        except CertificationError as error:
            print(f"{epsilon:g} | {people} | {buckets} | none: {error}", flush=True)
            continue
        best = plan.best
        ratios[index] = best.standard_error / plan.curator
        print(
            f"{epsilon:g} | {people} | {buckets} | {best.name} | {best.messages:.3g} | "
            f"{ratios[index]:.3f}",
            flush=True,
        )
    if picture is not None:
        _draw(ratios, picture)


def _draw(ratios: NDArray[np.float64], picture: Path) -> None:
    figure = new_figure(8.4, 3.6)
    for axes, epsilon, values in zip(
        figure.subplots(1, len(_EPSILONS), sharey=True), _EPSILONS, ratios, strict=True
    ):
        axes.imshow(np.clip(values, 1.0, 2.5), cmap="YlOrRd", vmin=1.0, vmax=3.5)
        for (row, column), value in np.ndenumerate(values):
            text = "none" if np.isnan(value) else f"{value:.2f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8)
        axes.set_xticks(range(len(_BUCKETS)), [f"{k:,}" for k in _BUCKETS], fontsize=8)
        axes.set_yticks(range(len(_PEOPLE)), [f"{n:,}" for n in _PEOPLE], fontsize=8)
        axes.set_xlabel("buckets")
        axes.set_title(f"epsilon {epsilon:g}, delta 1e-6", fontsize=9)
    figure.axes[0].set_ylabel("people")
    figure.savefig(picture)


if __name__ == "__main__":
    main()
