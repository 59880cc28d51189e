"""Choice of the mechanism of a mean, and of its size."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.planning.candidate_ranking import people_estimate
from shuffledp.planning.wish import Wish, predictable
from shuffledp.population import Population
from shuffledp.randomizers.catalog import (
    CATALOG,
    NUMBER_MECHANISMS,
    number_randomizer,
)
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.randomizers.planned_numbers import PlannedNumbers
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.types import Mode

# Predicted standard error of a protocol; infinite where messages carry no information.
ErrorOf: TypeAlias = Callable[[Mean, Population], float]

COMPARED = tuple(name for name in NUMBER_MECHANISMS if not CATALOG[name].left_out)
# Sizes settle after one or two more steps.
_MOST_STEPS = 3
# At the same levels another mechanism may have a weaker guarantee than the usual one: it is
# chosen where its error is smaller than this part of the usual one's.
_MUCH_SMALLER = 0.75
# More levels than this do not change which mechanism is best.
_MOST_LEVELS = 50


def predicted_errors(mean: float | None, spread: float) -> ErrorOf:
    """Returns the predicted error of protocols for values of this mean and spread."""

    def error_of(protocol: Mean, people: Population) -> float:
        error = partial(protocol.predicted_error, mean=mean, spread=spread)
        return predictable(error, people)

    return error_of


def compared_protocols(low: float, high: float, mode: Mode) -> list[Mean]:
    """Returns a protocol with every mechanism that is compared, the usual one first."""
    return [
        Mean(low, high, mode, number_randomizer(name, low, high)) for name in COMPARED
    ]


def plan_name(protocol: Mean) -> str:
    """Returns the name of a protocol's mechanism in a plan, with its size."""
    randomizer = protocol.randomizer
    if isinstance(randomizer, PlannedNumbers):
        return randomizer.plan_name
    return randomizer.mechanism


def sized_at_levels(protocol: Mean, people: Population, error_of: ErrorOf) -> Mean:
    """Returns the protocol in the size of smallest error for people of these levels."""
    if not isinstance(protocol.randomizer, PlannedNumbers):
        return protocol
    sizes = [replace(protocol, randomizer=r) for r in protocol.randomizer.sizes()]
    return min(sizes, key=lambda sized: error_of(sized, people))


def fit_size(protocol: Mean, wish: Wish, error_of: ErrorOf) -> tuple[Mean, Calibration]:
    """Returns the protocol in its best size, with its levels.

    Args:
        protocol: In any size.
        wish: Levels or targets, people, delta.
        error_of: By which sizes are compared.

    Raises:
        CertificationError: If no levels meet the targets.
    """
    if wish.targets is None:
        people = Population.from_counts(dict(wish.asked))
        protocol = sized_at_levels(protocol, people, error_of)
        return protocol, wish.fit(protocol)
    fitted = wish.fit(protocol)
    fits = {protocol: fitted}

    def people_of(sized: Mean) -> Population:
        fits[sized] = wish.fit(sized)
        return fits[sized].people

    sized, _ = _best_size(protocol, fitted.people, people_of, error_of)
    return sized, fits[sized]


def estimated_size(
    protocol: Mean, wish: Wish, error_of: ErrorOf
) -> tuple[Mean, Population]:
    """Returns about the size and the people of `fit_size`; nothing is certified.

    Raises:
        CertificationError: If nothing is estimated.
    """
    people_of = partial(people_estimate, wish)
    return _best_size(protocol, people_of(protocol), people_of, error_of)


def _best_size(
    protocol: Mean,
    people: Population,
    people_of: Callable[[Mean], Population],
    error_of: ErrorOf,
) -> tuple[Mean, Population]:
    """Returns the size of smallest error at its own levels, and these.

    Args:
        protocol: In any size.
        people: Its levels.
        people_of: Returns the levels of another size.
        error_of: By which sizes are compared.
    """
    for _ in range(_MOST_STEPS):
        sized = _sized_alike(protocol, people, error_of)
        if sized == protocol:
            break
        # Predictions narrow sizes down; errors at their own levels decide.
        own_people = people_of(sized)
        if error_of(sized, own_people) >= error_of(protocol, people):
            break
        protocol, people = sized, own_people
    return protocol, people


def usual_at_levels(
    low: float, high: float, mode: Mode, people: Population, *, spread: float = 0.0
) -> NumberRandomizer:
    """Returns the mechanism for people of these levels if none is asked for.

    It is the usual one, unless the unbiased mechanism of smallest predicted error has a
    much smaller one.

    >>> small = Population.from_counts({1.0: 1_000})
    >>> usual_at_levels(0.0, 16.0, "agnostic", small)
    OneBit(low=0.0, high=16.0)
    >>> large = Population.from_counts({8.0: 1_000})
    >>> usual_at_levels(0.0, 16.0, "agnostic", large)
    GridResponse(low=0.0, high=16.0, num_values=26)

    Args:
        low: Smallest possible value.
        high: Largest possible value.
        mode: Of the collection.
        people: The population that will take part.
        spread: Standard deviation of the values; 0 if it is not known.
    """
    error_of, thinned = predicted_errors(None, spread), _thinned(people)
    protocols = [
        sized_at_levels(protocol, thinned, error_of)
        for protocol in compared_protocols(low, high, mode)
        if protocol.randomizer.unbiased
    ]
    usual, best_protocol = (
        protocols[0],
        min(protocols, key=lambda p: error_of(p, thinned)),
    )
    much = error_of(best_protocol, thinned) < _MUCH_SMALLER * error_of(usual, thinned)
    return (best_protocol if much else usual).randomizer


def _sized_alike(protocol: Mean, people: Population, error_of: ErrorOf) -> Mean:
    """Returns the size of smallest error at levels that are worth about the same.

    Args:
        protocol: A size whose levels were certified.
        people: These levels.
        error_of: By which sizes are compared.
    """
    certified = protocol.randomizer
    if not isinstance(certified, PlannedNumbers):
        return protocol

    def error(sized: PlannedNumbers) -> float:
        levels = sized.comparable_levels(people.epsilons, certified)
        # Levels of 0 are not levels of their own.
        if not np.all(np.diff(levels, prepend=0.0) > 0.0):
            return math.inf
        even_population = Population(levels, people.counts)
        return error_of(replace(protocol, randomizer=sized), even_population)

    return replace(protocol, randomizer=min(certified.sizes(), key=error))


def _thinned(people: Population) -> Population:
    """Returns a population of few levels, evenly spaced among the people."""
    if people.epsilons.size <= _MOST_LEVELS:
        return people
    ends = np.cumsum(people.counts)
    spaced_epsilons = (np.arange(_MOST_LEVELS) + 0.5) / _MOST_LEVELS * float(ends[-1])
    return Population.from_budgets(
        people.epsilons[np.searchsorted(ends, spaced_epsilons)]
    )
