"""Noise of one person in jumps of several messages at once, drawn by Bernoulli draws."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.randomizers.stop_and_go import stop_and_go
from shuffledp.randomness import Rng, bernoulli_draws, stream_of
from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class JumpTable:
    """How one person draws the noise of a group of buckets.

    Attributes:
        plus: Messages + of a jump of each kind, shape (kinds,).
        minus: Messages - of each, shape (kinds,).
        weights: Relative probabilities of the kinds, above 0, shape (kinds,).
        mean: Jumps of a person in the mean where there are no slots, at least 0;
            otherwise the probability that a slot is a jump.
        slots: Per person; 0 if the number of jumps is Poisson.
        width: Messages of a slot.
    """

    plus: Ints
    minus: Ints
    weights: Floats
    mean: float
    slots: int = 0
    width: int = 0

    def kinds(self, size: int, *, rng: Rng) -> NDArray[np.int64]:
        """Draws the kinds of jumps, shape (size,)."""
        # Whether a jump is of this kind or of a later one, from the rarer side.
        later = np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)
        kinds = np.full(size, self.weights.size - 1, dtype=np.int64)
        remaining = np.arange(size)
        for kind in range(self.weights.size - 1):
            if not remaining.size:
                break
            stop = self.weights[kind] / later[kind]
            stream = stream_of(rng, remaining)
            if stop <= 0.5:
                is_of_kind = bernoulli_draws(np.full(remaining.size, stop), rng=stream)
            else:
                go = later[kind + 1] / later[kind]
                is_of_kind = ~bernoulli_draws(np.full(remaining.size, go), rng=stream)
            kinds[remaining[is_of_kind]] = kind
            remaining = remaining[~is_of_kind]
        return kinds

    def jumpers(
        self, num_people: int, *, most: int, rng: Rng
    ) -> Iterator[NDArray[np.int64]]:
        """Yields who has a first jump, a second one, and so on, in ascending order.

        Args:
            num_people: How many people draw.
            most: Jumps of a person without slots; those after them are not drawn.
            rng: The only source of randomness.
        """
        everyone = np.arange(num_people)
        if self.slots:
            for _ in range(self.slots):
                jumps = bernoulli_draws(np.full(num_people, self.mean), rng=rng)
                yield everyone[jumps]
            return
        # Beyond the most and the mean, what is left is below 1e-20 of what is before.
        spread = 80 + 20 * math.ceil(math.sqrt(self.mean))
        last = max(most, math.ceil(self.mean)) + spread
        stop, go = stop_and_go(self.mean / np.arange(1.0, last + 1.0))
        jumpers = everyone
        for j in range(most):
            stream = stream_of(rng, jumpers)
            if go[j] <= 0.5:
                goes = bernoulli_draws(np.full(jumpers.size, go[j]), rng=stream)
            else:
                goes = ~bernoulli_draws(np.full(jumpers.size, stop[j]), rng=stream)
            jumpers = jumpers[goes]
            if not jumpers.size:
                return
            yield jumpers
