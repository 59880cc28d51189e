"""Reduction of any local protocol to one bit per user, by public randomness.

Let Q be a randomizer of budget eps and mu a distribution with e^-eps <= Q(z | x) / mu(z) <=
e^eps for all x and z, such as that of some fixed value. For every user a message z is
drawn from mu, in public; the user sends one bit, 1 with probability

    c Q(z | x) / mu(z),    c = 1 / (e^eps + 1),

and the analyst keeps z where the bit is 1. A kept message, of probability c at every value,
has exactly the distribution of Q, and the analyst of Q goes on with some c n users.

Source: Wang, lecture notes, section 9.1, item 4, stated without a formula; Bassily,
Smith (2015), "Local, private, efficient protocols for succinct histograms".
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInputError
from shuffledp.randomness import Rng, bernoulli_draws
from shuffledp.types import Floats, Ints

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class OneBitReduction:
    """A finite randomizer whose messages are drawn in public and accepted by one bit.

    >>> keep = math.exp(1.0) / (math.exp(1.0) + 1.0)
    >>> response = np.array([[keep, 1.0 - keep], [1.0 - keep, keep]])
    >>> one_bit = OneBitReduction(response, response[0], epsilon=1.0)
    >>> one_bit.kept_probabilities().round(4)
    array([[0.1966, 0.0723],
           [0.0723, 0.1966]])

    Attributes:
        table: Q, the probability of every message for every value, shape (values,
            messages).
        public: mu, the distribution of public messages, shape (messages,).
        epsilon: A level that `table`, and also its ratio to `public`, keeps.
    """

    table: Floats
    public: Floats
    epsilon: float

    def __post_init__(self) -> None:
        table, public = np.asarray(self.table), np.asarray(self.public)
        if table.ndim != 2 or table.shape[0] < 1 or public.shape != table.shape[1:]:
            raise InvalidInputError(
                "Expected a table (values, messages) and a distribution of messages, got "
                f"{table.shape} and {public.shape}."
            )
        # Q(z | x) / mu(z) must be finite and above 0 for every message.
        for distribution in (*table, public):
            if not (
                np.all(distribution > 0.0)
                and abs(float(distribution.sum()) - 1.0) <= 1e-9
            ):
                raise InvalidInputError(
                    "Expected probabilities above 0 that add up to 1 for every value."
                )
        if not 0.0 < self.epsilon <= 700.0:
            raise InvalidInputError(
                f"Expected 0 < epsilon <= 700, got {self.epsilon:g}."
            )
        # The bit's probability c Q / mu must be at most 1, and Q itself eps-private.
        logs = np.abs(np.log(table / public))
        spread = np.log(table.max(axis=0) / table.min(axis=0))
        level = float(max(logs.max(), spread.max()))
        if level > self.epsilon * (1.0 + _ROUNDING) + _ROUNDING:
            raise InvalidInputError(
                "Expected probabilities within a factor of "
                f"e^{self.epsilon:g} of each other, "
                f"got e^{level:.6g}."
            )

    @property
    def kept_share(self) -> float:
        """c, the share of users whose public message is kept, at every value."""
        # For a bit of 0 the probabilities' ratio is (1 - c r') / (1 - c r), largest at
        # r' = 1, r = e^eps, and e^eps with this c. c = 1/2, possible up to eps = ln 2 only,
        # would have 1 / (2 - e^eps): a level of 1.05 at eps = 0.5.
        return 1.0 / (math.exp(self.epsilon) + 1.0)

    def bit_probabilities(self) -> Floats:
        """Returns the probabilities that a bit is 1, shape (values, messages)."""
        # Rounding must not lead beyond the two ends, which the level allows.
        minimum = self.kept_share * math.exp(-self.epsilon)
        maximum = self.kept_share * math.exp(self.epsilon)
        probabilities: Floats = self.kept_share * self.table / self.public
        return np.clip(probabilities, minimum, maximum)

    def kept_probabilities(self) -> Floats:
        """Returns the probability that each message is kept, shape (values, messages)."""
        # P(kept, z) = mu(z) c Q(z | x) / mu(z) = c Q(z | x).
        probabilities: Floats = self.public * self.bit_probabilities()
        return probabilities

    def level(self) -> float:
        """Returns the exact local level of a bit, given its public message."""
        ones = self.bit_probabilities()
        # A bit of 0 is a message, too.
        ratios = [
            np.log(row.max(axis=0) / row.min(axis=0)) for row in (ones, 1.0 - ones)
        ]
        return float(np.max(ratios))

    def draw_public(self, num_users: int, *, rng: np.random.Generator) -> Ints:
        """Draws the public message of every user, shape (n,)."""
        return rng.choice(self.public.size, size=num_users, p=self.public)

    def randomize(self, values: Ints, public: Ints, *, rng: Rng) -> NDArray[np.bool_]:
        """Draws one bit per user, on the devices, shape (n,).

        Args:
            values: Of the users, in [0, values), shape (n,).
            public: Public message of every user, shape (n,).
            rng: The only source of randomness that need be private.

        Raises:
            InvalidInputError: If shapes differ, or something is out of range.
        """
        inputs, drawn = np.asarray(values), np.asarray(public)
        if inputs.ndim != 1 or inputs.shape != drawn.shape:
            raise InvalidInputError("Expected one public message per value.")
        for array, size in zip((inputs, drawn), self.table.shape, strict=True):
            if array.size and not 0 <= int(array.min()) <= int(array.max()) < size:
                raise InvalidInputError(f"Expected whole numbers in [0, {size}).")
        return bernoulli_draws(self.bit_probabilities()[inputs, drawn], rng=rng)
