"""Wang et al. (2025), Figures 2 to 6: errors of segmented collections of sets.

Three targets, 0.5, 1 and 2, in the shares S1 = 25/50/25%, S2 = 50/25/25%, S3 = 25/25/50%;
delta = 0.01 / n; 5,000 and 50,000 people. Errors are sums over items of squared errors
about the participants. Against the number m of blanket messages stand the published
protocol, at the sampling rates that its Theorem 3 states, and ours, at the largest rates
that are *certified*; a line is the prediction, a point the mean of simulated collections.
Both stand at their best m as well: the published one at that of the least error for these
very data, ours at that which `plan items` finds without knowing them. The competitors do
not depend on m; each has its own accounting, as described in `competitors`.

MSNBC sets are padded to 4 pages with pages the visitor did not look at: only so are there
17 items, as the paper says.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from shuffledp.accounting.items.items_calibration import largest_send_chance
from shuffledp.accounting.items.optimized_items import optimize_items
from shuffledp.papers.figures.picture import draw
from shuffledp.papers.figures.result import Cell, Comparison, Effort, Result
from shuffledp.papers.segmented.figures.compared import (
    OURS,
    PUBLISHED,
    Point,
    compared_with,
    gains,
    least_of,
    panel_of,
)
from shuffledp.papers.segmented.figures.competitors import (
    Competitor,
    balls_into_bins,
    separate_balls_into_bins,
    subexp_local,
    subexp_shuffle,
)
from shuffledp.papers.segmented.figures.conditions import TARGETS, Condition
from shuffledp.papers.segmented.privacy import smallest_blanket
from shuffledp.papers.segmented.protocol import published_rates
from shuffledp.papers.segmented.search import best_blanket
from shuffledp.population import Population
from shuffledp.randomizers.items_counts import holders_by_target
from shuffledp.statistics.items.protocol import Items
from shuffledp.types import Floats, Ints

BLANKETS = (0.1, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0, 5.5, 10.0)
SIZES = (5_000, 50_000)
# The search for the best m begins at this part of the smallest that may be best.
_BELOW = 0.1


def figure(title: str, conditions: Sequence[Condition]) -> Callable[[Effort], Result]:
    """Returns what computes a figure of these settings."""

    def run(effort: Effort) -> Result:
        rng = np.random.default_rng(effort.seed)
        points: list[list[Point]] = []
        for index, condition in enumerate(conditions):
            points.append(_points(condition, effort.repetitions, rng))
            effort.on_share((index + 1) / len(conditions))
        setting: dict[str, Cell] = {"targets": "0.5, 1, 2", "delta": "0.01 / n"}
        return Result(
            title=title,
            setting=setting,
            columns=(
                "setting",
                "protocol",
                "m",
                "m: best",
                "predicted",
                "simulated",
                "standard error",
                "of the paper's best",
            ),
            rows=tuple(
                point.row(least_of(found, PUBLISHED).predicted)
                for found in points
                for point in found
            ),
            keys=3,
            notes=(
                "Sums over items of squared errors about the participants. Standard "
                "error: of the mean of the simulated ones. Of the paper's best: the "
                "predicted error divided by the published protocol's least. Only ours is "
                "certified.",
                gains(points),
            ),
            svg=draw(
                title,
                setting,
                [panel_of(found) for found in points],
                description=f"{title}: errors against blanket messages per person",
            ),
            comparisons=(
                *(compared for found in points for compared in compared_with(found)),
                *_larger_crowds(points),
            ),
        )

    return run


def _larger_crowds(points: Sequence[Sequence[Point]]) -> list[Comparison]:
    """Returns by how much errors fall from the smaller to the larger crowd, of MSNBC."""
    least = {
        found[0].condition.num_users: least_of(found, PUBLISHED).predicted
        for found in points
        if (found[0].condition.data, found[0].condition.shares) == ("msnbc", "S1")
    }
    if len(least) < len(SIZES):
        return []
    small, large = (least[size] for size in SIZES)
    return [
        Comparison(
            f"MSNBC: least error at {SIZES[0]:,} people over that at {SIZES[1]:,}",
            "30",
            small / large,
            within=0.25,
        )
    ]


def _points(
    condition: Condition, repetitions: int, rng: np.random.Generator
) -> list[Point]:
    people = condition.people
    sets, num_items = condition.sets(rng)
    indices = rng.permutation(np.repeat(np.arange(people.num_levels), people.counts))
    truth = (
        np.bincount(sets.ravel(), minlength=num_items)[:num_items] / condition.num_users
    )
    found: list[Point] = []
    for name, protocols in (
        (PUBLISHED, _published(condition, num_items, truth)),
        (OURS, _certified(condition, num_items)),
    ):
        best = protocols[-1].blanket
        for protocol in sorted(protocols, key=lambda one: one.blanket):
            errors = _simulated(
                protocol, people, sets, indices, truth, repetitions, rng
            )
            found.append(
                _point(
                    condition,
                    name,
                    protocol.blanket,
                    protocol.blanket == best,
                    protocol.predicted_mse(people, truth),
                    errors,
                )
            )
    for competitor in _competitors(condition, num_items):
        drawn = [
            competitor.draw(sets, rng.permutation(indices), rng=rng) - truth
            for _ in range(repetitions)
        ]
        predicted = competitor.predicted_mse(truth)
        errors = np.array([float(error @ error) for error in drawn])
        found.append(_point(condition, competitor.name, None, False, predicted, errors))
    return found


def _point(
    condition: Condition,
    name: str,
    blanket: float | None,
    best: bool,
    predicted: float,
    errors: Floats,
) -> Point:
    deviation = float(errors.std(ddof=1)) / math.sqrt(errors.size)
    mean = float(errors.mean())
    return Point(condition, name, blanket, best, predicted, mean, deviation)


def published_at_best(condition: Condition, num_items: int, truth: Floats) -> Items:
    """Returns the published protocol at the m of least error for these shares.

    Args:
        condition: The setting.
        num_items: d.
        truth: Share of the participants who hold each item, shape (d,).
    """

    def error(blanket: float) -> float:
        protocol = published_at(condition, num_items, blanket)
        return protocol.predicted_mse(condition.people, truth)

    kinks = [
        smallest_blanket(
            condition.num_users,
            num_items=num_items,
            epsilon=target,
            delta=condition.delta,
            items_per_user=condition.set_size,
        )
        for target in TARGETS
    ]
    best = best_blanket(error, kinks, below=_BELOW)
    return published_at(condition, num_items, best)


def published_at(condition: Condition, num_items: int, blanket: float) -> Items:
    """Returns the published protocol with so many blanket messages per person."""
    rates = published_rates(
        condition.people,
        num_items=num_items,
        set_size=condition.set_size,
        blanket=blanket,
        delta=condition.delta,
    )
    size = condition.set_size
    return Items(num_items, size, TARGETS, rates, blanket, noise="bernoulli")


def _published(condition: Condition, num_items: int, truth: Floats) -> list[Items]:
    """Returns the published protocol at every m; the last is the best."""
    found = [published_at(condition, num_items, blanket) for blanket in BLANKETS]
    return [*found, published_at_best(condition, num_items, truth)]


def _certified(condition: Condition, num_items: int) -> list[Items]:
    """Returns ours at every m; the last is the one that is planned."""
    found = []
    for blanket in BLANKETS:
        rates = tuple(
            largest_send_chance(
                target,
                condition.delta,
                num_items=num_items,
                set_size=condition.set_size,
                honest=condition.num_users,
                blanket=blanket,
            )
            for target in TARGETS
        )
        found.append(Items(num_items, condition.set_size, TARGETS, rates, blanket))
    planned = optimize_items(
        condition.people,
        num_items=num_items,
        set_size=condition.set_size,
        delta=condition.delta,
    ).parameters
    best = Items(num_items, condition.set_size, TARGETS, planned.rates, planned.blanket)
    return [*found, best]


def _competitors(condition: Condition, num_items: int) -> list[Competitor]:
    people, s, delta = condition.people, condition.set_size, condition.delta
    return [
        subexp_local(people, num_items=num_items, set_size=s),
        subexp_shuffle(people, num_items=num_items, set_size=s, delta=delta),
        balls_into_bins(people, num_items=num_items, set_size=s, delta=delta),
        separate_balls_into_bins(
            people, num_items=num_items, set_size=s, delta=delta, weights="equal"
        ),
        separate_balls_into_bins(
            people, num_items=num_items, set_size=s, delta=delta, weights="published"
        ),
    ]


def _simulated(
    protocol: Items,
    people: Population,
    sets: Ints,
    indices: Ints,
    truth: Floats,
    repetitions: int,
    rng: np.random.Generator,
) -> Floats:
    """Returns the error of every simulated collection, shape (repetitions,)."""
    errors = []
    for _ in range(repetitions):
        held = holders_by_target(
            sets,
            rng.permutation(indices),
            num_targets=people.num_levels,
            num_items=protocol.num_items,
        )
        tally = protocol.draw_tally(held, people, rng=rng)
        off = protocol.estimate(tally, people).value - truth
        errors.append(float(off @ off))
    return np.array(errors)


def _both(data: str, set_size: int, *shares: str) -> list[Condition]:
    return [Condition(data, set_size, share, n) for share in shares for n in SIZES]


FIGURE_2 = figure("Wang et al. (2025), Figure 2: MSNBC, S1", _both("msnbc", 4, "S1"))
FIGURE_3 = figure(
    "Wang et al. (2025), Figure 3: 128 items, S1",
    _both("synthetic", 4, "S1") + _both("synthetic", 8, "S1"),
)
FIGURE_4 = figure(
    "Wang et al. (2025), Figure 4: MSNBC, S2 and S3", _both("msnbc", 4, "S2", "S3")
)
FIGURE_5 = figure(
    "Wang et al. (2025), Figure 5: 128 items, S2",
    _both("synthetic", 4, "S2") + _both("synthetic", 8, "S2"),
)
FIGURE_6 = figure(
    "Wang et al. (2025), Figure 6: 128 items, S3",
    _both("synthetic", 4, "S3") + _both("synthetic", 8, "S3"),
)
