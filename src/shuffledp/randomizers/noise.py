"""What randomizers that add noise to a number share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from shuffledp.cover import Attack, Cover
from shuffledp.population import Population
from shuffledp.randomizers.noise_attack import noise_attacks
from shuffledp.types import Floats

_SMALLEST = 1e-306


class AddedNoise(ABC):
    """Noise around a number, which is scaled to [-1, 1] for the accountant."""

    @abstractmethod
    def bins(self, epsilons: Floats, value: float) -> Floats:
        """Chances that the message falls into each bin, shape (levels, bins).

        Args:
            epsilons: Local budgets, shape (levels,).
            value: What all these people hold, in [-1, 1].
        """

    @abstractmethod
    def cover_of(self, victim: float, crowd: Population, *, delta: float) -> Cover:
        """The cover of one victim, whose worst pair of values is -1 and 1."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the densities assume."""
        return (
            "Messages are real numbers with the stated density: noise drawn in floating "
            "point has gaps that tell more.",
        )

    def covers(
        self, victims: Sequence[float], crowd: Population, *, delta: float
    ) -> list[tuple[Cover, ...]]:
        """Returns one cover per victim."""
        return [(self.cover_of(victim, crowd, delta=delta),) for victim in victims]

    def attacks(
        self, victims: Sequence[float], crowd: Population
    ) -> list[tuple[Attack, ...]]:
        """Returns one attack per victim: an additive score of all messages."""
        return noise_attacks(self.bins, victims, crowd)


def pure_local_delta(measured: float, epsilon: float, divergence: float) -> float:
    """Returns the divergence of a pure mechanism, 0 from its measured budget on.

    Args:
        measured: The largest logarithm of a ratio of densities.
        epsilon: Where the divergence is asked for.
        divergence: The formula there, whatever it is beyond the budget.
    """
    if epsilon >= measured:
        return 0.0
    if math.isnan(divergence):
        return 1.0
    return max(divergence * (1.0 + 1e-12), _SMALLEST)
