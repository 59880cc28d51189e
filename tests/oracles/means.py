"""Mean protocols by the name of their mechanism."""

from shuffledp import Mean
from shuffledp.randomizers.catalog import number_randomizer
from shuffledp.types import Mode


def mean_by(mechanism: str, low: float, high: float, mode: Mode = "agnostic") -> Mean:
    return Mean(low, high, mode, number_randomizer(mechanism, low, high))
