"""The certified upper bound: the privacy blanket of users with individual levels.

Heterogeneous privacy blanket. If every other user i sends, with probability gamma_i and
independent of their value, a message from one common distribution omega, then the
divergence of the shuffled messages under a target user's two values is at most

    sum_m P(M = m) / (m + 1) E[(L(Y_1) + ... + L(Y_{m+1}))_+],

with Y_j ~ omega independent, L the target user's loss against omega, and M the number
of others who send a blanket message: a sum of Bernoulli(gamma_i) variables. For equal
randomizers this is Balle, Bell, Gascon, Nissim (2019), arXiv:1903.02837, Lemma 5.3; the
proof (reveal all messages outside of the blanket) never needs them to be equal.

Four evaluators: `counting` adds up the sum, exactly, where it has few terms, and
`enumerated` where few messages are of few kinds; `contour` integrates, at a cost that does
not depend on how many there would be; and for a handful of blanket messages of many kinds
`few_messages` adds up the first summands.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shuffledp.accounting.upper.blanket_population import (
    FEW_MESSAGES,
    BlanketPopulation,
)
from shuffledp.accounting.upper.contour import ContourBound
from shuffledp.accounting.upper.counting import counting_bound
from shuffledp.accounting.upper.enumerated import can_enumerate, enumerated_bound
from shuffledp.accounting.upper.few_messages import FewMessagesBound
from shuffledp.cover import Cover, MirroredCover, mirrored
from shuffledp.errors import CertificationError
from shuffledp.types import Floats, Ints

# For so few expected messages, summands do better than an integral.
VERY_FEW_MESSAGES = 10.0
# The sum's terms have no room for a tail below this.
SMALLEST_TAIL = 1e-290


class Evaluator(Protocol):
    """The blanket bound for one target user, ready to be evaluated at any epsilon."""

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""

    def slack(self, epsilon: float) -> float:
        """Returns the share of the bound at `epsilon` that is numerical margin."""


class UpperBound(Evaluator, Protocol):
    """A bound that is estimated, too."""

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound, quickly; no bound, and NaN if nothing is known."""


def blanket_bounds(
    covers: Sequence[tuple[Cover, ...]],
    counts: Ints,
    target_users: Sequence[int],
    *,
    absent: int = 0,
    tail: float,
    is_composed: bool = False,
) -> list[UpperBound]:
    """Prepares the bound for target users of several levels of one population.

    Args:
        covers: Covers of each target user, one for each pair of values that may be worst.
        counts: People at each level of the population, target users included, shape
            (levels,).
        target_users: Positions of the target users' levels, distinct.
        absent: How many of the others may be absent or collude: those who give most.
        tail: Probability that may be dropped.
        is_composed: Whether the bounds are composed with others.
    """
    return bounds_of_populations(
        covers,
        target_users,
        population=lambda gammas: BlanketPopulation(
            gammas, counts, target_users, absent=absent, tail=tail
        ),
        bound=lambda cover, population, target_user: _bound(
            cover, population, target_user, tail, is_composed=is_composed
        ),
    )


def bounds_of_populations(
    covers: Sequence[tuple[Cover, ...]],
    target_users: Sequence[int],
    *,
    population: Callable[[Floats], BlanketPopulation],
    bound: Callable[[Cover, BlanketPopulation, int], UpperBound],
) -> list[UpperBound]:
    """Returns a bound of one kind for every target user, the worst of all pairs of values.

    Args:
        covers: Covers of each target user, one for each pair of values that may be worst.
        target_users: Positions of the target users' levels, distinct.
        population: Makes the others of how much cover people of each level give; called
            once for each such array.
        bound: Makes the bound for a target user with a cover in a population.
    """
    populations: dict[int, BlanketPopulation] = {}
    bounds: list[UpperBound] = []
    for target_user, pairs in zip(target_users, covers, strict=True):
        candidates = []
        for cover in pairs:
            gammas = cover.blanket_probabilities
            # Grouping a population takes long: target users with the same array share
            # one.
            if id(gammas) not in populations:
                populations[id(gammas)] = population(gammas)
            candidates.append(bound(cover, populations[id(gammas)], target_user))
        bounds.append(
            candidates[0] if len(candidates) == 1 else WorstBound(tuple(candidates))
        )
    return bounds


