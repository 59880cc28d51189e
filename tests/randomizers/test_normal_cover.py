"""The cover of normal noise: gamma, the cells, the worst pair, and what is charged."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise import blanket_functional, excess, normal_chances, normal_density

from shuffledp import Population, account
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.normal_blanket import NormalBlanket
from shuffledp.randomizers.normal_cover import cover_with, normal_cover
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats

# Deviations from four values' distance to a tenth of it, and a width of omega.
SHAPES = [
    NormalBlanket(deviation, 1.0 + tail * deviation, 0.0, width * deviation, fold)
    for deviation, tail in [(8.0, 4.5), (2.0, 5.0), (0.6, 6.0), (0.2, 3.0)]
    for width, fold in [(1.0, 1.0), (1.5, 0.0), (1.2, 0.0), (5.0, 0.0)]
]
# The joint is an edge of the cells.
SHAPES = [
    replace(shape, joint=float(np.linspace(0.0, shape.reach, 401)[cells]))
    for shape in SHAPES
    for cells in ((400,) if shape.fold else (80, 200, 400))
]


def log_omega(shape: NormalBlanket, y: Floats) -> Floats:
    """-h, from h' = (y + fold) / width^2 up to the joint and h'' = 1 / s^2 beyond."""
    inside, beyond = np.minimum(y, shape.joint), np.maximum(y - shape.joint, 0.0)
    curved = inside**2 / 2.0 + shape.fold * inside
    slope = (shape.joint + shape.fold) / shape.width**2
    result: Floats = curved / -(shape.width**2)
    return result - slope * beyond - beyond**2 / (2.0 * shape.deviation**2)


def omega_density(shape: NormalBlanket, y: Floats) -> Floats:
    """The density at |y|, with the norm from a fine sum."""
    edges = np.linspace(0.0, shape.reach, 200_001)
    points = np.asarray((edges[:-1] + edges[1:]) / 2.0, dtype=np.float64)
    norm = 2.0 * np.exp(log_omega(shape, points)).mean() * shape.reach
    away: Floats = np.abs(y)
    density: Floats = np.exp(log_omega(shape, away)) / norm
    return density


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_everybody_sends_the_blanket_whatever_she_holds(shape: NormalBlanket) -> None:
    deviations = shape.deviation * np.array([0.3, 0.9, 1.0, 1.1, 1.7, 4.0, 30.0])

    gammas = shape.blanket_probability(deviations)

    y = np.linspace(0.0, shape.reach, 4001)
    for deviation, gamma in zip(deviations, gammas, strict=True):
        least = np.min(
            [normal_density(deviation, z, y) for z in np.linspace(-1.0, 1.0, 21)],
            axis=0,
        )
        ratio = float((least / omega_density(shape, y)).min())
        # The norm is a sum over points, good to 1e-9 and better.
        assert 0.0 <= gamma <= ratio * (1.0 + 1e-8)
        # Between two points the ratio may be smaller by the square of their distance.
        assert gamma >= min(ratio, 1.0) * (1.0 - 1e-3)


