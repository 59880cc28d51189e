"""Searches that calibration is made of: the largest number that keeps a promise."""

from collections.abc import Callable, Sequence

import numpy as np

from shuffledp.accounting.promise import Promise
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import MAX_BUDGET, Population

# Relative width at which a bisection ends.
WIDTH = 1e-7


def largest_one(
    promise: Promise,
    people: Population,
    index: int,
    target: float,
    width: float = WIDTH,
) -> float:
    """Returns the largest budget of one level that keeps its target, others fixed."""

    def fits(budget: float) -> bool:
        changed = with_budget(people, index, budget)
        position = int(np.searchsorted(changed.epsilons, budget))
        return promise.delta_of(changed, position, target) <= promise.delta

    start = max(float(people.epsilons[index]), target)
    return largest(fits, start, MAX_BUDGET, width)


def with_budget(people: Population, index: int, budget: float) -> Population:
    """Returns the population with one level's budget replaced; equal ones merge."""
    epsilons = people.epsilons.copy()
    epsilons[index] = budget
    levels, where = np.unique(epsilons, return_inverse=True)
    counts = np.bincount(where, weights=people.counts).astype(np.int64)
    return Population(levels, counts)


def largest(
    fits: Callable[[float], bool], start: float, most: float, width: float = WIDTH
) -> float:
    """Returns the largest number that fits, if all below it do, to seven digits."""
    low = high = min(start, most)
    if fits(low):
        step = 1.01
        while fits(high):
            if high >= most:
                return most
            low, high = high, min(high * step, most)
            step = min(step**3, 2.0)
    else:
        step = 1.01
        while not fits(low):
            high, low = low, low / step
            step = min(step**3, 2.0)
            if low < 1e-12:
                raise CertificationError("Not even a budget of 1e-12 keeps the target.")
    while high > low * (1.0 + width):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def positive_targets(targets: Sequence[float]) -> list[float]:
    """Returns targets as numbers; raises InvalidInputError unless all are positive."""
    wanted = [as_number(target, "target") for target in targets]
    for target in wanted:
        if not 0.0 < target <= MAX_BUDGET:
            raise InvalidInputError(
                f"Expected targets above 0 and up to {MAX_BUDGET:g}, got {target:g}."
            )
    return wanted
