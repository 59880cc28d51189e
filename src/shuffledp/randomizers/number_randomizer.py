"""What a randomizer of numbers must offer, so that a mean can be estimated."""

from typing import Protocol

from numpy.typing import ArrayLike

from shuffledp.cover import LocalRandomizer
from shuffledp.randomness import Rng
from shuffledp.types import Floats, Ints


class NumberRandomizer(LocalRandomizer, Protocol):
    """A randomizer of values in [low, high], one message per person."""

    @property
    def low(self) -> float:
        """Smallest possible value."""

    @property
    def high(self) -> float:
        """Largest possible value."""

    def randomize(self, values: ArrayLike, epsilons: ArrayLike, *, rng: Rng) -> Ints:
        """Draws one message per person, shape (n,), in the order of `values`."""

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are messages, shape (n,)."""

    def decode(self, messages: Ints) -> Floats:
        """Returns the number that each message stands for, in the units of the values."""

    def moments(self, epsilons: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of a decoded message, both (levels, values)."""

    def bits_per_person(self, epsilons: Floats) -> float:
        """Returns how long a message must be for people of these levels."""
