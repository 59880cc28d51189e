"""Published bounds as accountants, for `shuffledp audit accountant`."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from shuffledp.population import Population
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.published_bounds import published_bound


def bound_accountant(name: str) -> "BoundAccountant":
    """Returns the accountant that states a published bound.

    Raises:
        InvalidInputError: If there is no bound of this name.
    """
    return BoundAccountant(published_bound(name))


@dataclass(frozen=True)
class BoundAccountant:
    """A published bound with the interface of an accountant."""

    bound: PublishedBound

    def __call__(self, device: Any, people: Population, *, epsilon: float) -> Any:
        """Returns the delta that the bound states at each level."""
        levels = [
            SimpleNamespace(
                epsilon_local=level,
                # The bound knows one target at a time: here one of this level.
                delta_central=self.bound.delta(Setting(people, device, level), epsilon),
            )
            for level in people.epsilons.tolist()
        ]
        # What is compared of our own answer: levels with these two numbers.
        return SimpleNamespace(levels=levels)
