"""Targets of few people that enlarge the errors of a plan for all."""

from dataclasses import dataclass, replace
from typing import Any

from shuffledp.format_number import plain
from shuffledp.planning.wish import Wish

# Smaller targets of a larger share of people are no exception.
_LARGEST_SHARE = 0.05
# Smaller gains are not worth a sentence.
_LEAST_FACTOR = 1.5


@dataclass(frozen=True)
class StrictTargets:
    """The smallest targets, of few people, and their cost.

    Attributes:
        few: People with targets below `larger`.
        num_users: All people.
        larger: The smallest target that is not one of few people.
        factor: By how much predicted errors fall at least if the few take `larger`.
    """

    few: int
    num_users: int
    larger: float
    factor: float

    @property
    def meaning(self) -> str:
        """The cost, in a sentence."""
        larger = plain(self.larger)
        asks = "asks" if self.few == 1 else "ask"
        return (
            f"{self.few:,} of {self.num_users:,} people {asks} for a target below "
            f"{larger}, which makes predicted errors about {self.factor:.3g} times as "
            f"large as if they asked for {larger}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the cost as plain values, for JSON."""
        return {
            "people": self.few,
            "larger_target": self.larger,
            "factor": self.factor,
            "meaning": self.meaning,
        }


def without_strict_targets(wish: Wish) -> Wish | None:
    """Returns the wish with the next target for few people of the smallest ones.

    >>> without_strict_targets(Wish(targets={0.3: 1, 1.0: 2_000, 2.0: 999})).targets
    {1.0: 2001, 2.0: 999}

    Args:
        wish: Targets, people, delta.

    Returns:
        None if the smallest target is not one of few people.
    """
    targets, num_stricter = dict(sorted((wish.targets or {}).items())), 0
    for target, count in list(targets.items()):
        if num_stricter + count >= _LARGEST_SHARE * wish.num_users:
            # This one is kept; those before it are left out.
            targets[target] += num_stricter
            break
        num_stricter += targets.pop(target)
    return replace(wish, targets=targets) if num_stricter else None


def strict_targets(wish: Wish, eased: Wish, factor: float) -> StrictTargets | None:
    """Returns the cost of the smallest targets; None if it is little.

    Args:
        wish: Of the plan.
        eased: From `without_strict_targets`.
        factor: Predicted errors of the plan, divided by those of a plan for `eased`.
    """
    if not factor > _LEAST_FACTOR:
        return None
    larger = min(eased.asked)
    num_stricter = sum(count for target, count in wish.asked.items() if target < larger)
    return StrictTargets(num_stricter, wish.num_users, larger, factor)
