"""Adaptive processes (Definition 4): the exact distribution of all messages.

Users take the places 1, ..., n in a secret random order; messages are published in the
order of places. With attached="place" the user at place t runs randomizer R_t, as in
Definition 4; with attached="person" each user runs their own randomizer, as in Algorithms 2
and 3. Either may depend on all earlier messages. The paper does not distinguish the two.

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
"""(earlier messages, own value) -> probabilities of the message, shape (cells,)."""

# Histories times values; all of them are enumerated.
_LARGEST = 2_000_000


@dataclass(frozen=True)
class AdaptiveProcess:
    """A process of few users with few messages each.

    Attributes:
        randomizers: One per place, or per user.
        cells: Number of different messages.
        attached: Whether randomizers belong to places or to users.
    """

    randomizers: tuple[LocalLaw, ...]
    cells: int
    attached: Literal["place", "person"]

    def __post_init__(self) -> None:
        if self.attached not in ("place", "person"):
            raise InvalidInputError(
                f"Expected attached to place or person, got {self.attached!r}."
            )
        # 2^n sets of users, each with at most cells^n histories.
        outcomes = (2 * self.cells) ** len(self.randomizers)
        if not self.randomizers or self.cells < 2 or outcomes > _LARGEST:
            raise InvalidInputError(
                f"Expected a few randomizers and messages, got {len(self.randomizers)} "
                f"and {self.cells}."
            )

    def distribution(self, values: Sequence[int]) -> Floats:
        """Returns the probabilities of all message lists, shape (cells,) * n.

        Args:
            values: One per user.
        """
        n = len(self.randomizers)
        if len(values) != n:
            raise InvalidInputError(f"Expected {n} values, got {len(values)}.")
        # distributions[S][history]: probability that the users in S come first and send
        # `history`.
        distributions: dict[frozenset[int], Floats] = {frozenset(): np.ones(1)}
        for position in range(n):
            longer: dict[frozenset[int], Floats] = {}
            for gone, distribution in distributions.items():
                for person in set(range(n)) - gone:
                    # Budgets of places are not budgets of users: a user who chose 0.1
                    # and gets a place at 5 sends a message that is 5-private.
                    chosen = position if self.attached == "place" else person
                    sent = self._after(chosen, position, values[person])
                    # The next user is uniform over the n - position others.
                    grown = (distribution[:, None] * sent).ravel() / (n - position)
                    key = gone | {person}
                    longer[key] = longer.get(key, 0.0) + grown
            distributions = longer
        (distribution,) = distributions.values()
        return distribution.reshape((self.cells,) * n)

    def _after(self, chosen: int, position: int, value: int) -> Floats:
        """Returns the probabilities after every history, shape (histories, cells)."""
        histories = product(range(self.cells), repeat=position)
        return np.array([self.randomizers[chosen](past, value) for past in histories])
