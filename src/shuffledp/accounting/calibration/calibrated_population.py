"""The answer of a calibration: a population, its targets and its certified guarantee."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.epsilon_solver import round_down
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.display_text import percent
from shuffledp.format_number import plain
from shuffledp.population import Population
from shuffledp.text_tables import as_html
from shuffledp.types import Floats, Ints

# A larger share of a target that is unused is stated, of budgets below those that leave
# hardly any noise.
_HARDLY, _NO_NOISE = 1e-3, 45.0


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """A calibrated population with its certified guarantee.

    >>> import shuffledp as sdp
    >>> promise = sdp.Promise(sdp.Frequency(17), delta=1e-6)
    >>> answer = sdp.largest_budgets(promise, {0.05: 5_000, 0.1: 5_000})
    >>> answer.people.epsilons.round(4).tolist()
    [1.6936, 2.4934]
    >>> [level.epsilon_central for level in answer.guarantee.levels]
    [0.0499997, 0.0999995]

    Attributes:
        people: The calibrated population.
        targets: Requested central epsilon of each of its levels, infinite for none.
        guarantee: Certified guarantee of the population.
        is_largest: Whether levels were raised as far as their targets allow, each.
    """

    people: Population
    targets: tuple[float, ...]
    guarantee: Guarantee
    is_largest: bool = False

    @property
    def unused_share(self) -> float:
        """Largest share of a target that is unused, by people with less than any budget.

        0 of levels that were not each raised as far as possible.
        """
        return max((share for share, _, _ in self._unused_targets()), default=0.0)

    @property
    def caution(self) -> str | None:
        """A sentence on targets that are left unused, None where hardly any is."""
        if self.unused_share <= _HARDLY:
            return None
        unused, level, target = max(self._unused_targets())
        return (
            f"Caution: at level {plain(level)} the target {plain(target)} is used up to "
            f"{percent(1.0 - unused, 1)}% only; a larger level may keep it, but none was "
            "found."
        )

    def _unused_targets(self) -> list[tuple[float, float, float]]:
        """Returns the unused share, the level and the target of levels with any noise."""
        if not self.is_largest:
            return []
        return [
            (
                1.0 - (level.epsilon_central or 0.0) / target,
                level.epsilon_local,
                target,
            )
            for level, target in zip(self.guarantee.levels, self.targets, strict=True)
            if level.epsilon_local and level.epsilon_local < _NO_NOISE
        ]

    def __str__(self) -> str:
        """Returns the population and its guarantee as text."""
        parts = [str(self.people), str(self.guarantee), self.caution]
        return "\n\n".join(part for part in parts if part)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(*self.guarantee.views())


def level_records(
    people: Population, targets: Sequence[float]
) -> list[dict[str, float]]:
    """Returns levels with their targets as plain values, for JSON.

    >>> level_records(Population.from_counts({0.5: 3, 2.0: 1}), [math.inf, 0.1])
    [{'epsilon_local': 0.5, 'count': 3}, {'epsilon_local': 2.0, 'count': 1, 'target': 0.1}]

    Args:
        people: Levels, and people at each.
        targets: Requested central epsilon of each level, infinite for none: their order may
            be another one.
    """
    levels = zip(people.epsilons.tolist(), people.counts.tolist(), targets, strict=True)
    return [
        {"epsilon_local": level, "count": count}
        | ({"target": target} if math.isfinite(target) else {})
        for level, count, target in levels
    ]


def rounded_population(budgets: Floats, counts: Ints) -> Population:
    """Returns people with these budgets, rounded down, shapes (levels,)."""
    rounded = np.array([round_down(float(budget)) for budget in budgets])
    return Population(rounded, counts.astype(np.int64))
