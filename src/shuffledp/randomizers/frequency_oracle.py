"""What a randomizer of categories must offer, so that frequencies can be estimated."""

from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from shuffledp.cover import LocalRandomizer
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


@runtime_checkable
class FrequencyOracle(LocalRandomizer, Protocol):
    """A randomizer of values in [0, k): each message supports some of the categories."""

    @property
    def num_categories(self) -> int:
        """How many values there are, k."""

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> NDArray[Any]:
        """Draws one message per person, shape (n,) or (n, width)."""

    def check_messages(self, messages: NDArray[Any]) -> object:
        """Raises InvalidInputError unless these are messages of `randomize`."""

    def support_counts(
        self, messages: NDArray[Any], groups: Ints | None, num_groups: int
    ) -> Ints:
        """Counts the messages of each group that support each category.

        Args:
            messages: From `randomize`, in any order.
            groups: Each message's group, in [0, num_groups), shape (n,); None if there
                is one group only.
            num_groups: How many groups there are.

        Returns:
            Shape (num_groups, k).
        """

    def densities(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns the exact chances that a message supports a category.

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).

        Returns:
            The chance that it supports the value held, and that it supports one given
            other value, both of shape (levels,).
        """

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary logarithm of the number of messages."""
