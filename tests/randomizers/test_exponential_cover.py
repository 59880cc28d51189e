"""Exponential covers, against densities of the textbook."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise import (
    blanket_functional,
    clipped_chances,
    clipped_density,
    exact_laplace_chance,
    excess,
    laplace_chances,
    laplace_density,
)

from shuffledp import Population
from shuffledp.cover import Cover
from shuffledp.randomizers.exponential_cover import exponential_cover
from shuffledp.types import Floats

CROWDS = [
    Population.from_counts(counts)
    for counts in (
        {1.0: 1000},
        {0.05: 50, 0.5: 20, 1.0: 30},
        {0.5: 1, 2.0: 9999},
        {0.2: 10**6, 8.0: 3},
        {0.0: 5, 1.0: 5},
        {1e-5: 3, 60.0: 100},
        # Others are a little steeper: the blanket ends where they fall below it.
        {0.9: 1, 1.0: 1000},
        {2.0: 10, 2.5: 10**5},
    )
]
VICTIMS = [
    (crowd, float(victim))
    for crowd in CROWDS
    for victim in crowd.epsilons
    if victim > 0.0
]
CASES = covering(
    (("crowd", "victim"), VICTIMS),
    ("clipped", [True, False]),
    ("delta", [1e-3, 1e-9]),
    ids=str,
)


@dataclass(frozen=True)
class Omega:
    """The common distribution, read off the masses of the cells."""

    rate: float
    kappa: float
    reach: float
    norm: float
    edges: Floats

    def density(self, y: Floats) -> Floats:
        y = np.abs(y)
        log = -self.kappa * np.minimum(y, 1.0) - self.rate * np.maximum(y - 1.0, 0.0)
        return np.where(y <= self.reach, np.exp(log) / self.norm, 0.0)


def omega_of(cover: Cover, rate: float, *, clipped: bool) -> Omega:
    half = cover.masses.size // 2
    size = half - (not clipped)
    edges = np.linspace(0.0, 1.0, size + 1)
    masses = cover.masses[:size]
    kappa = -math.log(masses[-1] / masses[0]) / (1.0 - 1.0 / size)
    reach = 1.0 if clipped else math.inf
    if cover.uncovered is not None:
        reach = 1.0 - math.log(2.0 * cover.uncovered[0, 0]) / rate
    # The density at 1, from the last cell's mass.
    step = kappa / size
    shape = step / math.expm1(step) if abs(step) > 1e-9 else 1.0 - step / 2.0
    last = masses[-1] * size * shape
    return Omega(rate, kappa, reach, math.exp(-kappa) / last, edges)


@CASES
def test_everybody_sends_the_blanket_whatever_she_holds(
    crowd: Population, victim: float, clipped: bool, delta: float
) -> None:
    cover = exponential_cover(victim, crowd, clipped=clipped, delta=delta)

    omega = omega_of(cover, victim / 2.0, clipped=clipped)
    end = min(omega.reach, 1.0 + 80.0 / victim)
    y = np.concatenate([np.linspace(-1.0, 1.0, 401), np.linspace(1.0, end, 200)])
    y = np.concatenate([y, -y, [omega.reach, -omega.reach]])
    y = y[np.isfinite(y)]
    chances = zip(crowd.epsilons, cover.blanket_probabilities, strict=True)
    for level, gamma in chances:
        if level == 0.0 and not clipped:
            assert gamma == 0.0
            continue
        density = clipped_density if clipped else laplace_density
        rate = max(level / 2.0, 1e-9)
        least = np.min([density(rate, z, y) for z in np.linspace(-1, 1, 81)], axis=0)
        with np.errstate(divide="ignore"):
            ratio = float((least / omega.density(y)).min())
        # The shape is read off masses to some ten digits, more if exponents are large.
        assert 0.0 <= gamma <= ratio * (1.0 + 1e-8) + 1e-300
        if math.isfinite(omega.reach) or level <= victim:
            # Uniform messages may cover a little more than all.
            assert gamma == pytest.approx(min(ratio, 1.0), rel=1e-6)
        else:
            # A steeper density falls below omega in the end.
            assert gamma == 0.0


@pytest.mark.few_cases(4)
@CASES
def test_losses_are_never_below_those_of_the_two_ends(
    crowd: Population, victim: float, clipped: bool, delta: float
) -> None:
    cover = exponential_cover(victim, crowd, clipped=clipped, delta=delta)

    omega = omega_of(cover, victim / 2.0, clipped=clipped)
    near, far = exact_ends(omega, clipped=clipped)
    masses = [mp.mpf(float(mass)) for mass in cover.masses[: len(near)]]
    # The losses are linear in the growth: two of them say all.
    for epsilon in (0.0, victim):
        growth = mp.expm1(mp.mpf(epsilon))
        halves = np.split(cover.differences, 2), np.split(cover.bases, 2)
        # Right of 0, x is far; left of it, near.
        for (differences, bases), (x, other) in zip(
            zip(*halves, strict=True), [(far, near), (near, far)], strict=True
        ):
            cells = zip(differences, bases, masses, x, other, strict=True)
            for difference, base, mass, here, there in cells:
                exact = (here - there - growth * there) / mass
                found = mp.mpf(float(difference)) - growth * mp.mpf(float(base))
                # Exponents up to twice the rate are rounded; the accountant allows for
                # 1e-16 of a loss per cell, of which there are more.
                digits = mp.mpf("4e-16") * (2 + omega.rate)
                size = abs(difference) + growth * abs(base)
                assert found >= exact - digits * size
                # The densities, not their difference, have so many digits.
                size = (1 + growth) * (here + there) / mass
                added = mp.mpf("5e-15") + mp.mpf("6e-16") * omega.rate
                assert found <= exact + (digits + added) * size


def exact_ends(omega: Omega, *, clipped: bool) -> tuple[list[Any], list[Any]]:
    """Chances of the cells right of 0 for the end on the right, and on the left."""
    near, far = [], []
    rate = mp.mpf(omega.rate)
    edges = [float(edge) for edge in omega.edges]
    cells = list(itertools.pairwise(edges))
    if not clipped:
        cells.append((1.0, min(omega.reach, 1e9)))
    inside = -mp.expm1(-2 * rate) / 2 if clipped else mp.mpf(1)
    for left, right in cells:
        near.append(exact_laplace_chance(rate, 1, left, right) / inside)
        far.append(exact_laplace_chance(rate, -1, left, right) / inside)
    return near, far


@CASES
def test_masses_add_up_and_so_do_the_victims_chances(
    crowd: Population, victim: float, clipped: bool, delta: float
) -> None:
    cover = exponential_cover(victim, crowd, clipped=clipped, delta=delta)

    assert cover.masses.min() >= 0.0
    assert cover.masses.sum() == pytest.approx(1.0, abs=1e-12)
    outside = np.zeros((2, 2)) if cover.uncovered is None else cover.uncovered
    there = cover.masses @ cover.bases
    here = there + cover.masses @ cover.differences
    assert there + outside[1].sum() == pytest.approx(1.0, abs=1e-12)
    assert here + outside[0].sum() == pytest.approx(1.0, abs=1e-12)
    if clipped:
        assert cover.uncovered is None
    # What is outside lies beyond reach on either side.
    omega = omega_of(cover, victim / 2.0, clipped=clipped)
    if math.isfinite(omega.reach) and not clipped:
        edges = np.array([-np.inf, -omega.reach, omega.reach, np.inf])
        for value, chances in zip([-1.0, 1.0], outside, strict=True):
            exact = laplace_chances(victim / 2.0, value, edges)[[0, 2]]
            assert chances == pytest.approx(exact, rel=1e-9)
        # Part of delta at most.
        assert outside[0].max() <= 0.31 * delta


@CASES
def test_densities_stay_between_their_bounds_within_each_cell(
    crowd: Population, victim: float, clipped: bool, delta: float
) -> None:
    cover = exponential_cover(victim, crowd, clipped=clipped, delta=delta)

    omega = omega_of(cover, victim / 2.0, clipped=clipped)
    density = clipped_density if clipped else laplace_density
    assert cover.cells is not None
    half, size = cover.masses.size // 2, omega.edges.size - 1
    for place in (0.0, 0.3, 0.5, 0.99, 1.0):
        y = omega.edges[:-1] + place * np.diff(omega.edges)
        if not clipped:
            # One kind of message: wherever it lies.
            y = np.append(y, 1.0 + place * (min(omega.reach, 1.0 + 20.0 / victim) - 1))
        for side, start in ((1.0, 0), (-1.0, half)):
            for row, value in enumerate([-1.0, 1.0]):
                ratio = density(victim / 2.0, value, side * y) / omega.density(y)
                low = cover.cells.low[row, start : start + y.size]
                high = cover.cells.high[row, start : start + y.size]
                # The shape was read off the masses, to some ten digits.
                assert np.all(ratio >= low * (1.0 - 1e-8))
                assert np.all(ratio <= high * (1.0 + 1e-8))
                # Cells are narrow.
                assert np.all(high[:size] <= low[:size] * (1.0 + 0.1))


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mp.workdps(40):
        yield


@pytest.mark.parametrize(("victim", "others"), [(0.9, 1.0), (2.0, 2.5)])
def test_blanket_ends_where_steeper_densities_fall_below_it(
    victim: float, others: float
) -> None:
    crowd = Population.from_counts({victim: 1, others: 1000})

    cover = exponential_cover(victim, crowd, clipped=False, delta=1e-6)

    assert cover.uncovered is not None
    assert cover.beyond(0.0) > 0.0
    assert cover.blanket_probabilities.min() > 0.0


values = st.integers(-1000, 1000).map(lambda number: number / 1000.0)


@pytest.mark.slow
@pytest.mark.parametrize("clipped", [True, False])
@pytest.mark.parametrize("messages", [1, 2, 3, 6])
@settings(max_examples=25, deadline=None)
@given(
    x=values,
    other=values,
    log_rate=st.floats(-3.0, 1.5),
    share=st.floats(0.0, 1.0),
    tail=st.floats(0.01, 6.0),
    part=st.one_of(st.just(0.0), st.floats(0.0, 1.0)),
)
def test_ends_are_the_worst_pair(
    messages: int,
    clipped: bool,
    x: float,
    other: float,
    log_rate: float,
    share: float,
    tail: float,
    part: float,
) -> None:
    rate = math.exp(log_rate)
    epsilon, kappa = 2.0 * rate * part, share * rate
    reach = 1.0 if clipped else 1.0 + tail / rate
    size = {1: 2000, 2: 1000, 3: 150, 6: 150}[messages]
    edges = np.unique(np.concatenate([np.linspace(-1.0, 1.0, size + 1), [x, other]]))
    if not clipped:
        # Beyond 1 all densities against omega are constant.
        edges = np.concatenate([[-reach], edges, [reach]])
    width, middle = np.diff(edges), (edges[:-1] + edges[1:]) / 2.0
    omega = np.exp(-kappa * np.abs(middle)) * width
    if not clipped:
        outer = math.exp(-kappa) * -math.expm1(-rate * (reach - 1.0)) / rate
        omega[[0, -1]] = outer
    omega /= omega.sum()

    def bound(first: float, second: float) -> float:
        chances = clipped_chances if clipped else laplace_chances
        here, there = (chances(rate, value, edges) for value in (first, second))
        found = blanket_functional(here, there, omega, epsilon, messages)
        if clipped:
            return found
        outside = np.array([-np.inf, -reach, reach, np.inf])
        beyond = [laplace_chances(rate, v, outside)[[0, 2]] for v in (first, second)]
        return found + excess(beyond[0], beyond[1], epsilon)

    # Cells hide part of a loss, but as much for one pair as for another.
    allowed = 1e-7 + 2e-3 * bound(-1.0, 1.0) * (messages > 2)
    assert bound(x, other) <= bound(-1.0, 1.0) * (1.0 + 1e-4) + allowed


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("clipped", [True, False])
@settings(max_examples=100, deadline=None)
@given(
    value=values,
    log_rate=st.floats(-3.0, 2.0),
    share=st.floats(0.0, 1.0),
    tail=st.floats(0.01, 6.0),
    log_c=st.floats(-5.0, 5.0),
)
def test_no_value_rises_above_the_blanket_more_than_an_end(
    clipped: bool,
    value: float,
    log_rate: float,
    share: float,
    tail: float,
    log_c: float,
) -> None:
    rate = math.exp(log_rate)
    kappa, reach = share * rate, 1.0 if clipped else 1.0 + tail / rate
    edges = np.unique(np.append(np.linspace(-1.0, 1.0, 4001), value))
    chances = clipped_chances if clipped else laplace_chances
    if not clipped:
        edges = np.concatenate([[-reach], edges, [reach]])
    middle, width = (edges[:-1] + edges[1:]) / 2.0, np.diff(edges)
    omega = np.exp(-kappa * np.abs(middle)) * width
    if not clipped:
        outer = math.exp(-kappa) * -math.expm1(-rate * (reach - 1.0)) / rate
        omega[[0, -1]] = outer
    omega *= math.exp(log_c) / omega.sum()

    inner, end = chances(rate, value, edges), chances(rate, -1.0, edges)

    surplus = inner.sum() - end.sum()
    risen = np.maximum(inner - omega, 0.0).sum() - surplus
    # Four thousand cells are off by the square of their width, times the rate's.
    assert risen <= np.maximum(end - omega, 0.0).sum() + 1e-6 * (1.0 + rate**2)


@pytest.mark.parametrize("delta", [1e-6, 1e-290, 1e-300])
def test_steep_noise_among_flat_noise_gives_no_warning(delta: float) -> None:
    crowd = Population.from_counts({1e-6: 1, 0.5: 5 * 10**9, 700.0: 4 * 10**9})

    # Warnings are errors here.
    cover = exponential_cover(700.0, crowd, clipped=False, delta=delta)

    assert np.all(cover.blanket_probabilities >= 0.0)
    assert np.all(cover.blanket_probabilities <= 1.0)
