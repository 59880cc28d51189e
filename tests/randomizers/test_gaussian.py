import itertools
import math
from dataclasses import dataclass
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise import (
    blanket_functional,
    exact_normal_profile,
    excess,
    normal_chances,
    normal_density,
)
from oracles.shuffled import divergence, shuffled, with_victim

from shuffledp import InvalidInputError, Population, account
from shuffledp.cover import Cover
from shuffledp.randomizers.gaussian import Gaussian, sensitivity_per_deviation
from shuffledp.randomizers.noise_attack import all_edges
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats

EDGES = all_edges(4096)
OUTER = np.concatenate([[-np.inf], EDGES, [np.inf]])


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mp.workdps(50):
        yield


PROMISES = [(0.0, 1e-5), (0.0, 0.1), (0.001, 1e-8)]
PROMISES += itertools.product(
    [0.01, 0.1, 1.0, 3.0, 20.0], [1e-100, 1e-12, 1e-6, 1e-3, 0.1, 0.9]
)


@pytest.mark.parametrize(("epsilon", "delta_local"), PROMISES)
def test_noise_is_the_smallest_that_keeps_the_promise(
    epsilon: float, delta_local: float
) -> None:
    (mu,) = sensitivity_per_deviation(np.array([epsilon]), delta_local).tolist()

    assert exact_normal_profile(mu, epsilon) <= delta_local
    # Another millionth would break it.
    assert exact_normal_profile(mu * (1.0 + 1e-6), epsilon) > delta_local


@pytest.mark.parametrize("delta_local", [1e-9, 1e-5])
@pytest.mark.parametrize("level", [0.05, 1.0, 8.0])
def test_local_delta_is_the_profile_of_the_two_ends(
    level: float, delta_local: float
) -> None:
    device = Gaussian(delta_local=delta_local)
    (mu,) = sensitivity_per_deviation(np.array([level]), delta_local).tolist()

    for epsilon in (0.0, 0.5 * level, level, 2.0 * level):
        exact = exact_normal_profile(mu, epsilon)
        # Logarithms of tails have some twelve digits where little is left.
        assert exact <= device.local_delta(level, epsilon) <= exact * (1 + 1e-6)
    assert device.delta_local == delta_local
    # On the scale of values that are 2 apart.
    assert device.deviations(np.array([level]))[0] == pytest.approx(2.0 / mu)


@dataclass(frozen=True)
class Omega:
    """The common distribution, from the victim's deviation and what is uncovered."""

    deviation: float
    reach: float
    edges: Floats

    @property
    def norm(self) -> Any:
        low, high = (mp.mpf(y) / self.deviation for y in (1, 1 + self.reach))
        return 2 * (mp.ncdf(-low) - mp.ncdf(-high))

    def density(self, y: Floats) -> Floats:
        y = np.abs(y)
        return normal_density(self.deviation, -1.0, y) / float(self.norm)


