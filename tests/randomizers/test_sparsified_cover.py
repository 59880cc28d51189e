"""Oracles add up the 4096 cells one by one; omega is integrated cell by cell, too."""

import math

import numpy as np
import pytest

from shuffledp import Population
from shuffledp.cover import Cover
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.randomizers.sparsified_cover import (
    TwoPieceBlanket,
    best_shape,
    blanket_probability,
    worst_pair,
)
from shuffledp.types import Floats

STEPS, HALF = 4096, 2048
CELLS = np.arange(STEPS)
AWAY = np.where(CELLS >= HALF, CELLS - HALF, HALF - 1 - CELLS)


def noise_at(level: float, point: int) -> Floats:
    away = np.where(point <= CELLS, CELLS - point, point - 1 - CELLS)
    density = np.exp(-level / STEPS * away)
    result: Floats = density / density.sum()
    return result


def sent(level: float, point: int, threshold: int) -> Floats:
    """Chances of all cells that a device may send, holding a point of the grid."""
    noise, dummies = noise_at(level, point), noise_at(level, HALF)
    kept = threshold <= AWAY
    result: Floats = np.where(kept, noise, 0.0) + noise[~kept].sum() * dummies
    return result


def omega_of(shape: TwoPieceBlanket) -> Floats:
    """Masses of all cells, by Simpson's rule, good to (rate / 4096)^4."""
    rates = np.where(round(shape.threshold * HALF) <= AWAY, shape.outer, shape.inner)
    steps = np.where(round(shape.threshold * HALF) <= AWAY, shape.step, 0.0)
    parts = [
        weight * np.exp(steps - rates * (AWAY + at) / HALF)
        for at, weight in ((0.0, 1.0), (0.5, 4.0), (1.0, 1.0))
    ]
    total = np.sum(parts, axis=0)
    result: Floats = total / total.sum()
    return result


SHAPES = [
    TwoPieceBlanket(0.4, 0.3, 0.8, 1638 / HALF),
    TwoPieceBlanket(0.0, 0.0, 0.0, 1000 / HALF),
    TwoPieceBlanket(3.0, -1.0, 4.0, 200 / HALF),
    TwoPieceBlanket(-0.5, 2.0, -1.0, 2040 / HALF),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_everybody_sends_the_blanket_whatever_her_value(shape: TwoPieceBlanket) -> None:
    omega, threshold = omega_of(shape), round(shape.threshold * HALF)
    points = [0, 1, 700, HALF - threshold, HALF, HALF + threshold, 3900, STEPS]
    points += np.random.default_rng(1).integers(0, STEPS, 60).tolist()

    for level in (0.0, 0.05, 1.0, 8.0):
        (gamma,) = blanket_probability(np.array([level / 2.0]), shape).tolist()

        largest = min((sent(level, p, threshold) / omega).min() for p in points)
        assert gamma <= largest * (1.0 + 1e-9)
        # Densities vary by this within a cell, where chances are averages.
        assert gamma >= largest * (1.0 - 1e-3 * (1.0 + level))


CROWDS: list[tuple[dict[float, int], int]] = [
    ({1.0: 100, 0.05: 300, 0.4: 200}, 1638),
    ({0.3: 100, 2.0: 100}, 1000),
    ({8.0: 50, 0.5: 50}, 1638),
    ({0.05: 100, 4.0: 100}, 2040),
    ({3.0: 10, 3.5: 10}, 100),
]


@pytest.mark.slow
@pytest.mark.parametrize(("counts", "threshold"), CROWDS, ids=str)
def test_random_pairs_of_values_never_exceed_the_certificate(
    counts: dict[float, int], threshold: int
) -> None:
    crowd, rng = Population.from_counts(counts), np.random.default_rng(5)
    share = 1.0 - threshold / HALF
    points = [0, STEPS, HALF, HALF - threshold, HALF + threshold]
    points += rng.integers(0, STEPS + 1, 30).tolist()

    for victim in counts:
        ((cover,),) = SparsifiedClipLaplace(1.0, share=share).covers(
            [victim], crowd, delta=1e-6
        )

        omega = omega_of(best_shape(victim / 2.0, crowd, threshold / HALF))
        densities = [sent(victim, point, threshold) / omega for point in points]
        assert cover.masses @ cover.bases == pytest.approx(1.0, abs=1e-9)
        for _ in range(150):
            here, there = rng.integers(0, len(points), 2)
            epsilon = float(rng.choice([0.0, 0.1, 0.8])) * victim
            losses = densities[here] - math.exp(epsilon) * densities[there]
            # The increasing convex order: all mean excesses, at any threshold.
            for c in np.quantile(losses, [0.0, 0.02, 0.3, 0.5, 0.8, 0.97, 0.999]):
                shown = float(omega @ np.maximum(losses - c, 0.0))
                # Simpson's rule, and 4096 roundings.
                assert shown <= excess(cover, epsilon, c) * (1.0 + 1e-10) + 1e-13


def excess(cover: Cover, epsilon: float, c: float) -> float:
    losses = cover.differences - math.expm1(epsilon) * cover.bases
    return float(cover.masses @ np.maximum(losses - c, 0.0))


def test_one_end_against_the_other_loses_nearly_nothing() -> None:
    crowd = Population.from_budgets(np.linspace(0.05, 1.0, 200))
    shape = best_shape(0.5, crowd, 1638 / HALF)
    omega = omega_of(shape)

    pair = worst_pair(0.5, shape, np.arange(HALF + 1) / HALF, cells=60, nodes=100)

    ends = (sent(1.0, 0, 1638) - sent(1.0, STEPS, 1638)) / omega
    shown = float(omega @ ends**2)
    assert shown <= pair.spread * (1.0 + 1e-9)
    assert pair.spread <= 1.02 * shown


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("level", [0.0, 1e-11, 1e-6, 40.0, 700.0])
def test_extreme_levels_have_covers_made_of_numbers(level: float) -> None:
    crowd = Population.from_counts({level: 3, 1.0: 5})

    ((cover,),) = SparsifiedClipLaplace(1.0, share=0.2).covers(
        [level], crowd, delta=1e-6
    )

    for numbers in (cover.masses, cover.differences, cover.bases):
        assert np.all(np.isfinite(numbers))
    assert np.all(cover.masses >= 0.0)
    assert np.all(cover.bases >= 0.0)
    assert np.all(cover.blanket_probabilities <= 1.0)
    assert excess(cover, 0.0, 0.0) <= 1.0 + 1e-9
