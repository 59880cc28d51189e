import math
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise import laplace_chances, laplace_density
from oracles.shuffled import divergence, shuffled, with_victim

from shuffledp import InvalidInputError, Population, account
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.noise_attack import all_edges
from shuffledp.statistics.single_message import SingleMessage

LEVELS = [0.01, 0.5, 2.0, 20.0]
EDGES = all_edges(4096)
OUTER = np.concatenate([[-np.inf], EDGES, [np.inf]])


@pytest.mark.few_cases(13)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99, 1.0, 1.5])
def test_local_delta_is_the_integral_over_the_line(level: float, share: float) -> None:
    rate, epsilon = mp.mpf(level) / 2, mp.mpf(share * level)

    def positive(y: Any) -> Any:
        here = mp.exp(-rate * abs(y + 1)) - mp.exp(epsilon - rate * abs(y - 1))
        return max(rate / 2 * here, mp.mpf(0))

    crossing = -epsilon / (2 * rate)
    exact = mp.quad(positive, sorted([-mp.inf, -1, crossing]))

    local = Laplace().local_delta(level, share * level)

    # The quadrature has some twelve digits.
    assert local == pytest.approx(float(exact), rel=1e-9, abs=1e-20)
    assert (local > 0.0) == (share < 1.0)


@pytest.mark.parametrize("level", LEVELS)
def test_budget_measured_from_the_densities_is_the_level(level: float) -> None:
    y = np.linspace(-3.0, 3.0, 241)
    logs = np.log([laplace_density(level / 2.0, z, y) for z in np.linspace(-1, 1, 21)])

    measured = float((logs.max(axis=0) - logs.min(axis=0)).max())

    assert measured == pytest.approx(level, rel=1e-12)  # rounding of logarithms
    assert Laplace().delta_local == 0.0


@pytest.mark.parametrize("value", [-1.0, 0.0, 0.3, 1.0])
def test_bins_are_those_of_the_distribution(value: float) -> None:
    bins = Laplace().bins(np.array(LEVELS), value)

    for row, level in zip(bins, LEVELS, strict=True):
        exact = laplace_chances(level / 2.0, value, OUTER)
        assert row == pytest.approx(exact, rel=1e-9, abs=1e-300)
        assert row.sum() == pytest.approx(1.0, abs=1e-13)


CROWDS = [{2.0: 2}, {0.5: 1, 3.0: 1}, {1.0: 3}, {0.5: 1, 2.0: 2}]


@pytest.mark.parametrize("crowd", CROWDS, ids=str)
def test_binned_messages_of_few_people_never_exceed_the_certificate(
    crowd: dict[float, int],
) -> None:
    people, protocol = Population.from_counts(crowd), SingleMessage(Laplace())
    size = {2: 300, 3: 60}[people.num_users]
    edges = np.concatenate([[-np.inf], np.linspace(-4.0, 4.0, size), [np.inf]])

    def sends(level: float, value: float) -> np.typing.NDArray[np.float64]:
        return laplace_chances(level / 2.0, value, edges)

    for victim in crowd:
        levels = people.budgets().tolist()
        levels.remove(victim)
        epsilon = 0.3 * victim
        (answer,) = account(protocol, people, epsilon=epsilon, levels=[victim]).levels
        for value in (-1.0, 0.0, 1.0):
            others = shuffled([sends(level, value) for level in levels])
            for x, other in [(-1.0, 1.0), (1.0, -1.0), (-1.0, 0.2), (0.6, -0.5)]:
                worlds = [with_victim(others, sends(victim, v)) for v in (x, other)]
                exact = divergence(worlds[0], worlds[1], epsilon)
                assert exact <= answer.delta_central * (1.0 + 1e-12)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("crowd", CROWDS, ids=str)
def test_attack_is_reached_by_the_histogram_of_its_own_bins(
    crowd: dict[float, int],
) -> None:
    people, protocol = Population.from_counts(crowd), SingleMessage(Laplace())

    for victim in crowd:
        epsilons = [0.0, 0.3 * victim]
        levels = people.budgets().tolist()
        levels.remove(victim)
        best = np.zeros(len(epsilons))
        for value in (-1.0, 0.0, 1.0):
            others = shuffled(
                [laplace_chances(level / 2.0, value, OUTER) for level in levels]
            )
            left, right = (
                with_victim(others, laplace_chances(victim / 2.0, v, OUTER))
                for v in (-1.0, 1.0)
            )
            found = [divergence(left, right, epsilon) for epsilon in epsilons]
            best = np.maximum(best, found)

        for epsilon, reached in zip(epsilons, best, strict=True):
            (answer,) = account(
                protocol, people, epsilon=epsilon, levels=[victim]
            ).levels
            # Sums of up to 10^6 doubles.
            assert answer.delta_central_lower <= reached * (1.0 + 1e-9) + 1e-13


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    level=st.floats(0.1, 5.0),
    others=st.floats(0.01, 3.0),
    size=st.integers(1, 3000),
    log_delta=st.floats(-12.0, -1.0),
)
def test_attack_never_exceeds_the_certificate(
    level: float, others: float, size: int, log_delta: float
) -> None:
    counts = {others: size, level: 1} if others != level else {level: size + 1}

    (answer,) = account(
        SingleMessage(Laplace()),
        Population.from_counts(counts),
        delta=10.0**log_delta,
        levels=[level],
    ).levels

    assert 0.0 <= answer.epsilon_central_lower <= answer.epsilon_central <= level


@pytest.mark.slow
def test_range_of_values_does_not_matter() -> None:
    people = Population.from_counts({0.5: 200, 2.0: 300})

    first, second = (
        account(SingleMessage(Laplace(*ends)), people, delta=1e-6)
        for ends in [(0.0, 1.0), (-1e-3, 7e8)]
    )

    assert first.levels == second.levels
    assert second.parameters == {"low": -1e-3, "high": 7e8, "cells": 4096}
    assert any("floating point" in assumption for assumption in first.assumptions)


@pytest.mark.parametrize(
    "ends", [(0.0, 0.0), (1.0, 0.0), (math.nan, 1.0), (0.0, math.inf), (-math.inf, 0.0)]
)
def test_ranges_that_make_no_sense_are_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        Laplace(*ends)


@pytest.mark.slow
def test_a_smaller_budget_may_rightly_get_the_larger_number() -> None:
    people = Population.from_counts({0.05: 1, 1.0: 1_000_000})

    careful, liberal = account(Laplace(0, 1), people, delta=1e-6).levels

    # Half of the careful person's noise is farther out than everybody else's.
    assert careful.epsilon_central_lower == pytest.approx(0.04999, abs=1e-6)
    assert careful.epsilon_central_lower > 10.0 * liberal.epsilon_central


@pytest.mark.parametrize("level", [1e-300, 1.0, 700.0])
def test_local_delta_is_0_however_far_beyond_the_level(level: float) -> None:
    for epsilon in (level, 2.0 * level, 5_000.0, 1e300):
        assert Laplace().local_delta(level, epsilon) == 0.0
