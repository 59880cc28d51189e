"""Randomizers of numbers by their names, for a range of values."""

from typing import Any

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.checks import value_range
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.randomizers.one_bit import OneBit

NUMBER_MECHANISMS = ("one-bit", "laplace", "clip-laplace", "gaussian")


def number_randomizer(mechanism: str, low: float, high: float) -> NumberRandomizer:
    """Returns the randomizer of this name for values in [low, high].

    Clip-Laplace's range is around 0, and as wide.

    >>> number_randomizer("clip-laplace", 10.0, 12.0).high
    1.0

    Raises:
        InvalidInputError: If the name is unknown, or the range is none.
    """
    if mechanism == "clip-laplace":
        return ClipLaplace(clip=value_range(low, high))
    kinds: dict[str, Any] = {
        "one-bit": OneBit,
        "laplace": Laplace,
        "gaussian": Gaussian,
    }
    if mechanism not in kinds:
        raise InvalidInputError(
            f"Expected one of {', '.join(NUMBER_MECHANISMS)}, got {mechanism!r}."
        )
    found: NumberRandomizer = kinds[mechanism](low=low, high=high)
    return found
