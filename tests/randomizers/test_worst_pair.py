"""The inequality behind the worst pair of noise: a lemma of docs/theory/covers.md.

On a fine partition of omega's support: of all sets of one omega-mass, the one with most of
R_v, against the interval at the left end with as much of omega.
"""

from collections.abc import Callable

import numpy as np
import pytest

from shuffledp.types import Floats

_CELLS = 100_000
# Of a partition into so many cells, and its midpoint rule.
_TOLERANCE = 1e-6
EXPONENTIAL = [
    (1.0, 1.2, 1.0),
    (1.0, 1.2, 0.0),
    (2.0, 1.5, 1.0),
    (3.0, 1.05, 2.9),
    (0.2, 9.0, 0.1),
    (6.0, 3.0, 6.0),
]
VALUES = [-1.0, -0.9, -0.5, -0.1, 0.0, 0.3, 0.8, 1.0]


def most(masses: Floats, density: Floats, left: Floats) -> float:
    """By how much R(A) exceeds R_{-1}(A') at most, over all A.

    Args:
        masses: omega's, from the left, shape (cells,).
        density: R against omega.
        left: R_{-1} against omega.
    """
    order = np.argsort(-density)
    largest = np.cumsum((masses * density)[order])
    reached = np.interp(
        np.cumsum(masses[order]), np.cumsum(masses), np.cumsum(masses * left)
    )
    return float((largest - reached).max())


def capped(masses: Floats, density: Floats, surplus: float) -> Floats:
    """The density, cut off at the level that takes so much away."""
    low, high = 0.0, float(density.max())
    for _ in range(80):
        level = (low + high) / 2.0
        if masses @ np.maximum(density - level, 0.0) > surplus:
            low = level
        else:
            high = level
    return np.minimum(density, high)


def without_top(masses: Floats, density: Floats, surplus: float) -> Floats:
    """The density, 0 where it is largest, on a set that has so much of it."""
    order = np.argsort(-density)
    rest = density.copy()
    rest[order[np.cumsum((masses * density)[order]) <= surplus]] = 0.0
    return rest


def exponential(
    b: float, reach: float, kappa: float
) -> tuple[Floats, Callable[[float], Floats]]:
    """omega's masses on [-reach, reach], and the victim's densities against it."""
    edges = np.linspace(-reach, reach, _CELLS + 1)
    y, width = (edges[:-1] + edges[1:]) / 2.0, 2.0 * reach / _CELLS
    away = np.abs(y)
    log = -kappa * np.minimum(away, 1.0) - b * np.maximum(away - 1.0, 0.0)
    masses = np.exp(log) / np.exp(log).sum()

    def density(value: float) -> Floats:
        scale = b / 2.0
        if reach == 1.0:
            ends = np.expm1(-b * (1.0 + value)) + np.expm1(-b * (1.0 - value))
            scale = -b / ends
        result: Floats = scale * np.exp(-b * np.abs(y - value)) * width / masses
        return result

    return masses, density


def normal(deviation: float, reach: float) -> tuple[Floats, Callable[[float], Floats]]:
    edges = np.linspace(-reach, reach, _CELLS + 1)
    y, width = (edges[:-1] + edges[1:]) / 2.0, 2.0 * reach / _CELLS
    weights = np.exp(-((np.abs(y) + 1.0) ** 2) / (2.0 * deviation**2))
    masses = weights / weights.sum()

    def density(value: float) -> Floats:
        peak = 1.0 / (deviation * np.sqrt(2.0 * np.pi))
        exponent = -((y - value) ** 2) / (2.0 * deviation**2)
        result: Floats = peak * np.exp(exponent) * width / masses
        return result

    return masses, density


def check(masses: Floats, density: Callable[[float], Floats], value: float) -> None:
    # Of a value to the right of the middle, the mirror image is compared.
    own, left = density(-abs(value)), density(-1.0)
    surplus = float(masses @ own - masses @ left)

    assert surplus >= -_TOLERANCE
    assert most(masses, own, left) <= surplus + _TOLERANCE
    rest = capped(masses, own, max(surplus, 0.0))
    assert masses @ rest == pytest.approx(masses @ left, abs=_TOLERANCE)
    assert most(masses, rest, left) <= _TOLERANCE


@pytest.mark.few_cases(17)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("shape", EXPONENTIAL)
def test_ends_are_the_worst_pair_of_laplace(
    shape: tuple[float, float, float], value: float
) -> None:
    check(*exponential(*shape), value)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("b", "kappa"), [(0.1, 0.1), (1.0, 0.3), (5.0, 4.0)])
def test_ends_are_the_worst_pair_of_clip_laplace(
    b: float, kappa: float, value: float
) -> None:
    check(*exponential(b, 1.0, kappa), value)


@pytest.mark.few_cases(18)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    ("deviation", "reach"), [(0.5, 1.0), (1.0, 2.5), (3.0, 4.0), (8.0, 60.0)]
)
def test_ends_are_the_worst_pair_of_gaussian(
    deviation: float, reach: float, value: float
) -> None:
    check(*normal(deviation, reach), value)


def test_taking_away_the_top_is_not_the_same_as_capping() -> None:
    masses, density = exponential(1.0, 1.2, 1.0)
    own, left = density(0.0), density(-1.0)
    surplus = float(masses @ own - masses @ left)

    rest = without_top(masses, own, surplus)

    assert most(masses, rest, left) == pytest.approx(0.060, abs=5e-4)


def test_comparison_notices_a_pair_that_is_worse() -> None:
    masses, density = exponential(1.0, 1.2, 1.0)

    assert most(masses, density(-1.0), density(-0.5)) > 0.05
