"""Adaptive processes, enumerated: who sends what after which messages (Definition 4).

People take the places 1, ..., n in a random order that nobody knows; the messages are
published in the order of places. With attached="place" whoever is at place t runs
randomizer R_t on her own value, as Definition 4 says; with attached="person" she runs her
own one, as Algorithms 2 and 3 do, where her budget travels with her. Either may depend on
all messages before hers.

The paper uses the two as if they were one. Budgets of places are not budgets of people:
who chose 0.1 and comes to a place at 5 has sent a message that is 5-private.

For a handful of people and messages: the law of all n messages is an array with one axis
each.

Source: Chen, Cao, Ge (2023), E-APES, Definition 4.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats

LocalLaw: TypeAlias = Callable[[tuple[int, ...], int], Floats]
"""(messages before hers, her value) -> chances of her message, shape (cells,)."""

_LARGEST = 2_000_000


@dataclass(frozen=True)
class AdaptiveProcess:
    """Public parameters only.

    Attributes:
        randomizers: One per place, or per person.
        cells: How many messages there are.
        attached: Whether randomizers belong to places or to people.
    """

    randomizers: tuple[LocalLaw, ...]
    cells: int
    attached: Literal["place", "person"]

    def __post_init__(self) -> None:
        if self.attached not in ("place", "person"):
            raise InvalidInputError(
                f"Expected attached to place or person, got {self.attached!r}."
            )
        outcomes = (2 * self.cells) ** len(self.randomizers)
        if not self.randomizers or self.cells < 2 or outcomes > _LARGEST:
            raise InvalidInputError(
                f"Expected a few randomizers and messages, got {len(self.randomizers)} "
                f"and {self.cells}."
            )

    def law(self, values: Sequence[int]) -> Floats:
        """Returns the chances of all messages in the order of places, shape (cells,) * n.

        Args:
            values: One per person.
        """
        n = len(self.randomizers)
        if len(values) != n:
            raise InvalidInputError(f"Expected {n} values, got {len(values)}.")
        # laws[S][history]: the set S of people was first, and this is what they sent.
        laws: dict[frozenset[int], Floats] = {frozenset(): np.ones(1)}
        for place in range(n):
            longer: dict[frozenset[int], Floats] = {}
            for gone, law in laws.items():
                for person in set(range(n)) - gone:
                    chosen = place if self.attached == "place" else person
                    sent = self._after(chosen, place, values[person])
                    grown = (law[:, None] * sent).ravel() / (n - place)
                    key = gone | {person}
                    longer[key] = longer.get(key, 0.0) + grown
            laws = longer
        (found,) = laws.values()
        return found.reshape((self.cells,) * n)

    def _after(self, chosen: int, place: int, value: int) -> Floats:
        """Returns the chances after every history, shape (histories, cells)."""
        histories = product(range(self.cells), repeat=place)
        return np.array([self.randomizers[chosen](past, value) for past in histories])
