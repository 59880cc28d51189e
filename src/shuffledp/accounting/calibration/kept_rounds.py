"""The most rounds that keep the targets of all levels, by one loss distribution of each."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.accounting.calibration.calibration_search import normal_spread
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.accounting.rounds.composed_profile import after_times
from shuffledp.accounting.rounds.loss_distribution import EVALUATIONS
from shuffledp.errors import CertificationError
from shuffledp.population import Population

# Of a loss that hardly shows.
_LEAST_SPREAD, _MOST_ROUNDS = 1e-150, 1e18
# Most targets are kept by far, as rougher losses show.
_EVALUATIONS = (60, EVALUATIONS)


def most_kept_rounds(
    promise: Promise, people: Population, targets: Sequence[float], most: int
) -> tuple[int, Calibration]:
    """Returns about the largest number of rounds that keeps all targets, certified.

    Args:
        promise: Protocol and delta, one round of which keeps the targets.
        people: The population.
        targets: Central epsilon of each of its levels, in their order.
        most: The largest number that can be certified.
    """
    low, reach = 1, min(max(2 * _usual_rounds(promise, people, targets), 2), most)
    while True:
        found = _KeptRounds(promise, people, targets, reach).largest(low)
        if found == reach < most:
            low, reach = found, min(4 * reach, most)
        elif reach > 4 * found:
            # Bounds that were made for far more rounds are weaker.
            low, reach = found, 2 * found
        else:
            return _certified(promise, people, targets, found)


def _certified(
    promise: Promise, people: Population, targets: Sequence[float], rounds: int
) -> tuple[int, Calibration]:
    """Returns this number of rounds, or slightly fewer, with their certificate."""
    fewer = 1
    while True:
        with suppress(CertificationError):
            return rounds, replace(promise, rounds=rounds).answer(people, targets)
        if rounds == 1:
            raise CertificationError("Even one round exceeds a target.")
        # Losses that were made for another number of rounds proved a little more.
        proven = _KeptRounds(promise, people, targets, rounds).largest(1)
        rounds, fewer = max(min(proven, rounds - fewer), 1), 2 * fewer


class _KeptRounds:
    """Numbers of rounds up to one for which losses are prepared.

    Args:
        promise: Protocol and delta; its `rounds` is ignored.
        people: The population.
        targets: Central epsilon of each of its levels, in their order.
        reach: The largest number of rounds; far more than are kept make bounds weaker.
    """

    def __init__(
        self,
        promise: Promise,
        people: Population,
        targets: Sequence[float],
        reach: int,
    ) -> None:
        exposure = promise.exposure(people)
        self._randomizer, self._delta = exposure.randomizer, promise.delta
        self._coordinates = promise.coordinates * exposure.coordinates
        self._reach = reach
        shuffles = reach * self._coordinates * exposure.randomizer.changes
        self._levels = [
            (level, promise.losses(people, index, shuffles), target)
            for index, (level, target) in enumerate(
                zip(people.epsilons.tolist(), targets, strict=True)
            )
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
        return all(
            any(
                after_times(self._randomizer, level, losses(evaluations), times)(target)
                <= self._delta
                for evaluations in _EVALUATIONS
            )
            for level, losses, target in self._levels
        )


def _usual_rounds(
    promise: Promise, people: Population, targets: Sequence[float]
) -> int:
    """Returns about the most rounds, at least 1, that keep all targets of normal losses."""
    spreads = replace(promise, rounds=1).spreads_of(people)
    ratio = min(
        normal_spread(target, promise.delta) / max(spread, _LEAST_SPREAD)
        for target, spread in zip(targets, spreads, strict=True)
    )
    return max(math.floor(min(ratio**2, _MOST_ROUNDS)), 1)