@pytest.mark.few_cases(15)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_cells_are_those_of_the_densities(shape: NormalBlanket) -> None:
    cover = cover_with(shape, np.ones(1))

    size = cover.masses.size // 2
    edges = np.linspace(0.0, shape.reach, size + 1)
    inner = (edges[:-1, None] + np.linspace(0.0, 1.0, 41) * np.diff(edges)[:, None]).T
    omega = omega_density(shape, inner)
    assert cover.masses.sum() == pytest.approx(1.0, abs=1e-12)
    # Simpson's rule on forty parts of each cell.
    weights = np.array([1.0] + [4.0, 2.0] * 19 + [4.0, 1.0])[:, None] / 120.0
    width = np.diff(edges)
    assert cover.masses[:size] == pytest.approx((weights * omega).sum(0) * width, 1e-7)
    assert cover.cells is not None
    assert cover.cells.gaps is not None
    for side, start in ((1.0, 0), (-1.0, size)):
        here = slice(start, start + size)
        x, other = (normal_density(shape.deviation, v, side * inner) for v in (-1, 1))
        masses = cover.masses[here]
        mean = (weights * other).sum(0) * width / masses
        assert cover.bases[here] == pytest.approx(mean, rel=1e-7)
        mean = (weights * (x - other)).sum(0) * width / masses
        assert np.all(cover.differences[here] >= mean - 1e-7 * np.abs(mean) - 1e-10)
        assert cover.differences[here] == pytest.approx(mean, rel=1e-6, abs=1e-9)
        for row, density in ((0, x), (1, other)):
            assert np.all(density / omega >= cover.cells.low[row, here] * (1 - 1e-8))
            assert np.all(density / omega <= cover.cells.high[row, here] * (1 + 1e-8))
        gap, hair = (x - other) / omega, 1e-8 * (x + other) / omega
        assert np.all(gap >= cover.cells.gaps[0, here] - hair)
        assert np.all(gap <= cover.cells.gaps[1, here] + hair)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_is_uncovered_is_charged_at_every_epsilon(shape: NormalBlanket) -> None:
    cover = cover_with(shape, np.ones(1))

    edges = shape.reach + shape.deviation * np.linspace(0.0, 15.0, 20_001)
    here, there = (normal_chances(shape.deviation, v, edges) for v in (1.0, -1.0))
    for epsilon in (0.0, 0.1, 2.0 * shape.reach / shape.deviation**2, 30.0, 1e4):
        exact = excess(here, there, min(epsilon, 700.0))
        charged = cover.beyond(epsilon)
        assert exact * (1.0 - 1e-9) <= charged <= here.sum() * (1.0 + 1e-9)
    # Cells are a tenth of a deviation long.
    assert cover.beyond(0.0) <= 1.1 * excess(here, there, 0.0) + 1e-300


values = st.integers(-1000, 1000).map(lambda number: number / 1000.0)


@st.composite
def drawn_shapes(draw: st.DrawFn) -> NormalBlanket:
    deviation = 2.0 / math.exp(draw(st.floats(-3.0, 1.5)))
    reach = 1.0 + draw(st.floats(0.01, 4.0)) * deviation
    if draw(st.booleans()):
        return NormalBlanket(deviation, reach, reach, deviation, 1.0)
    joint = reach * draw(st.floats(0.05, 1.0))
    return NormalBlanket(
        deviation, reach, joint, deviation * draw(st.floats(1.0, 9.0)), 0.0
    )


class Line:
    """omega and the victim's densities on fine cells of the whole line."""

    def __init__(self, shape: NormalBlanket, half: int) -> None:
        self.shape = shape
        right = np.linspace(0.0, shape.reach, half + 1)
        self.edges = np.concatenate([-right[:0:-1], right])
        middles = (self.edges[:-1] + self.edges[1:]) / 2.0
        omega = np.exp(log_omega(shape, np.abs(middles)))
        self.omega = omega / omega.sum()
        self.outer = shape.reach + np.linspace(0.0, 12.0 * shape.deviation, 2001)

    def inside(self, value: float) -> Floats:
        return normal_chances(self.shape.deviation, value, self.edges)

    def outside(self, first: float, second: float, epsilon: float) -> float:
        deviation = self.shape.deviation
        return sum(
            excess(
                normal_chances(deviation, first, side),
                normal_chances(deviation, second, side),
                epsilon,
            )
            for side in (-self.outer[::-1], self.outer)
        )

    def charged(self, epsilon: float) -> float:
        """What the ends show on one side."""
        first = normal_chances(self.shape.deviation, 1.0, self.outer)
        second = normal_chances(self.shape.deviation, -1.0, self.outer)
        return excess(first, second, epsilon)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    shape=drawn_shapes(),
    x=values,
    other=values,
    part=st.one_of(st.just(0.0), st.floats(0.0, 2.0)),
    height=st.floats(-3.0, 3.0),
)
def test_no_loss_exceeds_that_of_the_ends_in_the_convex_order(
    shape: NormalBlanket, x: float, other: float, part: float, height: float
) -> None:
    line, epsilon = Line(shape, 4000), part * 2.0 / shape.deviation
    growth = math.exp(epsilon)
    here, there = line.inside(x), line.inside(other)
    ends = line.inside(-1.0), line.inside(1.0)
    if np.all(here <= growth * there):
        # The pair shows something outside alone.
        assert line.outside(x, other, epsilon) <= line.charged(epsilon) + 1e-9
        return
    # From far below the losses to far above them.
    level = height * float((np.abs(ends[0] - growth * ends[1]) / line.omega).max())

    found = np.maximum(here - growth * there - level * line.omega, 0.0).sum()
    most = np.maximum(ends[0] - growth * ends[1] - level * line.omega, 0.0).sum()

    found += line.outside(x, other, epsilon)
    # Eight thousand cells, in which a difference may change its sign.
    allowed = 1e-6 * (1.0 + abs(level) + growth) + 1e-9
    assert found <= most + line.charged(epsilon) + allowed