def _bound(
    cover: Cover,
    population: BlanketPopulation,
    target_user: int,
    tail: float,
    *,
    is_composed: bool,
) -> UpperBound:
    summable: MirroredCover | None = mirrored(cover) if tail > SMALLEST_TAIL else None
    probabilities, people = population.groups(target_user)
    contour = ContourBound(cover, probabilities, people.astype(np.float64), is_composed)
    if summable is not None and population.is_small(summable.telling):
        return _Prepared(
            lambda: counting_bound(
                summable, population.distribution(target_user), tail=tail
            ),
            contour,
        )
    expected = float(probabilities @ people)
    if can_enumerate(cover, probabilities, people, tail):

        def enumerated() -> UpperBound:
            return enumerated_bound(cover, population.distribution(target_user))

        if expected <= VERY_FEW_MESSAGES:
            return enumerated()
        return _Prepared(enumerated, contour)
    if mirrored(cover) is not None or expected > FEW_MESSAGES:
        return contour

    # Where the integral is refused, or would be slow, the first summands do.
    def few_messages() -> UpperBound:
        return FewMessagesBound(cover, population.distribution(target_user))

    if expected <= VERY_FEW_MESSAGES:
        return few_messages()
    return _First(contour, few_messages)


class _Prepared:
    """A bound that takes long to prepare, when it is evaluated.

    Args:
        make: Makes the bound.
        integral: The same as an integral, which estimates it.
    """

    def __init__(self, make: Callable[[], Evaluator], integral: ContourBound) -> None:
        # Starts of searches do not evaluate bounds.
        self._bound, self._integral = functools.cache(make), integral

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        return self._bound().delta(epsilon)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound, as an integral; NaN if nothing is known."""
        return self._integral.estimate(epsilon)

    def slack(self, epsilon: float) -> float:
        """Returns the share of the bound at `epsilon` that is numerical margin."""
        return self._bound().slack(epsilon)


class _First:
    """A bound, and another one for where the first is refused.

    Args:
        usual: The first bound.
        make_other: Makes the other one; called when it is asked for, as that takes long.
    """

    def __init__(self, usual: UpperBound, make_other: Callable[[], UpperBound]) -> None:
        self._usual, self._other = usual, functools.cache(make_other)

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        try:
            return self._usual.delta(epsilon)
        except CertificationError:
            return self._other().delta(epsilon)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound, or NaN."""
        return self._usual.estimate(epsilon)

    def slack(self, epsilon: float) -> float:
        """Returns the share of the bound at `epsilon` that is numerical margin."""
        try:
            return self._usual.slack(epsilon)
        except CertificationError:
            return self._other().slack(epsilon)


@dataclass(frozen=True, eq=False)
class WorstBound:
    """The largest of the bounds for several pairs of values.

    Attributes:
        bounds: One for each pair, in the order of the covers.
    """

    bounds: tuple[UpperBound, ...]

    def delta(self, epsilon: float) -> float:
        """Returns a proven upper bound of the divergence at `epsilon` >= 0."""
        return max(bound.delta(epsilon) for bound in self.bounds)

    def estimate(self, epsilon: float) -> float:
        """Returns about the bound, or NaN."""
        # Unlike `max`, which would lose some of them, NumPy's keeps NaN.
        return float(np.max([bound.estimate(epsilon) for bound in self.bounds]))

    def slack(self, epsilon: float) -> float:
        """Returns the share of the bound at `epsilon` that is numerical margin."""
        largest = max(self.bounds, key=lambda bound: bound.delta(epsilon))
        return largest.slack(epsilon)
