"""k-ary randomized response with one privacy level per person.

Person i holds x_i in {0, ..., k-1} and a local budget eps_i. With probability

    gamma_i = k / (exp(eps_i) + k - 1)

her message is uniform over the k categories; otherwise it is x_i. Changing x_i changes
the probability of a message by a factor of exp(eps_i) at most: eps_i-local privacy.

The uniform part does not depend on x_i: it is the blanket, and gamma_i is its weight.

Sources: Kairouz, Oh, Viswanath (2014), "Extremal mechanisms for local differential
privacy"; Balle, Bell, Gascon, Nissim (2019), arXiv:1903.02837, section 3.
"""

from dataclasses import dataclass

import numpy as np

from shuffledp.arrays import one_each
from shuffledp.errors import InvalidInputError
from shuffledp.population import check_budgets
from shuffledp.randomizers.set_response import (
    Overlaps,
    SetResponse,
    lowest_density,
)
from shuffledp.randomness import Rng, check_rng
from shuffledp.types import Floats, Ints

MAX_CATEGORIES = 2**31

# People are randomized in batches of this size, to bound the memory of temporaries.
_BATCH = 1 << 18


def sampled_blanket_probability(epsilons: Floats, num_categories: int) -> Floats:
    """Returns gamma as `randomize` draws it: a multiple of 2**-53, rounded upward.

    A uniform number with 53 bits falls below a multiple of 2**-53 with exactly that
    chance. The 8e-16 on top cover the rounding of gamma itself: a real device is a
    little more private than promised, never less.
    """
    gamma = lowest_density(epsilons, 1.0 / num_categories)
    rounded: Floats = np.ceil(gamma * (1.0 + 8e-16) * 2.0**53) * 2.0**-53
    return np.minimum(rounded, 1.0)


@dataclass(frozen=True, slots=True)
class KRandomizedResponse(SetResponse):
    """Public parameters only; values, levels and rng are arguments of `randomize`.

    Attributes:
        num_categories: k, at least 2.
    """

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
    def parameters(self) -> dict[str, int | float | str]:
        """The public parameters, for the certificate."""
        return {"categories": int(self.num_categories)}

    @property
    def overlaps(self) -> Overlaps:
        """Every value favours itself, and nothing else."""
        return Overlaps(
            1.0 / self.num_categories, 0.0, 0.0 if self.num_categories > 2 else None
        )

    def drawn(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns the densities of what `randomize` draws."""
        gamma = sampled_blanket_probability(epsilons, self.num_categories)
        return gamma, self.num_categories * (1.0 - gamma)

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
        check_rng(rng)
        values, epsilons = one_each(values, epsilons, what="values")
        if values.size and (values.min() < 0 or values.max() >= k):
            raise InvalidInputError(f"Expected values to be integers in [0, {k}).")
        check_budgets(epsilons)
        messages = values.astype(self.message_type)
        for start in range(0, messages.size, _BATCH):
            batch = messages[start : start + _BATCH]
            gamma = sampled_blanket_probability(epsilons[start : start + _BATCH], k)
            ignores_value = rng.random(batch.size) < gamma
            uniform = rng.integers(0, k, size=batch.size).astype(self.message_type)
            np.copyto(batch, uniform, where=ignores_value)
        return messages

    def densities(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Returns the exact chances that `randomize` keeps a value, or sends one other.

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).

        Returns:
            P(message = x) and P(message = y) for each single y != x, shape (levels,).
        """
        other = sampled_blanket_probability(epsilons, self.num_categories)
        other = other / self.num_categories
        return 1.0 - (self.num_categories - 1) * other, other

    def moments(self, epsilons: Floats, frequencies: Floats) -> tuple[Floats, Floats]:
        """Returns mean and variance of one person's indicator of each message.

        Args:
            epsilons: Local budgets in nats, >= 0, shape (levels,).
            frequencies: Chance that her value is each category, shape (k,).

        Returns:
            Both of shape (levels, k).
        """
        keep, flip = self.densities(np.asarray(epsilons, dtype=np.float64))
        mean = flip[:, None] + (keep - flip)[:, None] * frequencies[None, :]
        return mean, mean * (1.0 - mean)
