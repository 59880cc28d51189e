"""Covers of Laplace noise whose common distribution falls faster than the target's."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from shuffledp import Laplace, Population, account
from shuffledp.randomizers.exponential_blanket import (
    ExponentialBlanket,
    blanket_probability,
)
from shuffledp.randomizers.exponential_cover import best_shape, cover_in_shape
from shuffledp.types import Floats

SHAPES = [
    ExponentialBlanket(0.0, 0.2, 12.0, 1.5),
    ExponentialBlanket(0.1, 0.2, 20.0, 1.2),
    ExponentialBlanket(1.0, 1.0, 8.0, 1.35),
    ExponentialBlanket(0.5, 2.0, 1.5, 1.1),
]
# Where omega is known, whatever the code says.
FINE = np.linspace(0.0, 1.0, 401)


def omega(shape: ExponentialBlanket, y: Floats) -> Floats:
    distance = np.abs(y)
    inside = np.exp(-shape.kappa * np.minimum(distance, 1.0))
    falls = np.exp(-shape.rate * shape.steeper * np.maximum(distance - 1.0, 0.0))
    return np.where(distance <= shape.reach, inside * falls, 0.0)


def density(rate: float, value: float, y: Floats) -> Floats:
    return 0.5 * rate * np.exp(-rate * np.abs(y - value))


def integral(shape: ExponentialBlanket) -> float:
    parts = ((0.0, 1.0), (1.0, shape.reach))
    return 2.0 * math.fsum(
        quad(lambda y: float(omega(shape, np.array(y))), *part)[0] for part in parts
    )


@pytest.mark.parametrize("index", range(len(SHAPES)))
def test_everyone_sends_as_much_of_it_as_gamma_says(index: int) -> None:
    shape = SHAPES[index]
    y = np.concatenate([FINE, np.linspace(1.0, shape.reach, 400)])
    common = omega(shape, y) / integral(shape)
    rates = shape.rate * np.array([0.3, 0.9, 1.0, 1.1, 1.5, 3.0])

    gamma = blanket_probability(rates, shape, clipped=False)

    for rate, part in zip(rates.tolist(), gamma.tolist(), strict=True):
        least = np.min([density(rate, v, y) for v in np.linspace(-1, 1, 41)], axis=0)
        exact = min(float((least / common).min()), 1.0)
        assert 0.0 < part <= exact * (1.0 + 1e-9)
        assert part >= 0.99 * exact


@pytest.mark.parametrize("index", range(len(SHAPES)))
def test_cells_hold_the_ends_densities(index: int) -> None:
    shape = SHAPES[index]
    norm, rate = integral(shape), shape.rate
    cover = cover_in_shape(shape, np.ones(1), clipped=False)
    half = cover.masses.size // 2
    outside = 400
    inner = np.linspace(0.0, 1.0, half - outside + 1)
    edges = np.append(inner, np.linspace(1.0, shape.reach, outside + 1)[1:])

    assert cover.cells is not None
    assert cover.uncovered is not None
    assert cover.masses.sum() == pytest.approx(1.0, rel=1e-12)
    for cell in [0, half - outside - 1, half - outside, half - 100, half - 1]:
        left, right = edges[cell], edges[cell + 1]
        y = np.linspace(left, right, 33)
        common = omega(shape, y * (1.0 - 1e-15)) / norm
        for row, value in ((0, -1.0), (1, 1.0)):
            ratios = density(rate, value, y) / common
            assert np.all(cover.cells.low[row, cell] <= ratios * (1.0 + 1e-12))
            assert np.all(ratios <= cover.cells.high[row, cell] * (1.0 + 1e-12))
        mass, near, far = (
            quad(lambda y, f=f: float(f(np.array(y))), left, right)[0]
            for f in (
                lambda y: omega(shape, y) / norm,
                lambda y: density(rate, 1.0, y),
                lambda y: density(rate, -1.0, y),
            )
        )
        assert cover.masses[cell] == pytest.approx(mass, rel=1e-9)
        assert cover.bases[cell] * mass == pytest.approx(near, rel=1e-9)
        assert cover.differences[cell] * mass == pytest.approx(far - near, rel=1e-9)
    beyond = 0.5 * math.exp(-rate * (shape.reach - 1.0))
    assert cover.uncovered[0, 0] == pytest.approx(beyond, rel=1e-12)


@pytest.mark.parametrize("index", range(len(SHAPES)))
def test_no_two_values_show_more_than_the_ends(index: int) -> None:
    shape = SHAPES[index]
    rate, norm = shape.rate, integral(shape)
    # Beyond the reach densities only scale: one point stands for all messages there.
    step = 0.004 * min(1.0, shape.reach / 8.0)
    inner = np.arange(step / 2.0, shape.reach, step)
    y = np.concatenate([-inner[::-1], inner])
    common = omega(shape, y) / norm
    values = np.linspace(-1.0, 1.0, 7)
    rows = {v: density(rate, v, y) for v in values.tolist()}
    outer = {
        v: np.exp(-rate * (shape.reach + np.array([v, -v]))) / 2.0
        for v in values.tolist()
    }

    def shown(x: float, other: float, growth: float, levels: Floats) -> Floats:
        loss = rows[x] - growth * rows[other]
        excess = np.maximum(loss - levels[:, None] * common, 0.0)
        inside: Floats = step * excess.sum(axis=1)
        return inside + float(np.maximum(outer[x] - growth * outer[other], 0.0).sum())

    for growth in (1.0, math.exp(0.3 * rate), math.exp(1.2 * rate)):
        largest = 2.0 * float((rows[1.0] / common).max())
        spread = np.geomspace(1e-3, 1.0, 8) * largest
        levels = np.concatenate([-growth * spread, [0.0], spread])
        worst = shown(1.0, -1.0, growth, levels)
        for x, other in itertools.permutations(values.tolist(), 2):
            if math.exp(rate * abs(x - other)) <= growth:
                # No message tells these two apart at this epsilon.
                continue
            assert np.all(shown(x, other, growth, levels) <= worst + 3e-4 * step + 1e-9)


@pytest.mark.slow
def test_a_careful_user_among_many_levels_is_covered_by_larger_budgets() -> None:
    budgets = np.linspace(0.05, 1.0, 400)
    people = Population(budgets, np.full(400, 25))

    guarantee = account(
        Laplace(), people, delta=1e-6, levels=[float(budgets[0]), float(budgets[100])]
    )

    careful, liberal = guarantee.levels
    assert (
        best_shape(0.05, people, clipped=False, delta=1e-6, steeper=True).steeper > 1.0
    )
    assert careful.epsilon_central_lower <= careful.epsilon_central
    # With the target's own rate outside: 0.0276 for the first, more than for the second.
    assert careful.epsilon_central < 0.0125
    assert careful.epsilon_central < liberal.epsilon_central
