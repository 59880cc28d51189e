"""The settings of Figures 2 to 6: which data, which people, which targets."""

from dataclasses import dataclass

import numpy as np

from shuffledp.datasets.item_sets import Padding, draw_uniform_sets, load_msnbc_sets
from shuffledp.population import Population
from shuffledp.types import Ints

TARGETS = (0.5, 1.0, 2.0)
SHARES = {"S1": (0.25, 0.5, 0.25), "S2": (0.5, 0.25, 0.25), "S3": (0.25, 0.25, 0.5)}


@dataclass(frozen=True)
class Condition:
    """One setting of a figure.

    Attributes:
        data: "msnbc" or "synthetic".
        set_size: s.
        shares: "S1", "S2" or "S3".
        num_users: n.
        padding: What fills up sets of MSNBC pages.
    """

    data: str
    set_size: int
    shares: str
    num_users: int
    padding: Padding = "items"

    @property
    def name(self) -> str:
        """How it is called in tables."""
        return f"{self.data} {self.shares} s={self.set_size} n={self.num_users}"

    @property
    def people(self) -> Population:
        """Targets and people."""
        counts = np.rint(np.array(SHARES[self.shares]) * self.num_users).astype(int)
        return Population.from_counts(dict(zip(TARGETS, counts.tolist(), strict=True)))

    @property
    def delta(self) -> float:
        """At which targets are stated."""
        return 0.01 / self.num_users

    def sets(self, rng: np.random.Generator) -> tuple[Ints, int]:
        """Returns everybody's items, shape (n, s), and d."""
        if self.data == "msnbc":
            found = load_msnbc_sets(
                set_size=self.set_size,
                num_users=self.num_users,
                padding=self.padding,
                rng=rng,
            )
        else:
            found = draw_uniform_sets(self.num_users, set_size=self.set_size, rng=rng)
        return found.sets, found.num_items
