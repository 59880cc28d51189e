"""The two worlds of an attack: the target user holds x, or x'.

Messages are numbered cells; the other users' values are fixed. Every attack of this folder
computes the exact distribution of a function of the shuffled messages in both worlds, and
its hockey-stick divergence: a lower bound of the collection's divergence. No attack uses
the accountant's code.
"""

from dataclasses import dataclass

import numpy as np

from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Worlds:
    """One target user among users whose values are fixed.

    Attributes:
        first: Probabilities of the target user's message on x, shape (cells,).
        second: The same on x', shape (cells,).
        others: Probabilities of another user's message, per group, shape (groups, cells).
        counts: Number of other users in each group, shape (groups,).
    """

    first: Floats
    second: Floats
    others: Floats
    counts: Ints

    def __post_init__(self) -> None:
        probabilities = np.vstack([self.first, self.second, self.others])
        sums = probabilities.sum(axis=1)
        # Written this way round, it refuses NaN, too.
        if not (np.all(probabilities >= 0.0) and np.allclose(sums, 1.0, rtol=1e-9)):
            raise ValueError("Expected probabilities that add up to 1.")
        if self.others.shape[0] != self.counts.size:
            raise ValueError("Expected one count for each group.")

    @property
    def swapped(self) -> "Worlds":
        """The same with x and x' exchanged."""
        return Worlds(self.second, self.first, self.others, self.counts)

    def average(self) -> Floats:
        """Returns the expected number of other users' messages in each cell."""
        expected: Floats = self.counts @ self.others
        return expected

    def grouped(self, cells: Ints) -> "Worlds":
        """Returns the worlds in which old cell j is seen as cell cells[j]."""
        # Merging cells is post-processing: divergences do not grow, and attacks stay valid.
        size = int(cells.max()) + 1

        def merged(probabilities: Floats) -> Floats:
            return np.bincount(cells, probabilities, minlength=size).astype(np.float64)

        others = np.zeros((self.counts.size, size))
        for row, probabilities in zip(others, self.others, strict=True):
            row[:] = merged(probabilities)
        return Worlds(merged(self.first), merged(self.second), others, self.counts)


def hockey_stick(first: Floats, second: Floats, epsilon: float) -> float:
    """Returns sum max(0, P - e^epsilon Q), the larger of both orders.

    >>> hockey_stick(np.array([0.75, 0.25]), np.array([0.25, 0.75]), np.log(2))
    0.25

    Args:
        first: P, any shape.
        second: Q, of the same shape.
        epsilon: In nats, >= 0.
    """
    ratio = np.exp(epsilon)
    # Privacy requires both inequalities; the larger divergence decides.
    return max(
        float(np.maximum(a - ratio * b, 0.0).sum())
        for a, b in ((first, second), (second, first))
    )
