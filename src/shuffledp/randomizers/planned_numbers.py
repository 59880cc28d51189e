"""The interface of a randomizer of numbers to a plan, which chooses its size."""

from typing import Protocol, Self, runtime_checkable

from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.types import Floats


@runtime_checkable
class PlannedNumbers(NumberRandomizer, Protocol):
    """A randomizer of numbers with a size that a plan chooses."""

    @property
    def plan_name(self) -> str:
        """Its name in a plan, with the size that was chosen."""

    def sizes(self) -> list[Self]:
        """Returns the same randomizer in all sizes that a plan compares."""

    def comparable_levels(self, epsilons: Floats, other: Self) -> Floats:
        """Returns levels at which this size is worth about as much as another at its own.

        A plan narrows the sizes down with it, and certifies its choice.

        Args:
            epsilons: Levels of the other size, shape (levels,).
            other: Of another size.

        Returns:
            Levels >= 0, shape (levels,); 0 where no level is comparable.
        """
