import itertools
import math
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise import (
    exact_normal_profile,
    normal_chances,
)
from oracles.shuffled import divergence, shuffled, with_victim

from shuffledp import InvalidInputError, Population, account
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.noise_attack import all_edges
from shuffledp.randomizers.normal_divergence import sensitivity_per_deviation
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


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float32])
@pytest.mark.parametrize("number", [3, 40])
def test_levels_of_any_kind_of_number_have_the_same_noise(
    kind: Any, number: int
) -> None:
    levels = np.arange(1, number + 1)

    # Also where every second one is left out of an array.
    apart = np.repeat(levels, 2).astype(kind)[::2]
    np.testing.assert_array_equal(
        Gaussian().deviations(apart), Gaussian().deviations(levels.astype(np.float64))
    )


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


@pytest.mark.parametrize("value", [-1.0, 0.0, 0.3, 1.0])
def test_bins_are_those_of_the_distribution(value: float) -> None:
    device, levels = Gaussian(delta_local=1e-5), np.array([0.05, 1.0, 6.0])

    bins = device.bins(levels, value)

    for row, deviation in zip(bins, device.deviations(levels), strict=True):
        exact = normal_chances(float(deviation), value, OUTER)
        assert row == pytest.approx(exact, rel=1e-9, abs=1e-300)
        assert row.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.few_cases(1)
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


@pytest.mark.slow
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


def test_the_attack_on_a_large_crowd_is_near_the_best_known() -> None:
    people = Population.from_counts({4.0: 10**7})

    (found,) = account(Gaussian(), people, delta=1e-6).levels

    # Of equal people whose loss is normal with the crowd at the victim's other end,
    # whose messages are the least like the victim's, 0.000750 is the limit.
    assert 0.00074 <= found.epsilon_central_lower <= 0.00075
    assert found.epsilon_central_lower <= found.epsilon_central <= 0.000985139