@pytest.mark.slow
@pytest.mark.parametrize("messages", [1, 2, 3, 6])
@settings(max_examples=40, deadline=None)
@given(
    shape=drawn_shapes(),
    x=values,
    other=values,
    part=st.one_of(st.just(0.0), st.floats(0.0, 2.0)),
)
def test_ends_are_the_worst_pair(
    messages: int, shape: NormalBlanket, x: float, other: float, part: float
) -> None:
    half = {1: 1000, 2: 500, 3: 80, 6: 80}[messages]
    line, epsilon = Line(shape, half), part * 2.0 / shape.deviation

    def bound(first: float, second: float) -> float:
        here, there = line.inside(first), line.inside(second)
        return blanket_functional(here, there, line.omega, epsilon, messages)

    most = bound(-1.0, 1.0) + line.charged(epsilon)
    found = bound(x, other) + line.outside(x, other, epsilon)
    # Cells hide part of a loss, but as much for one pair as for another; sums of six are
    # grouped, which adds to each.
    allowed = 1e-7 + {1: 0.0, 2: 0.0, 3: 2e-3, 6: 2e-2}[messages] * most
    assert found <= most * (1.0 + 1e-4) + allowed


@pytest.mark.parametrize("deviation", [0.05, 0.0541, 1.0, 1e5])
@pytest.mark.parametrize("delta", [0.3, 1e-6, 1e-300])
def test_extreme_deviations_get_a_cover(deviation: float, delta: float) -> None:
    cover = normal_cover(deviation, np.array([0.1, 1e6]), np.array([5, 5]), delta=delta)

    assert np.all(cover.blanket_probabilities >= 0.0)
    assert np.all(cover.blanket_probabilities <= 1.0)
    assert np.all(np.isfinite(cover.differences))
    assert 0.0 <= cover.beyond(1.0) <= 1.0 + 1e-15


def certified(
    crowd: dict[float, int], victim: float, delta: float
) -> tuple[float, ...]:
    (level,) = account(
        SingleMessage(Gaussian()),
        Population.from_counts(crowd),
        delta=delta,
        levels=[victim],
    ).levels
    return level.epsilon_central, level.epsilon_central_lower


# With an omega of the victim's own shape 10 (her budget), 0.0236 and 0.0186.
@pytest.mark.parametrize(
    ("crowd", "victim", "most"),
    [
        ({1.0: 100_000, 10.0: 10}, 10.0, 0.0272),
        ({1.0: 100_000, 4.0: 1000}, 4.0, 0.0092),
        ({0.1: 9000, 1.0: 1000}, 1.0, 0.0139),
    ],
)
def test_a_liberal_person_hides_among_careful_ones(
    crowd: dict[float, int], victim: float, most: float
) -> None:
    upper, lower = certified(crowd, victim, 1e-6)

    assert lower <= upper <= most


@pytest.mark.slow
def test_the_band_of_uniform_budgets_is_narrow() -> None:
    people = Population.from_budgets(np.linspace(0.05, 1.0, 1000))
    victims = [float(people.epsilons[place]) for place in (250, 500, 999)]

    answers = account(
        SingleMessage(Gaussian()), people, delta=1e-5, levels=victims
    ).levels

    for answer, most in zip(answers, (0.0129, 0.0172, 0.0239), strict=True):
        assert answer.epsilon_central_lower <= answer.epsilon_central <= most
