"""The excess of the level that misses its target most, where one number decides for all.

Where that level just keeps its target, most others keep theirs by far: they are looked at
once, at the answer.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from shuffledp.accounting.calibration.calibration_search import (
    WIDTH,
    excess_of,
    largest,
    normal_spread,
)
from shuffledp.accounting.calibration.near_search import nearly_largest
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.errors import CertificationError, PopulationError
from shuffledp.population import Population

# Where the largest excess is below 0, it rises to 0, and those of other levels by hardly so
# many times as much: levels that are farther below 0, and a little, do not decide.
_TIMES, _LITTLE = 3.0, 1e-4
# Nor, of normal losses, those whose deviation is so much less, as a logarithm.
_FAR_IF_NORMAL = 0.1
_LEAST_SPREAD = 1e-12
# Relative width at which a search by estimates ends, and by how much a number is changed to
# see the slope there.
_ESTIMATE_WIDTH, _SLOPE_STEP = 1e-3, 3e-3


# Budgets and counts of people, and how many of them may be absent.
_Asked = tuple[bytes, bytes, int | None]


class LargestExcess:
    """The excess of the level that misses its target most, or of one that misses it.

    Whether all levels keep their targets is what searches rest on. Those that were nearest
    to missing theirs are asked first, as one that does tells enough; those that are far
    from it are left out until `others_miss` looks at them.

    Args:
        promise: Protocol and delta.
        targets: Central epsilon of each level.
    """

    def __init__(self, promise: Promise, targets: Sequence[float]) -> None:
        self._promise, self._targets = promise, targets
        self._order = list(range(len(targets)))
        self._left_out: list[int] = []
        # Levels that missed their targets after they were left out, which never are again:
        # farther on their excess rises fast.
        self._missed: set[int] = set()
        # Levels that keep their targets among the people who were last asked about.
        self._asked: _Asked | None = None
        self._keep: set[int] = set()
        self._normal_spreads: list[float] | None = None

    def usual(self, people: Population) -> float:
        """Returns what the largest excess would be of normal losses.

        It is a logarithm of deviations, and so about the excess, and tells which levels
        are asked first.

        Args:
            people: The population.
        """
        if self._normal_spreads is None:
            self._normal_spreads = [
                normal_spread(target, self._promise.delta) for target in self._targets
            ]
        pairs = zip(self._promise.spreads_of(people), self._normal_spreads, strict=True)
        sizes = [math.log(max(part / whole, _LEAST_SPREAD)) for part, whole in pairs]
        order = sorted(range(len(sizes)), key=lambda index: -sizes[index])
        least = sizes[order[0]] - _FAR_IF_NORMAL
        self._order = [index for index in order if sizes[index] >= least]
        self._left_out = order[len(self._order) :]
        return sizes[order[0]]

    def estimated(self, people: Population, absent: int | None = None) -> float:
        """Returns about the largest excess, quickly, of the levels that are asked first.

        Args:
            people: The population.
            absent: See `at`.

        Raises:
            CertificationError: If nothing is estimated.
        """
        goals = [self._targets[index] for index in self._order]
        deltas = self._promise_to(absent).estimates_of(
            people, goals, self._order, in_steps=True
        )
        return max(excess_of(delta, self._promise.delta) for delta in deltas)

    def at(self, people: Population, *, absent: int | None = None) -> float:
        """Returns the excess among these people, above 0 if a level misses its target.

        Args:
            people: The population.
            absent: How many of the others may be absent; the promise's number by default.
        """
        sizes = self._excesses(people, self._order, absent)
        first = max(sizes, key=lambda index: sizes[index])
        others = [index for index in self._order if index != first]
        if sizes[first] <= 0.0:
            least = _TIMES * sizes[first] - _LITTLE
            leave = {
                index
                for index in others
                if sizes[index] < least and index not in self._missed
            }
            self._left_out += [index for index in others if index in leave]
            others = [index for index in others if index not in leave]
        self._order = [first, *others]
        return sizes[first]

    def others_miss(self, people: Population, *, absent: int | None = None) -> bool:
        """Returns whether a level that was left out misses its target; it no longer is.

        Args:
            people: The population.
            absent: See `at`.
        """
        order = self._left_out
        if self._asked == _asked(people, absent):
            order = [index for index in order if index not in self._keep]
        if not order:
            return False
        sizes = self._excesses(people, order, absent)
        missed = [index for index, size in sizes.items() if size > 0.0]
        self._missed.update(missed)
        self._order = [*missed, *self._order]
        self._left_out = [index for index in self._left_out if index not in missed]
        return bool(missed)

    def _excesses(
        self, people: Population, order: Sequence[int], absent: int | None
    ) -> dict[int, float]:
        """Returns the excess of each of these levels, up to one that misses its target."""
        asked = _asked(people, absent)
        if self._asked != asked:
            self._asked, self._keep = asked, set()
        promise = self._promise_to(absent)
        if promise.is_kept_locally(people, self._targets):
            return dict.fromkeys(order, excess_of(0.0, promise.delta))
        sizes: dict[int, float] = {}
        deltas = promise.one_by_one(people, self._targets, order)
        for index, delta in zip(order, deltas, strict=False):
            sizes[index] = excess_of(delta, promise.delta)
            if sizes[index] > 0.0:
                break
            self._keep.add(index)
        return sizes

    def _promise_to(self, absent: int | None) -> Promise:
        """Returns the promise with this number of absent people."""
        if absent is None:
            return self._promise
        return replace(self._promise, absent=absent)


def _asked(people: Population, absent: int | None) -> _Asked:
    return people.epsilons.tobytes(), people.counts.tobytes(), absent


def largest_for_all(
    excess: LargestExcess,
    people_at: Callable[[float], tuple[Population, int | None]],
    start: float,
    most: float,
    width: float = WIDTH,
    *,
    rounded: Callable[[float], float] = float,
    with_estimates: bool = False,
) -> float:
    """Returns the largest number at which all levels keep their targets.

    Args:
        excess: Of the level that decides.
        people_at: Returns the people at a number, and how many of them may be absent, if
            not the promise's number; it may raise PopulationError where the number is too
            large.
        start: Where to begin.
        most: The largest number that is of use.
        width: See `largest`.
        rounded: Likewise.
        with_estimates: Whether estimates lead to where it begins, as bounds are slow.

    Raises:
        CertificationError: If nothing down to 1e-12 fits.
    """
    slope = math.nan
    if with_estimates:
        with suppress(CertificationError, PopulationError):
            start, slope = _estimated_largest(excess, people_at, start, most)

    def size(number: float) -> float:
        try:
            people, absent = people_at(number)
            return excess.at(people, absent=absent)
        except PopulationError:  # Fewer people than the protocol can do with.
            return 1.0

    while True:
        number = (
            nearly_largest(size, start, slope, most, width, rounded=rounded)
            if slope > 0.0
            else largest(size, start, most, width, rounded=rounded)
        )
        people, absent = people_at(number)
        if not excess.others_miss(people, absent=absent):
            return number
        start = number


def _estimated_largest(
    excess: LargestExcess,
    people_at: Callable[[float], tuple[Population, int | None]],
    start: float,
    most: float,
) -> tuple[float, float]:
    """Returns about the largest number, and the slope of the excess in its logarithm.

    Raises:
        CertificationError: If nothing is estimated.
        PopulationError: If there is no number with enough people.
    """

    def estimated(number: float) -> float:
        return excess.estimated(*people_at(number))

    number = largest(estimated, start, most, _ESTIMATE_WIDTH)
    less = estimated(number * math.exp(-_SLOPE_STEP))
    return number, (estimated(number) - less) / _SLOPE_STEP
