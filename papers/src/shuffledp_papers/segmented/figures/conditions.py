"""Settings of Figures 2 to 6: data, population and targets, from `figures.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shuffledp.datasets.item_sets import Padding, draw_uniform_sets, load_msnbc_sets
from shuffledp.population import Population
from shuffledp.types import Ints
from shuffledp_papers.toml_tables import read_table


@dataclass(frozen=True)
class PrintedFigure:
    """One figure of the paper.

    Attributes:
        data: "msnbc" or "synthetic".
        set_sizes: Numbers s of items of every user.
        shares: Names of the shares of the targets.
    """

    data: str
    set_sizes: tuple[int, ...]
    shares: tuple[str, ...]


@dataclass(frozen=True)
class BestBlanket:
    """The number of blanket messages that the text calls best, for shares S1.

    Attributes:
        data: "msnbc" or "synthetic".
        set_size: s.
        num_users: n.
        printed: m, as printed.
    """

    data: str
    set_size: int
    num_users: int
    printed: str


@dataclass(frozen=True)
class _FiguresTable:
    targets: tuple[float, ...]
    sizes: tuple[int, ...]
    shares: Mapping[str, tuple[float, ...]]
    figures: Mapping[str, PrintedFigure]
    best_blankets: tuple[BestBlanket, ...]


_TABLE = read_table(_FiguresTable, "segmented", "figures.toml")

TARGETS, SIZES, FIGURES = _TABLE.targets, _TABLE.sizes, _TABLE.figures
# Printed m of the least error, by data, set size and number of users.
BEST_BLANKETS = {
    (best.data, best.set_size, best.num_users): best.printed
    for best in _TABLE.best_blankets
}


@dataclass(frozen=True)
class Condition:
    """One setting of a figure.

    Attributes:
        data: "msnbc" or "synthetic".
        set_size: s.
        shares: "S1", "S2" or "S3".
        num_users: n.
        padding: Items that fill up sets of MSNBC pages.
    """

    data: str
    set_size: int
    shares: str
    num_users: int
    # Sets are padded with pages not opened: the paper's 17 items allow no other way.
    padding: Padding = "items"

    @property
    def name(self) -> str:
        """The name in tables and panels."""
        return f"{self.data} {self.shares} s={self.set_size} n={self.num_users}"

    @property
    def people(self) -> Population:
        """Central targets, and the number of users who choose each."""
        shares = np.array(_TABLE.shares[self.shares])
        # Whole up to the rounding of floats: quarters and halves of 5,000 and 50,000.
        counts = np.rint(shares * self.num_users).astype(int)
        return Population.from_counts(dict(zip(TARGETS, counts.tolist(), strict=True)))

    @property
    def delta(self) -> float:
        """The delta at which targets are stated, 0.01 / n."""
        return 0.01 / self.num_users

    def sets(self, rng: np.random.Generator) -> tuple[Ints, int]:
        """Returns all users' items, shape (n, s), and the number d of items."""
        if self.data == "msnbc":
            data = load_msnbc_sets(
                set_size=self.set_size,
                num_users=self.num_users,
                padding=self.padding,
                rng=rng,
            )
        else:
            data = draw_uniform_sets(self.num_users, set_size=self.set_size, rng=rng)
        return data.sets, data.num_items


def conditions_of(figure: PrintedFigure) -> list[Condition]:
    """Returns all settings of a figure, one panel each."""
    return [
        Condition(figure.data, set_size, shares, num_users)
        for set_size in figure.set_sizes
        for shares in figure.shares
        for num_users in SIZES
    ]
