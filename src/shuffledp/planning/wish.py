"""Query of a planner: requirements of a collection."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shuffledp.accounting.account import account
from shuffledp.accounting.accounting_query import check_delta, check_whole
from shuffledp.accounting.calibration.calibrated_population import Calibration
from shuffledp.accounting.calibration.calibration import largest_budgets
from shuffledp.accounting.calibration.checked_targets import positive_targets
from shuffledp.accounting.calibration.promise import Promise
from shuffledp.errors import InvalidInputError
from shuffledp.population import Population

NO_INFORMATION = "messages of people at level 0 carry no information."


@dataclass(frozen=True)
class Wish:
    """Requirements of a collection: levels on devices, or targets after the shuffle.

    >>> wish = Wish(targets={0.05: 3_000, 0.1: 1_000}, delta=1e-6)
    >>> wish.num_users
    4000

    Attributes:
        levels: {privacy level: people}, or None.
        targets: {central epsilon: people}, or None; each protocol then gets the largest
            levels that keep them.
        delta: Of central guarantees, in (0, 1).
        absent: Number of other people who may be absent or collude.
    """

    levels: Mapping[float, int] | None = None
    targets: Mapping[float, int] | None = None
    delta: float = 1e-6
    absent: int = 0

    def __post_init__(self) -> None:
        for asked_counts in (self.levels, self.targets):
            if asked_counts is not None and not isinstance(asked_counts, Mapping):
                raise InvalidInputError(
                    f"Expected {{epsilon: people}}, got {type(asked_counts).__name__}."
                )
        if (self.levels is None) == (self.targets is None):
            raise InvalidInputError(
                "Expected either privacy levels or central targets, one of the two."
            )
        # Raises unless epsilons are valid and there is at least one person at each.
        Population.from_counts(dict(self.asked))
        if self.targets is not None:
            positive_targets(list(self.targets))
        check_delta(self.delta)
        check_whole(self.absent, "absent people", least=0)

    @property
    def asked(self) -> Mapping[float, int]:
        """People at each level or, if targets were given, at each target."""
        asked_counts = self.targets if self.levels is None else self.levels
        return asked_counts or {}

    @property
    def num_users(self) -> int:
        """The number of people."""
        return sum(self.asked.values())

    @property
    def strictest(self) -> "Wish":
        """The same wish with the smallest level or target for all people."""
        return self._for_all(min(self.asked))

    @property
    def loosest(self) -> "Wish":
        """The same wish with the largest level or target for all people."""
        return self._for_all(max(self.asked))

    @property
    def as_levels(self) -> "Wish":
        """The same people at levels that are their targets, which these keep."""
        return replace(self, levels=self.asked, targets=None)

    def _for_all(self, epsilon: float) -> "Wish":
        uniform = {epsilon: self.num_users}
        if self.levels is None:
            return replace(self, targets=uniform)
        return replace(self, levels=uniform)

    def fit(self, protocol: Any) -> Calibration:
        """Returns the levels for a protocol with their targets and their guarantee.

        Raises:
            CertificationError: If no levels meet the targets.
        """
        if self.targets is not None:
            promise = Promise(protocol, self.delta, self.absent)
            # Each protocol gets its own levels: the largest that meet the targets.
            return largest_budgets(promise, self.targets)
        people = Population.from_counts(dict(self.asked))
        # No quantiles: yardsticks need the central epsilon of every level.
        guarantee = account(
            protocol, people, delta=self.delta, absent=self.absent, quantiles=False
        )
        return Calibration(people, (math.inf,) * people.epsilons.size, guarantee)


def predictable(error_of: Callable[[Population], float], people: Population) -> float:
    """Returns a predicted error, infinite where messages carry no information."""
    # At level 0, analyzers raise InvalidInputError: "nothing but noise".
    try:
        return error_of(people)
    except InvalidInputError:
        return math.inf
