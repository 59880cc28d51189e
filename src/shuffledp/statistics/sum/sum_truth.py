"""The true sum of bits, counted by each part of the people."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shuffledp.analyzer.dependence import Dependence
from shuffledp.datasets.column_values import bits_of
from shuffledp.population import Population
from shuffledp.statistics.level_dependence import LevelGroups
from shuffledp.statistics.mean.mean_truth import MeanTruth
from shuffledp.statistics.mean.protocol import Mean
from shuffledp.statistics.sum.protocol import BinarySum
from shuffledp.types import Floats, Ints


@dataclass(frozen=True)
class SumTruth:
    """As of a mean of zeros and ones: see `Truth`.

    Attributes:
        protocol: The protocol that is run.
    """

    protocol: BinarySum

    @property
    def width(self) -> int:
        """Three numbers."""
        return self._mean.width

    def values(self, column: pl.Series) -> Ints:
        """See `Truth`."""
        return bits_of(column)

    def count(self, values: Ints, group_indices: Ints, num_groups: int) -> NDArray[Any]:
        """See `Truth`."""
        # Bits are ends of the range, which `MeanTruth` counts without rounding.
        return self._mean.count(values.astype(np.float64), group_indices, num_groups)

    def evaluate(
        self, counts: NDArray[Any], groups: LevelGroups, people: Population
    ) -> tuple[Floats, Dependence | None]:
        """See `Truth`."""
        mean, dependence = self._mean.evaluate(counts, groups, people)
        # A sum of bits is a whole number, which the mean times n misses by rounding.
        return np.rint(mean * people.num_users), dependence

    @property
    def _mean(self) -> MeanTruth:
        return MeanTruth(Mean(0.0, 1.0, self.protocol.mode))
