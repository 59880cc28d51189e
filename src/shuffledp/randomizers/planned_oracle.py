"""The interface of a randomizer of categories to a plan, which compares its sizes."""

import math
from typing import Protocol, Self

import numpy as np

from shuffledp.randomizers.frequency_oracle import FrequencyOracle


class PlannedOracle(FrequencyOracle, Protocol):
    """A randomizer of categories whose other parameters a plan chooses."""

    @property
    def plan_name(self) -> str:
        """Its name in a plan, with the parameters that were chosen."""

    @classmethod
    def families(cls, num_categories: int) -> list[list[Self]]:
        """Returns candidates: a plan compares the best of each family."""

    @classmethod
    def left_out(cls, num_categories: int, *, for_targets: bool) -> str:
        """Returns the reason why a plan leaves it out, or "".

        Args:
            num_categories: k.
            for_targets: Whether levels are looked for that keep central targets.
        """


def geometric_sizes(first_size: int, last_size: int) -> list[int]:
    """Returns about 20 whole numbers per factor of 10, both ends included.

    >>> geometric_sizes(2, 6)
    [2, 3, 4, 5, 6]
    """
    if last_size < first_size:
        return []
    steps = int(20 * math.log10(last_size / first_size)) + 2
    return sorted(
        {round(x) for x in np.geomspace(first_size, last_size, steps).tolist()}
    )
