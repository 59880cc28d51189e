"""True shares of categories, counted by each part of the people."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shuffledp.analyzer.dependence import Dependence
from shuffledp.datasets.column_values import categories_of
from shuffledp.population import Population
from shuffledp.statistics.frequency.protocol import Frequency
from shuffledp.statistics.level_dependence import (
    LevelGroups,
    dependence_of_holders,
    holders_of,
)
from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class FrequencyTruth:
    """Numbers of people of each level who hold each category: see `Truth`.

    Attributes:
        protocol: The protocol that is run.
        categories: Their names; or how many there are, if values are whole numbers from 0.
    """

    protocol: Frequency
    categories: int | tuple[str, ...]

    @property
    def width(self) -> int:
        """One number per category."""
        return self.protocol.num_categories

    def values(self, column: pl.Series) -> Ints:
        """See `Truth`."""
        return categories_of(column, self.categories)[0]

    def count(
        self, values: Ints, group_indices: Ints, num_groups: int
    ) -> NDArray[np.int64]:
        """See `Truth`."""
        return holders_of(values, group_indices, num_groups, self.width)

    def evaluate(
        self, counts: NDArray[Any], groups: LevelGroups, people: Population
    ) -> tuple[Floats, Dependence | None]:
        """See `Truth`."""
        # Sums of many parts may come as Python's integers (dtype object).
        holders = counts.astype(np.int64)
        dependence = None
        # A stratified estimate stays unbiased if levels depend on values.
        if self.protocol.mode == "agnostic":
            keep, flip = self.protocol.randomizer.densities(people.epsilons)
            # A message supports its value with probability keep, another one with flip:
            # their difference is the slope.
            dependence = dependence_of_holders(
                holders, groups=groups, people=people, slopes=keep - flip
            )
        return holders.sum(axis=0) / people.num_users, dependence
