"""k-ary randomized response with one privacy level per user.

User i holds x_i in {0, ..., k-1} and a local budget eps_i. With probability

    gamma_i = k / (exp(eps_i) + k - 1)

the message is uniform over the k categories; otherwise it is x_i. Changing x_i changes
the probability of a message by a factor of exp(eps_i) at most: eps_i-local privacy.

The uniform part does not depend on x_i: it is the blanket, and gamma_i is its weight.

Sources: Kairouz, Oh, Viswanath (2014), "Extremal mechanisms for local differential
privacy"; Balle, Bell, Gascon, Nissim (2019), arXiv:1903.02837, section 3.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from shuffledp.arrays import check_integers_below
from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import categories_and_budgets
from shuffledp.randomizers.drawn_counts import draw_multinomials
from shuffledp.randomizers.message_code import NumberCode
from shuffledp.randomizers.set_response import Overlaps, SetResponse
from shuffledp.randomizers.tally import batches, tally
from shuffledp.randomness import Rng, stream_of
from shuffledp.types import Floats, Ints

MAX_CATEGORIES = 2**31


@dataclass(frozen=True, slots=True)
class KRandomizedResponse(SetResponse):
    """Public parameters only; values, levels and rng are arguments of `randomize`.

    >>> import numpy as np
    >>> import shuffledp as sdp
    >>> device = sdp.KRandomizedResponse(num_categories=4)
    >>> rng = np.random.default_rng(1)
    >>> device.randomize(np.array([0, 1, 2, 3]), np.full(4, 8.0), rng=rng).tolist()
    [0, 1, 2, 3]

    Attributes:
        num_categories: k, how many values there are; at least 2.
    """

    # Of every level: people of several levels may share a call of `randomize`.
    draws_alike: ClassVar[bool] = True

    num_categories: int

    def __post_init__(self) -> None:
        k = self.num_categories
        if isinstance(k, bool) or not isinstance(k, int | np.integer):
            raise InvalidInputError(
                f"Expected a whole number of categories, got {k!r}."
            )
        if not 2 <= k <= MAX_CATEGORIES:
            raise InvalidInputError(
                f"Expected 2 to {MAX_CATEGORIES} categories, got {k}."
            )

    @property
    def mechanism(self) -> str:
        """The name of the randomizer."""
        return "kary-response"

    @property
    def message_code(self) -> NumberCode:
        """The categories."""
        return NumberCode(self.num_categories)

    @classmethod
    def families(cls, num_categories: int) -> list[list[Self]]:
        """See `PlannedOracle`."""
        return [[cls(num_categories)]]

    @property
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"categories": int(self.num_categories)}

    @property
    def supported(self) -> int:
        """1: a message names one category."""
        return 1

    @property
    def overlaps(self) -> Overlaps:
        """Every value favors itself, and nothing else."""
        return Overlaps(
            1.0 / self.num_categories, 0.0, 0.0 if self.num_categories > 2 else None
        )

    @property
    def message_type(self) -> np.dtype[np.unsignedinteger]:
        """The smallest unsigned integer type that holds every message."""
        return np.min_scalar_type(self.num_categories - 1)

    def randomize(self, values: Ints, epsilons: Floats, *, rng: Rng) -> Ints:
        """Draws one message per person, in the order of `values`.

        Args:
            values: Integers in [0, k), shape (n,).
            epsilons: Each person's local budget in nats, finite and >= 0, shape (n,).
            rng: The only source of randomness.

        Returns:
            Messages in [0, k), shape (n,), of type `message_type`.

        Raises:
            InvalidInputError: If shapes differ, or a value or a budget is out of range.
        """
        k = self.num_categories
        values, epsilons = categories_and_budgets(
            values, epsilons, num_categories=k, rng=rng
        )
        messages = values.astype(self.message_type)
        for people in batches(messages.size):
            batch = messages[people]
            stream = stream_of(rng, people)
            ignores_value = self.ignores_value(epsilons[people], rng=stream)
            uniform = stream.integers(0, k, size=batch.size).astype(self.message_type)
            # A view: what is written to `batch` is in `messages`.
            np.copyto(batch, uniform, where=ignores_value)
        return messages

    def check_messages(self, messages: Ints) -> None:
        """Raises InvalidInputError unless these are integers in [0, k), shape (n,)."""
        check_integers_below(messages, self.num_categories, what="messages")

    def support_counts(
        self, messages: Ints, groups: Ints | None, num_groups: int
    ) -> Ints:
        """Counts each group's messages; a message supports the category that it names.

        Args:
            messages: From `randomize`, shape (n,).
            groups: Each message's group, shape (n,); None if there is one only.
            num_groups: How many groups there are.

        Returns:
            Shape (num_groups, k).
        """
        return tally(messages, self.num_categories, groups, num_groups)

    def draw_support_counts(
        self, holders: Ints, epsilons: Floats, *, rng: np.random.Generator
    ) -> Ints:
        """Draws the support counts of a population, without any people.

        Args:
            holders: How many people of each level hold each value, shape (levels, k).
            epsilons: Local budgets in nats, shape (levels,).
            rng: A simulation's.

        Returns:
            Shape (levels, k).

        Raises:
            InvalidInputError: If shapes differ, or a count or a budget is out of range.
        """
        ignoring, keeping = self.draw_ignoring(
            holders, epsilons, num_categories=self.num_categories, rng=rng
        )
        # Messages that ignore a value name any category, the one that is held included.
        return keeping + draw_multinomials(
            ignoring, np.ones(self.num_categories), rng=rng
        )

    def bits_per_person(self, epsilons: Floats) -> float:
        """The binary logarithm of the number of messages."""
        del epsilons
        return math.log2(self.num_categories)
