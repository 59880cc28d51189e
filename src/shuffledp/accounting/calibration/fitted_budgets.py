"""Local budgets that use up a central target of every level.

The largest budgets are those at which every promise is used up (`joint`). With unbounded
noise, where a small budget spoils the cover of others, there may be none; then the targets
themselves, or equal shares of them for many reports, are taken as local budgets, and
scaled up by one factor.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from shuffledp.accounting.calibration.budget_range import BudgetRange
from shuffledp.accounting.calibration.calibrated_population import rounded_population
from shuffledp.accounting.calibration.joint_budgets import (
    estimated_budgets,
    joint_budgets,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.scaled_budgets import scaled_budgets
from shuffledp.accounting.calibration.target_margin import target_margin
from shuffledp.accounting.epsilon_solver import round_down
from shuffledp.errors import CertificationError
from shuffledp.population import MAX_BUDGET, Population
from shuffledp.types import Floats, Ints

# Budgets beyond this are not tried where only a common factor is looked for.
_MOST_SCALED, _SCALE_WIDTH = 8.0, 1e-3
# How much smaller budgets are tried first where those of a search miss a target.
_LEAST_SHRINK = 1e-6
# Of one report's profile, where that is enough to certify several.
_FEW_EVALUATIONS, _LARGER = 24, 1.05
# Of the delta that is promised, where estimates are relied upon.
_NO_DOUBT = 0.01
# Of targets, until they are kept as budgets.
_MOST_HALVINGS, _LESS = 6, 1.0 - 1e-7
# With a larger one nearly every message is a value without noise.
_LARGEST_USED = 50.0


def kept_budgets(promise: Promise, targets: Population) -> Population:
    """Returns budgets that keep the targets, at which searches begin.

    Args:
        promise: Protocol and delta.
        targets: People by central epsilon.

    Raises:
        CertificationError: If none are known.
    """
    wanted, counts = targets.epsilons.tolist(), targets.counts
    people = rounded_population(targets.epsilons, counts)
    reports = promise.num_reports
    if _is_far_from_missed(promise, people, wanted):
        return targets
    # Budgets that are the targets themselves are kept, or far from it, as few evaluations
    # tell, which make epsilons larger by a hundredth at most.
    keep = partial(promise.kept, people, most_evaluations=_FEW_EVALUATIONS)
    if reports == 1 or keep([min(_LARGER * target, MAX_BUDGET) for target in wanted]):
        if reports > 1 and keep(wanted):
            return targets
        if promise.kept(people, wanted):
            return targets
    # The budgets of all reports of a person add up to no more than the target; those with a
    # delta of their own keep less than themselves at a smaller one.
    for halvings in range(int(reports == 1), _MOST_HALVINGS + 1):
        # A little less, as their sum is rounded upward.
        share = _LESS * targets.epsilons / (reports * 2.0**halvings)
        people = rounded_population(share, counts)
        if _is_far_from_missed(promise, people, wanted) or promise.kept(
            people, wanted, most_evaluations=_FEW_EVALUATIONS
        ):
            return people
    raise CertificationError(
        f"No budgets are known that keep these targets at delta {promise.delta:g}: ask for "
        "a larger delta, larger targets or fewer reports of each person."
    )


def _is_far_from_missed(
    promise: Promise, people: Population, targets: list[float]
) -> bool:
    """Returns whether estimates of composed bounds leave no doubt that targets are kept.

    A search begins with such budgets; what it ends with is certified.
    """
    if promise.num_reports == 1:
        return False
    with suppress(CertificationError):
        estimates = promise.estimates_of(people, targets)
        return max(estimates) <= _NO_DOUBT * promise.delta
    return False


def fitted_budgets(
    promise: Promise,
    counts: Ints,
    wanted: list[float],
    start: Floats,
    *,
    apart: bool,
) -> Iterator[tuple[Population, list[float]]]:
    """Yields populations with the largest budgets, one per method that succeeds.

    Args:
        promise: Protocol and delta.
        counts: People of each level, shape (levels,).
        wanted: Central target of each level, increasing.
        start: Budgets that keep them, shape (levels,).
        apart: Whether people hide among their own level only.

    Yields:
        People, and the targets of their levels in the same order.
    """
    parts = np.arange(counts.size)[:, None] if apart else np.arange(counts.size)[None]
    # The bounds of some mechanisms are refused where a budget is very large.
    for fit in (
        _used_up,
        partial(_used_up, largest_budget=_LARGEST_USED),
        _scaled_targets,
    ):
        levels = _Levels()
        try:
            for part in parts:
                goals = [wanted[index] for index in part]
                people = fit(promise, counts[part], goals, start[part])
                levels.add(people, goals)
        except CertificationError:
            continue
        yield levels.answer()


def estimated_people(
    promise: Promise, counts: Ints, wanted: list[float], *, apart: bool
) -> Population:
    """Returns about the people of `fitted_budgets`, quickly; nothing is certified.

    Args:
        promise: See `fitted_budgets`, as for what follows.
        counts: Likewise.
        wanted: Likewise.
        apart: Likewise.

    Raises:
        CertificationError: If nothing is estimated.
    """
    levels, targets = _Levels(), np.array(wanted)
    for part in np.arange(counts.size)[:, None] if apart else [slice(None)]:
        budgets = estimated_budgets(
            promise, counts[part], targets[part].tolist(), targets[part]
        )
        levels.add(rounded_population(budgets, counts[part]), targets[part].tolist())
    return levels.answer()[0]


class _Levels:
    """Budgets and targets of levels, added in parts and in any order."""

    def __init__(self) -> None:
        self._by_budget: dict[float, tuple[float, int]] = {}

    def add(self, people: Population, targets: Sequence[float]) -> None:
        """Adds levels; where levels are apart, a larger target may get less."""
        pairs = zip(people.epsilons.tolist(), people.counts.tolist(), strict=True)
        for (budget, count), target in zip(pairs, targets, strict=True):
            # Two levels of one budget would be one level.
            while budget in self._by_budget:
                budget = round_down(budget * (1.0 - 1e-5))
            self._by_budget[budget] = (target, count)

    def answer(self) -> tuple[Population, list[float]]:
        """Returns all levels, and their targets in the same order."""
        counts = {budget: count for budget, (_, count) in self._by_budget.items()}
        targets = [self._by_budget[budget][0] for budget in sorted(self._by_budget)]
        return Population.from_counts(counts), targets


def _used_up(
    promise: Promise,
    counts: Ints,
    wanted: list[float],
    start: Floats,
    *,
    largest_budget: float = MAX_BUDGET,
) -> Population:
    """Returns people whose budgets use up every target of theirs.

    Raises:
        CertificationError: If they are not found.
    """
    largest_budget = max(largest_budget, min(1.01 * wanted[-1], MAX_BUDGET))
    budgets, is_kept = joint_budgets(
        promise, counts, wanted, start, largest_budget=largest_budget
    )
    budget_range = BudgetRange(counts.size, largest_budget)
    num_distinct = budget_range.num_distinct(np.log(budgets))
    # Rough bounds jump by about their margin.
    shrink = max(_LEAST_SHRINK, target_margin(promise, counts.size))
    while not is_kept:
        people = rounded_population(budgets, counts)
        if promise.is_kept_locally(people, wanted[:num_distinct]):
            break
        deltas = np.array(promise.deltas_of(people, wanted[:num_distinct]))
        if np.all(deltas <= promise.delta):
            break
        if shrink > 0.1:
            raise CertificationError("No budgets that use up every target are found.")
        # Levels above the distinct ones have the largest budget, as the last of these.
        missed = np.append(
            deltas > promise.delta, [False] * (counts.size - num_distinct)
        )
        missed[num_distinct:] = missed[num_distinct - 1]
        smaller = np.maximum(budgets * (1.0 - shrink), start * (1.0 - shrink))
        budgets = budget_range.ordered_from_above(np.where(missed, smaller, budgets))
        shrink *= 4.0
    return rounded_population(budgets, counts)


def _scaled_targets(
    promise: Promise, counts: Ints, wanted: list[float], start: Floats
) -> Population:
    """Returns people with the budgets of the start, scaled up by one factor if that helps.

    More noise may give less cover; then only a common factor is searched for.
    """
    budgets = scaled_budgets(
        promise,
        counts,
        wanted,
        start,
        width=_SCALE_WIDTH,
        most_factor=max(_MOST_SCALED / float(start[-1]), 1.0),
    )
    return rounded_population(budgets, counts)
