"""What the adversary has to tell apart: the victim holds x, or she holds x'.

Messages are numbered cells; everybody else's value is fixed. Every attack of this folder
computes the exact law of some function of the shuffled messages in both worlds, and its
hockey-stick divergence: a lower bound of the collection's own. None of it uses the
accountant's code.
"""

from dataclasses import dataclass

import numpy as np

from shuffledp.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Worlds:
    """One victim among people whose values are fixed.

    Attributes:
        first: Chances of the victim's message if she holds x, shape (cells,).
        second: The same if she holds x', shape (cells,).
        others: Chances of everybody else's, per group, shape (groups, cells).
        counts: How many others there are in each group, shape (groups,).
    """

    first: Floats
    second: Floats
    others: Floats
    counts: Ints

    def __post_init__(self) -> None:
        chances = np.vstack([self.first, self.second, self.others])
        sums = chances.sum(axis=1)
        if not (np.all(chances >= 0.0) and np.allclose(sums, 1.0, rtol=1e-9)):
            raise ValueError("Expected chances that add up to 1.")
        if self.others.shape[0] != self.counts.size:
            raise ValueError("Expected one count for each group.")

    @property
    def swapped(self) -> "Worlds":
        """The same with x and x' exchanged."""
        return Worlds(self.second, self.first, self.others, self.counts)

    def average(self) -> Floats:
        """Returns how many of the others' messages fall into each cell on average."""
        expected: Floats = self.counts @ self.others
        return expected

    def grouped(self, cells: Ints) -> "Worlds":
        """Returns the worlds in which old cell j is seen as cell cells[j]."""
        size = int(cells.max()) + 1

        def merged(chances: Floats) -> Floats:
            return np.bincount(cells, chances, minlength=size).astype(np.float64)

        others = np.zeros((self.counts.size, size))
        for row, chances in zip(others, self.others, strict=True):
            row[:] = merged(chances)
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
    return max(
        float(np.maximum(a - ratio * b, 0.0).sum())
        for a, b in ((first, second), (second, first))
    )
