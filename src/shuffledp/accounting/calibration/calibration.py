"""Inverse problems: the budgets, people and rounds that meet a central promise.

A promise is a central epsilon, at one delta, for the people of every level. Every answer
is checked: the certified bound was evaluated for the answer itself, and kept the promise.
It is also nearly the best: a little more (one part in a thousand, two of noise in rounds)
breaks it. For mechanisms with one finite set of messages the feasible budgets are downward
closed, as a larger budget of one user gives every user less cover. "Largest" therefore
means:

* `largest_budgets`: no level alone can be raised without breaking its own promise; to
  raise one, another must give way (`fitted_budgets`).
* The others: the end of an interval (`calibration_search`).
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.accounting.calibration.calibration_search import (
    largest,
    largest_one,
    normal_spread,
    with_budget,
)
from shuffledp.accounting.calibration.checked_targets import (
    one_target_each,
    positive_targets,
)
from shuffledp.accounting.calibration.fitted_budgets import (
    fitted_budgets,
    kept_budgets,
)
from shuffledp.accounting.calibration.kept_rounds import (
    composable_rounds,
    most_kept_rounds,
)
from shuffledp.accounting.calibration.largest_excess import (
    LargestExcess,
    largest_for_all,
)
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.calibration.target_margin import search_width
from shuffledp.accounting.epsilon_solver import round_down
from shuffledp.accounting.rounds.kept_profiles import keeping_profiles
from shuffledp.arguments import expect_instance, expect_mapping
from shuffledp.arrays import as_number
from shuffledp.errors import CertificationError, InvalidInputError
from shuffledp.population import MAX_BUDGET, MAX_USERS, Population

_SMALLEST_BUDGET = 1e-12
# Relative width of a search for a start.
_START_WIDTH = 0.01
# So many that losses are nearly normal.
_MANY_USERS = 10**9


@keeping_profiles()
def largest_budgets(promise: Promise, targets: Mapping[float, int]) -> Calibration:
    """Returns the largest local budgets that keep a central target per level.

    Up to 0.1% of a target may be unused; where it is more, the answer's `caution` says so.

    >>> import shuffledp as sdp
    >>> promise = sdp.Promise(sdp.Frequency(17), delta=1e-6)
    >>> answer = sdp.largest_budgets(promise, {0.05: 5_000, 0.1: 5_000})
    >>> answer.people.epsilons.round(4).tolist()
    [1.6936, 2.4934]

    Args:
        promise: Protocol and delta.
        targets: {central epsilon: number of people}; the larger a target, the larger the
            budget.

    Raises:
        InvalidInputError: If a target is not a positive finite number.
        CertificationError: If no budgets are found.
    """
    expect_instance(promise, Promise)
    positive_targets(list(expect_mapping(targets, "{central epsilon: people}")))
    population = Population.from_counts(targets)  # Checks the counts, too.
    wanted, counts = population.epsilons.tolist(), population.counts
    if np.any(np.diff(wanted) < 1e-4 * np.array(wanted[1:])):
        raise InvalidInputError("Expected targets that differ by more than 0.01%.")
    start = kept_budgets(promise, population)
    apart = promise.exposure(population).mode == "stratified"
    for people, goals in fitted_budgets(
        promise, counts, wanted, start.epsilons, apart=apart
    ):
        with suppress(CertificationError):
            answer = promise.answer(people, goals, may_shrink=True)
            return replace(answer, is_largest=True)
    return replace(promise.answer(start, wanted), is_largest=True)


@keeping_profiles()
def largest_budget(
    promise: Promise, people: Population, level: float, target: float
) -> Calibration:
    """Returns the population with one level's budget raised as far as its target allows.

    All other budgets stay, and their guarantees may weaken: see the answer's.

    >>> import shuffledp as sdp
    >>> promise = sdp.Promise(sdp.Frequency(17), delta=1e-6)
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> answer = sdp.largest_budget(promise, people, level=2.0, target=0.1)
    >>> answer.people.epsilons.round(4).tolist()
    [1.0, 2.5471]

    Args:
        promise: Protocol and delta.
        people: The population; its other levels stay.
        level: Which budget to change.
        target: The central epsilon of its people.
    """
    expect_instance(promise, Promise)
    expect_instance(people, Population)
    (wanted,) = positive_targets([target])
    (index,) = people.level_indices([level]).tolist()
    budget = largest_one(promise, people, index, wanted, rounded=round_down)
    changed, position = with_budget(people, index, budget)
    # The guarantees of the other levels may weaken: `answer` checks this one only.
    goals = [np.inf] * changed.num_levels
    goals[position] = wanted
    return promise.answer(changed, goals)


@keeping_profiles()
def largest_scale(
    promise: Promise, people: Population, targets: Sequence[float]
) -> tuple[float, Calibration]:
    """Returns the largest common factor of all budgets that keeps every target.

    >>> import shuffledp as sdp
    >>> promise = sdp.Promise(sdp.Frequency(17), delta=1e-6)
    >>> people = sdp.Population.from_counts({1.0: 5_000, 2.0: 5_000})
    >>> factor, answer = sdp.largest_scale(promise, people, [0.1, 0.3])
    >>> answer.people.epsilons.round(4).tolist()
    [2.1654, 4.3308]

    Args:
        promise: Protocol and delta.
        people: The population whose budgets are scaled.
        targets: Central epsilon of each of its levels, in their order.
    """
    expect_instance(promise, Promise)
    wanted = one_target_each(people, targets)

    def scaled(factor: float) -> Population:
        budgets = np.minimum(people.epsilons * factor, MAX_BUDGET)
        return Population(budgets, people.counts)

    highest = float(people.epsilons.max())
    if highest < _SMALLEST_BUDGET:
        raise InvalidInputError("Expected a person with a budget to scale, got 0 only.")
    max_factor, excess = MAX_BUDGET / highest, LargestExcess(promise, wanted)
    start = 1.0
    # As if losses were normal: fewer factors are certified.
    with suppress(CertificationError):
        start = largest(
            lambda factor: excess.usual(scaled(factor)), start, max_factor, _START_WIDTH
        )
    factor = largest_for_all(
        excess,
        lambda factor: (scaled(factor), None),
        start,
        max_factor,
        search_width(promise, people.num_levels),
        rounded=round_down,
        with_estimates=promise.num_reports > 1,
    )
    return factor, promise.answer(scaled(factor), wanted)


@keeping_profiles()
def smallest_crowd(
    promise: Promise,
    people: Population,
    targets: Sequence[float],
    *,
    absent_share: float | Fraction = 0,
) -> Calibration:
    """Returns the smallest population with the same shares that keeps the targets.

    >>> import shuffledp as sdp
    >>> promise = sdp.Promise(sdp.Frequency(17), delta=1e-6)
    >>> people = sdp.Population.from_counts({1.0: 1, 2.0: 3})
    >>> sdp.smallest_crowd(promise, people, [0.05, 0.2]).people.num_users
    1779

    Args:
        promise: Protocol and delta.
        people: Its budgets, and the shares of people at each.
        targets: Central epsilon of each level, in their order.
        absent_share: Which share of the crowd may be absent or collude, in [0, 1), rounded
            up to people, beside the promise's own number.
    """
    expect_instance(promise, Promise)
    wanted = one_target_each(people, targets)
    shares = people.counts / people.num_users
    if not isinstance(absent_share, Fraction):
        absent_share = as_number(absent_share, "absent_share")
    if not 0 <= absent_share < 1:
        raise InvalidInputError(f"Expected 0 <= absent_share < 1, got {absent_share}.")

    def promise_to(crowd: Population) -> Promise:
        # One person at each level may be more people than were asked for.
        num_users = crowd.num_users
        absent = promise.absent + math.ceil(absent_share * num_users)
        return replace(promise, absent=min(absent, num_users - 1))

    def population(size: int) -> Population:
        # Whole people, at least one at each level, with the largest remainders rounded up.
        exact = shares * size
        counts = np.maximum(np.floor(exact), 1.0).astype(np.int64)
        order = np.argsort(-(exact - np.floor(exact)), kind="stable")
        missing = size - int(counts.sum())
        if missing > 0:
            counts[order[:missing]] += 1
        return Population(people.epsilons, counts)

    worst = LargestExcess(promise, wanted)

    def people_at(share: float) -> tuple[Population, int]:
        crowd = population(round(1.0 / share))
        return crowd, promise_to(crowd).absent

    fewest = max(people.num_levels, 2) + promise.absent
    ratio = max(
        spread / normal_spread(target, promise.delta)
        for spread, target in zip(
            promise.spreads_of(population(_MANY_USERS)), wanted, strict=True
        )
    )
    start = min(max(ratio**2 * _MANY_USERS, fewest), MAX_USERS)
    try:
        # The fewer people, the larger what one of them is of all.
        share = largest_for_all(
            worst,
            people_at,
            1.0 / start,
            1.0 / fewest,
            0.4 / MAX_USERS,
            rounded=lambda share: 1.0 / round(1.0 / share),
            with_estimates=promise.num_reports > 1,
        )
    except CertificationError as error:
        most, absent = people_at(1.0 / MAX_USERS)
        if worst.at(most, absent=absent) <= 0.0:
            raise
        few = f"Even {MAX_USERS:g} people do not keep these targets."
        raise CertificationError(few) from error
    smallest = population(round(1.0 / share))
    return promise_to(smallest).answer(smallest, wanted)


@keeping_profiles()
def most_rounds(
    promise: Promise, people: Population, targets: Sequence[float]
) -> tuple[int, Calibration]:
    """Returns how often these people can take part before a target is exceeded.

    >>> import shuffledp as sdp
    >>> promise = sdp.Promise(sdp.Frequency(17), delta=1e-6)
    >>> people = sdp.Population.from_counts({1.0: 5_000})
    >>> rounds, answer = sdp.most_rounds(promise, people, [0.03])
    >>> rounds
    1

    Args:
        promise: Protocol and delta; its `rounds` is ignored.
        people: The population.
        targets: Central epsilon of each of its levels, in their order.

    Returns:
        The largest number at which no target is exceeded, or `composable_rounds` where
        more rounds might keep the targets; and their certificate. Of a few people who send
        several bits, a few more may be certified: their bounds are searched for.

    Raises:
        CertificationError: If even one round exceeds a target.
    """
    expect_instance(promise, Promise)
    wanted = one_target_each(people, targets)
    if not replace(promise, rounds=1).kept(people, wanted):
        raise CertificationError("Even one round exceeds a target.")
    return most_kept_rounds(promise, people, wanted, composable_rounds(promise, people))
