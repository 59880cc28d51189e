"""Predicted and simulated errors of all protocols of Figures 2 to 6, in one setting."""

import math

import numpy as np

from shuffledp.accounting.items.items_calibration import largest_send_probability
from shuffledp.accounting.items.optimized_items import optimize_items
from shuffledp.population import Population
from shuffledp.randomizers.items_counts import holders_by_target
from shuffledp.statistics.items.protocol import Items
from shuffledp.types import Floats, Ints
from shuffledp_papers.segmented.best_blanket import best_blanket
from shuffledp_papers.segmented.figures.competitors import (
    Competitor,
    all_balls_into_bins,
    subexp_local,
    subexp_shuffle,
)
from shuffledp_papers.segmented.figures.conditions import TARGETS, Condition
from shuffledp_papers.segmented.figures.error_points import OURS, PUBLISHED, ErrorPoint
from shuffledp_papers.segmented.protocol import error_kinks, published_items

BLANKETS = (0.1, 0.2, 0.35, 0.6, 1.0, 1.7, 3.0, 5.5, 10.0)
# The search for the best m begins at this part of the smallest kink of the error.
_BELOW = 0.1


def simulate_points(
    condition: Condition, repetitions: int, rng: np.random.Generator
) -> list[ErrorPoint]:
    """Simulates both protocols at every m, and the competitors.

    Args:
        condition: The setting.
        repetitions: Simulated collections per point, at least 2.
        rng: The only source of randomness.
    """
    people = condition.people
    sets, num_items = condition.sets(rng)
    # Levels are independent of sets, as the estimates assume.
    indices = rng.permutation(np.repeat(np.arange(people.num_levels), people.counts))
    truth = (
        np.bincount(sets.ravel(), minlength=num_items)[:num_items] / condition.num_users
    )
    published = [published_at(condition, num_items, blanket) for blanket in BLANKETS]
    published.append(published_at_best(condition, num_items, truth))
    points: list[ErrorPoint] = []
    for name, protocols in (
        (PUBLISHED, published),
        (OURS, _certified_protocols(condition, num_items)),
    ):
        # The last protocol is the one at its best m.
        best = protocols[-1].blanket
        for protocol in sorted(protocols, key=lambda protocol: protocol.blanket):
            errors = _simulate(protocol, people, sets, indices, truth, repetitions, rng)
            points.append(
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
        points.append(
            _point(condition, competitor.name, None, False, predicted, errors)
        )
    return points


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

    kinks = error_kinks(
        condition.people,
        num_items=num_items,
        set_size=condition.set_size,
        delta=condition.delta,
    )
    # For these very data, which favors the published protocol.
    best = best_blanket(error, kinks, below=_BELOW)
    return published_at(condition, num_items, best)


def published_at(condition: Condition, num_items: int, blanket: float) -> Items:
    """Returns the published protocol with m = `blanket`."""
    return published_items(
        condition.people,
        num_items=num_items,
        set_size=condition.set_size,
        delta=condition.delta,
        blanket=blanket,
    )


def _certified_protocols(condition: Condition, num_items: int) -> list[Items]:
    """Returns ours at every m; the last is the one that is planned."""
    protocols = []
    for blanket in BLANKETS:
        rates = tuple(
            largest_send_probability(
                target,
                condition.delta,
                num_items=num_items,
                set_size=condition.set_size,
                num_honest=condition.num_users,
                blanket=blanket,
            )
            for target in TARGETS
        )
        protocols.append(Items(num_items, condition.set_size, TARGETS, rates, blanket))
    # The m that `plan items` chooses, which does not see the data.
    planned = optimize_items(
        condition.people,
        num_items=num_items,
        set_size=condition.set_size,
        delta=condition.delta,
    ).parameters
    best = Items(num_items, condition.set_size, TARGETS, planned.rates, planned.blanket)
    return [*protocols, best]


def _competitors(condition: Condition, num_items: int) -> list[Competitor]:
    people, s, delta = condition.people, condition.set_size, condition.delta
    return [
        subexp_local(people, num_items=num_items, set_size=s),
        subexp_shuffle(people, num_items=num_items, set_size=s, delta=delta),
        *all_balls_into_bins(people, num_items=num_items, set_size=s, delta=delta),
    ]


def _simulate(
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
        holders = holders_by_target(
            sets,
            # Items and targets are independent: targets are assigned again each time.
            rng.permutation(indices),
            num_targets=people.num_levels,
            num_items=protocol.num_items,
        )
        tally = protocol.draw_tally(holders, people, rng=rng)
        error = protocol.estimate(tally, people).value - truth
        errors.append(float(error @ error))
    return np.array(errors)


def _point(
    condition: Condition,
    name: str,
    blanket: float | None,
    best: bool,
    predicted: float,
    errors: Floats,
) -> ErrorPoint:
    # The standard error of the mean over simulated collections.
    deviation = float(errors.std(ddof=1)) / math.sqrt(errors.size)
    mean = float(errors.mean())
    return ErrorPoint(condition, name, blanket, best, predicted, mean, deviation)
