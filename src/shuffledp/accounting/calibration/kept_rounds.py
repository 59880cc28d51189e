"""The most rounds that keep the targets of all levels.

They are counted by one loss distribution of each level, and, of reports that are shuffled
in parts, from there on by certificates, which may compose two directions apart.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from shuffledp.accounting.accounting_query import MAX_TIMES
from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.accounting.calibration.calibration_search import normal_spread
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.rounds.composed_profile import after_times
from shuffledp.accounting.rounds.node_choice import EVALUATIONS
from shuffledp.accounting.rounds.total_budget import total_budget
from shuffledp.errors import CertificationError
from shuffledp.population import Population
from shuffledp.types import Floats, Ints

# Of a loss that hardly shows.
_LEAST_SPREAD, _MOST_ROUNDS = 1e-150, 1e18
# Levels that keep their targets for so many times as many rounds do not decide.
_NEAR = 2.0
# Most targets are kept by far, as rougher losses show.
_EVALUATIONS = (60, EVALUATIONS)


def most_kept_rounds(
    promise: Promise, people: Population, targets: Sequence[float], most: int
) -> tuple[int, Calibration]:
    """Returns the largest number of rounds that keeps all targets, certified.

    Bounds that are searched for may prove a few more rounds, or fewer, with each search.

    Args:
        promise: Protocol and delta; one of its rounds keeps the targets.
        people: The population.
        targets: Central epsilon of each of its levels, in their order.
        most: The largest number that can be certified.
    """
    usual_rounds = _usual_rounds(promise, people, targets)
    # What all keep is decided by few levels; the certificate is that of all.
    first_levels = np.flatnonzero(usual_rounds <= _NEAR * usual_rounds.min())
    low, reach = 1, min(max(2 * int(usual_rounds.min()), 2), most)
    while True:
        found = _KeptRounds(promise, people, targets, reach, first_levels).largest(low)
        if found == reach < most:
            low, reach = found, min(4 * reach, most)
        elif reach > 4 * found:
            # Bounds that were made for far more rounds are weaker.
            low, reach = found, 2 * found
        else:
            break
    # And those that were made for slightly more prove a little more, or less.
    rounds = _KeptRounds(promise, people, targets, found, first_levels).largest(1)
    rounds, calibration = _certified(promise, people, targets, rounds)
    if promise.exposure(people).randomizer.changes > 1:
        more = _raised(promise, people, targets, rounds, most)
        with suppress(CertificationError):
            if more > rounds:
                return more, replace(promise, rounds=more).answer(people, targets)
    return rounds, calibration


def composable_rounds(promise: Promise, people: Population) -> int:
    """Returns the most rounds of these people that one certificate can state.

    Args:
        promise: Protocol; its `rounds` is ignored.
        people: The population.
    """
    exposure = promise.exposure(people)
    return MAX_TIMES // (
        promise.coordinates * exposure.coordinates * exposure.randomizer.changes
    )


def _raised(
    promise: Promise,
    people: Population,
    targets: Sequence[float],
    low: int,
    most: int,
) -> int:
    """Returns the largest number of rounds that is certified, from one that is."""

    def is_kept(rounds: int) -> bool:
        return replace(promise, rounds=rounds).kept(people, targets)

    stride = 1
    while low + stride <= most and is_kept(low + stride):
        low, stride = low + stride, 2 * stride
    high = min(low + stride, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_kept(middle) else (low, middle)
    return low


def _certified(
    promise: Promise, people: Population, targets: Sequence[float], rounds: int
) -> tuple[int, Calibration]:
    """Returns this number of rounds, or slightly fewer, with their certificate."""
    fewer, levels = 1, np.arange(people.num_levels)
    while True:
        with suppress(CertificationError):
            return rounds, replace(promise, rounds=rounds).answer(people, targets)
        if rounds == 1:
            raise CertificationError("Even one round exceeds a target.")
        proven = _KeptRounds(promise, people, targets, rounds, levels).largest(1)
        rounds, fewer = max(min(proven, rounds - fewer), 1), 2 * fewer


class _KeptRounds:
    """Numbers of rounds up to one for which losses are prepared.

    Args:
        promise: Protocol and delta; its `rounds` is ignored.
        people: The population.
        targets: Central epsilon of each of its levels, in their order.
        reach: The largest number of rounds; far more than are kept make bounds weaker.
        levels: Positions of the levels that are looked at, shape (some,).
    """

    def __init__(
        self,
        promise: Promise,
        people: Population,
        targets: Sequence[float],
        reach: int,
        levels: Ints,
    ) -> None:
        exposure = promise.exposure(people)
        self._randomizer, self._delta = exposure.randomizer, promise.delta
        self._coordinates = promise.coordinates * exposure.coordinates
        self._reach = reach
        shuffles = reach * self._coordinates * exposure.randomizer.changes
        self._levels = [
            (
                float(people.epsilons[index]),
                promise.losses(people, index, shuffles),
                targets[index],
            )
            for index in levels.tolist()
        ]

    def largest(self, low: int) -> int:
        """Returns the largest number that keeps all targets, from one that does."""
        high = self._reach + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._are_kept(middle) else (low, middle)
        return low

    def _are_kept(self, rounds: int) -> bool:
        times = rounds * self._coordinates
        is_pure = self._randomizer.delta_local == 0.0
        return all(
            # The sum of all reports' budgets is no loss that could be rounded upward.
            (is_pure and total_budget(times, level) <= target)
            or any(
                after_times(self._randomizer, level, losses(evaluations), times)(target)
                <= self._delta
                for evaluations in _EVALUATIONS
            )
            for level, losses, target in self._levels
        )


def _usual_rounds(
    promise: Promise, people: Population, targets: Sequence[float]
) -> Floats:
    """Returns about the most rounds, at least 1, that keep each target of normal losses."""
    spreads = replace(promise, rounds=1).spreads_of(people)
    ratios = [
        normal_spread(target, promise.delta) / max(spread, _LEAST_SPREAD)
        for target, spread in zip(targets, spreads, strict=True)
    ]
    rounds: Floats = np.floor(np.clip(np.square(ratios), 1.0, _MOST_ROUNDS))
    return rounds
