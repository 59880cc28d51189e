"""How far apart the values are in deviations of normal noise, at each local budget."""

import functools
import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from shuffledp.errors import InvalidInputError
from shuffledp.randomizers.normal_divergence import (
    normal_divergence,
    sensitivity_per_deviation,
)
from shuffledp.types import Floats

# Numbers for so few levels are looked up one by one, and for fewer than many at once.
_FEW_LEVELS, _MANY_LEVELS = 16, 20_000
Calibration: TypeAlias = Literal["exact", "classical"]


def classical_sensitivity_per_deviation(epsilons: Floats, delta_local: float) -> Floats:
    """Returns the mu of the classical formula.

    >>> classical_sensitivity_per_deviation(np.array([1.0]), 1e-10)
    array([0.14665...])

    Args:
        epsilons: Local budgets, any shape.
        delta_local: In (0, 1).

    Raises:
        InvalidInputError: At levels where so much noise does not keep delta_local.
    """
    mu: Floats = epsilons / math.sqrt(2.0 * math.log(1.25 / delta_local))
    # The formula is proven for eps <= 1 only: at every level the exact delta decides.
    # Written this way round, it refuses NaN, too.
    if not np.all((mu > 0.0) & (normal_divergence(mu, epsilons) <= delta_local)):
        raise InvalidInputError(
            "Expected levels above 0 at which classical noise keeps delta_local = "
            f"{delta_local:g}, as it does up to 1; exact calibration keeps it at any."
        )
    return mu


_LENGTHS: dict[str, Callable[[Floats, float], Floats]] = {
    "exact": sensitivity_per_deviation,
    "classical": classical_sensitivity_per_deviation,
}


def sensitivities(
    epsilons: Floats, delta_local: float, calibration: Calibration
) -> Floats:
    """Returns mu of each level.

    Args:
        epsilons: Local budgets, any shape.
        delta_local: In (0, 1).
        calibration: By which formula.

    Raises:
        InvalidInputError: Where the classical formula does not keep delta_local.
    """
    if epsilons.size > _MANY_LEVELS:
        return _LENGTHS[calibration](epsilons, delta_local)
    if epsilons.size > _FEW_LEVELS:
        # Of whole numbers, or single precision, the bytes are others.
        doubles = epsilons.astype(np.float64).tobytes()
        return _of_levels(doubles, delta_local, calibration).reshape(epsilons.shape)
    # Target users ask for their own, one by one, and searches for the same again.
    levels = epsilons.ravel().tolist()
    known = np.array([sensitivity(level, delta_local, calibration) for level in levels])
    return known.reshape(epsilons.shape)


@functools.lru_cache(maxsize=16)
def _of_levels(epsilons: bytes, delta_local: float, calibration: Calibration) -> Floats:
    """Returns mu of each of some levels, not to be written to: every target user asks."""
    mu = _LENGTHS[calibration](np.frombuffer(epsilons), delta_local)
    mu.setflags(write=False)
    return mu


@functools.lru_cache(maxsize=4096)
def sensitivity(level: float, delta_local: float, calibration: Calibration) -> float:
    """Returns mu of one level; see `sensitivities`."""
    return float(_LENGTHS[calibration](np.array([level]), delta_local)[0])