def omega_of(cover: Cover, deviation: float) -> Omega:
    assert cover.uncovered is not None
    beyond = cover.uncovered[0, 0]
    log_odds = mp.findroot(
        lambda z: mp.log(mp.ncdf(z) / beyond), -math.sqrt(2 * -math.log(beyond))
    )
    reach = float(1 - log_odds * deviation)
    return Omega(deviation, reach, np.linspace(0.0, reach, cover.masses.size // 2 + 1))


CASES = [
    (Population.from_counts(counts), victim, delta)
    for counts, victim, delta in [
        ({1.0: 1000}, 1.0, 1e-6),
        ({0.5: 1, 2.0: 9999}, 0.5, 1e-6),
        ({0.5: 1, 2.0: 9999}, 2.0, 1e-3),
        ({0.1: 50, 1.0: 50, 4.0: 50}, 0.1, 1e-9),
        ({0.1: 50, 1.0: 50, 4.0: 50}, 4.0, 1e-9),
        ({0.01: 5, 20.0: 50}, 20.0, 1e-12),
    ]
]


@pytest.mark.parametrize(("crowd", "victim", "delta"), CASES, ids=str)
def test_everybody_sends_the_blanket_whatever_she_holds(
    crowd: Population, victim: float, delta: float
) -> None:
    device = Gaussian(delta_local=1e-5)

    cover = device.cover_of(victim, crowd, delta=delta)

    omega = omega_of(cover, float(device.deviations(np.array([victim]))[0]))
    y = np.linspace(-omega.reach, omega.reach, 801)
    people = zip(
        device.deviations(crowd.epsilons), cover.blanket_probabilities, strict=True
    )
    for deviation, gamma in people:
        values = np.linspace(-1.0, 1.0, 41)
        least = np.min([normal_density(deviation, z, y) for z in values], axis=0)
        ratio = float((least / omega.density(y)).min())
        assert 0.0 <= gamma <= ratio * (1.0 + 1e-9) + 1e-300  # reach is read off a tail
        assert gamma == pytest.approx(min(ratio, 1.0), rel=1e-6)


@pytest.mark.parametrize(("crowd", "victim", "delta"), CASES, ids=str)
def test_losses_are_never_below_those_of_the_two_ends(
    crowd: Population, victim: float, delta: float
) -> None:
    device = Gaussian(delta_local=1e-5)

    cover = device.cover_of(victim, crowd, delta=delta)

    deviation = float(device.deviations(np.array([victim]))[0])
    omega = omega_of(cover, deviation)
    assert cover.masses.sum() == pytest.approx(1.0, abs=1e-12)
    assert cover.cells is not None
    assert cover.uncovered is not None
    # The victim's whole tail on her side, up to a part of delta.
    assert cover.uncovered[1, 0] == 0.0
    assert cover.uncovered[0, 0] <= 0.3001 * delta
    size = omega.edges.size - 1
    norm, s = omega.norm, mp.mpf(deviation)

    def tail(y: float, value: int) -> Any:
        return mp.ncdf(-(mp.mpf(y) - value) / s)

    tails = [[tail(float(y), value) for y in omega.edges] for value in (-1, 1)]
    far, near = ([left - right for left, right in itertools.pairwise(t)] for t in tails)
    for start, x, other in [(0, far, near), (size, near, far)]:
        for cell in range(size):
            # omega is R(-1) up to its norm.
            mass = far[cell] / norm
            assert cover.masses[start + cell] == pytest.approx(float(mass), rel=1e-8)
            for growth in (mp.mpf(0), mp.expm1(mp.mpf(victim) / 2)):
                exact = (x[cell] - (1 + growth) * other[cell]) / mass
                found = mp.mpf(float(cover.differences[start + cell]))
                found -= growth * mp.mpf(float(cover.bases[start + cell]))
                scale = (1 + growth) * (x[cell] + other[cell]) / mass
                # Where the cell is read off `beyond` it has ten digits.
                assert found >= exact - scale * mp.mpf("1e-9")
                assert found <= exact + scale * mp.mpf("1e-9")
    for place in (0.0, 0.4, 1.0):
        y = omega.edges[:-1] + place * np.diff(omega.edges)
        for side, start in ((1.0, 0), (-1.0, size)):
            for row, value in enumerate([-1.0, 1.0]):
                ratio = normal_density(deviation, value, side * y) / omega.density(y)
                low = cover.cells.low[row, start : start + size]
                high = cover.cells.high[row, start : start + size]
                assert np.all(ratio >= low * (1.0 - 1e-8))
                assert np.all(ratio <= high * (1.0 + 1e-8))


values = st.integers(-1000, 1000).map(lambda number: number / 1000.0)


@pytest.mark.parametrize("messages", [1, 2, 3, 6])
@settings(max_examples=40, deadline=None)
@given(
    x=values,
    other=values,
    log_mu=st.floats(-3.0, 1.5),
    tail=st.floats(0.01, 4.0),
    part=st.one_of(st.just(0.0), st.floats(0.0, 2.0)),
)
def test_ends_are_the_worst_pair(
    messages: int, x: float, other: float, log_mu: float, tail: float, part: float
) -> None:
    deviation = 2.0 / math.exp(log_mu)
    epsilon, reach = part * math.exp(log_mu), 1.0 + tail * deviation
    half = {1: 1000, 2: 500, 3: 80, 6: 80}[messages]
    edges = np.linspace(0.0, reach, half + 1)
    right = normal_chances(deviation, -1.0, edges)
    omega = np.concatenate([right[::-1], right])
    omega /= omega.sum()
    edges = np.concatenate([-edges[:0:-1], edges])
    # Of each side outside, fine cells.
    outer = reach + np.linspace(0.0, 12.0 * deviation, 2001)

    def bound(first: float, second: float) -> float:
        here, there = (normal_chances(deviation, v, edges) for v in (first, second))
        return blanket_functional(here, there, omega, epsilon, messages)

    def outside(first: float, second: float) -> float:
        found = 0.0
        for side in (-outer[::-1], outer):
            here, there = (normal_chances(deviation, v, side) for v in (first, second))
            found += excess(here, there, epsilon)
        return found

    charged = float(normal_chances(deviation, -1.0, np.array([-np.inf, -reach]))[0])
    most = bound(-1.0, 1.0) + charged
    # Cells hide part of a loss, but as much for one pair as for another; sums of six are
    # grouped, which adds to each.
    allowed = 1e-7 + {1: 0.0, 2: 0.0, 3: 2e-3, 6: 2e-2}[messages] * most
    assert bound(x, other) + outside(x, other) <= most * (1.0 + 1e-4) + allowed


@settings(max_examples=100, deadline=None)
@given(
    value=values,
    log_deviation=st.floats(-2.0, 3.0),
    tail=st.floats(0.01, 4.0),
    log_c=st.floats(-5.0, 5.0),
)
def test_no_value_rises_above_the_blanket_more_than_an_end(
    value: float, log_deviation: float, tail: float, log_c: float
) -> None:
    deviation = math.exp(log_deviation)
    edges = np.linspace(0.0, 1.0 + tail * deviation, 4001)
    right = normal_chances(deviation, -1.0, edges)
    omega = np.concatenate([right[::-1], right])
    omega *= math.exp(log_c) / omega.sum()
    edges = np.concatenate([-edges[:0:-1], edges])

    inner, end = (normal_chances(deviation, v, edges) for v in (value, -1.0))

    risen = np.maximum(inner - omega, 0.0).sum() - (inner.sum() - end.sum())
    # Eight thousand cells.
    assert risen <= np.maximum(end - omega, 0.0).sum() + 1e-6


@pytest.mark.parametrize("value", [-1.0, 0.0, 0.3, 1.0])
def test_bins_are_those_of_the_distribution(value: float) -> None:
    device, levels = Gaussian(delta_local=1e-5), np.array([0.05, 1.0, 6.0])

    bins = device.bins(levels, value)

    for row, deviation in zip(bins, device.deviations(levels), strict=True):
        exact = normal_chances(float(deviation), value, OUTER)
        assert row == pytest.approx(exact, rel=1e-9, abs=1e-300)
        assert row.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("crowd", [{2.0: 2}, {0.5: 1, 3.0: 1}, {0.5: 1, 2.0: 2}])
def test_exact_divergence_is_between_attack_and_certificate(
    crowd: dict[float, int],
) -> None:
    device, people = Gaussian(delta_local=1e-3), Population.from_counts(crowd)

    def sends(level: float, value: float) -> Floats:
        (deviation,) = device.deviations(np.array([level])).tolist()
        return normal_chances(deviation, value, OUTER)

    for victim in crowd:
        levels = people.budgets().tolist()
        levels.remove(victim)
        epsilon, best = 0.2 * victim, 0.0
        (answer,) = account(
            SingleMessage(device), people, epsilon=epsilon, levels=[victim]
        ).levels
        for value in (-1.0, 0.0, 1.0):
            others = shuffled([sends(level, value) for level in levels])
            for x, other in [(-1.0, 1.0), (1.0, -1.0), (-1.0, 0.2)]:
                worlds = [with_victim(others, sends(victim, v)) for v in (x, other)]
                best = max(best, divergence(worlds[0], worlds[1], epsilon))
        # Sums of up to 10^6 doubles. Bins hide something, yet not from the attack.
        assert best <= answer.delta_central * (1.0 + 1e-9)
        assert answer.delta_central_lower <= best * (1.0 + 1e-9)


@settings(max_examples=8, deadline=None)
@given(
    level=st.floats(0.1, 4.0),
    others=st.floats(0.1, 3.0),
    size=st.integers(1, 3000),
    log_delta=st.floats(-9.0, -1.0),
)
def test_attack_never_exceeds_the_certificate(
    level: float, others: float, size: int, log_delta: float
) -> None:
    counts = {others: size, level: 1} if others != level else {level: size + 1}

    (answer,) = account(
        SingleMessage(Gaussian(delta_local=1e-7)),
        Population.from_counts(counts),
        epsilon=0.1 * level,
        levels=[level],
    ).levels

    assert 0.0 <= answer.delta_central_lower <= answer.delta_central <= 1.0


@pytest.mark.parametrize("delta_local", [0.0, 1e-101, 1.0, -0.1, math.nan])
def test_local_deltas_that_make_no_sense_are_refused(delta_local: float) -> None:
    with pytest.raises(InvalidInputError, match="delta_local"):
        Gaussian(delta_local=delta_local)


@pytest.mark.parametrize("ends", [(0.0, 0.0), (1.0, 0.0), (math.nan, 1.0)])
def test_ranges_that_make_no_sense_are_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        Gaussian(*ends)
