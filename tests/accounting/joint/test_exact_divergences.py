"""Certificate and attack of several protocols, on either side of exact divergences."""

from typing import Any

import numpy as np
import pytest
from oracles.several_protocols import (
    Worlds,
    joint_divergence,
    moved_message,
    poisson,
    response_worlds,
)

import shuffledp as sdp

EPSILONS = [0.0, 0.3, 1.0, 1.9]
# Windows of Poisson numbers leave out less than this.
OUTSIDE = 1e-12


def bounds(
    protocols: list[Any], people: dict[float, int], level: float, epsilon: float
) -> tuple[float, float]:
    population = sdp.Population.from_counts(people)
    (entry,) = sdp.account(
        protocols, population, epsilon=epsilon, levels=[level]
    ).levels
    return entry.delta_central_lower, entry.delta_central


@pytest.mark.few_cases(10)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("people", "level"),
    [({1.0: 2}, 1.0), ({0.5: 1, 2.0: 2}, 0.5), ({0.5: 1, 2.0: 2}, 2.0)],
)
@pytest.mark.parametrize("categories", [(2, 2), (2, 3)])
def test_two_responses_of_a_tiny_crowd(
    people: dict[float, int], level: float, categories: tuple[int, int], epsilon: float
) -> None:
    seen = [response_worlds(people, level, k) for k in categories]

    attacked, certified = bounds(
        [sdp.Frequency(k) for k in categories], people, level, epsilon
    )

    exact = joint_divergence(seen, epsilon)
    # Where all budgets together are reached, what is left of the sum is rounding.
    assert attacked * (1.0 - 1e-9) <= exact <= certified + 1e-15
    # So few people make a profile of corners, which chords follow to a few percent.
    assert certified <= 1.25 * exact + 1e-12


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_count_beside_a_response(epsilon: float) -> None:
    people, mean = {1.0: 3}, 9.0
    group = sdp.CountGroup(buckets=2, most=1, noise=sdp.PoissonNoise(mean))
    counts = sdp.Counts((group,), (1.0,), (1.0,), honest=3)
    seen: list[Worlds] = [response_worlds(people, 1.0, 2), moved_message(mean, 40)]

    attacked, certified = bounds([sdp.Frequency(2), counts], people, 1.0, epsilon)

    exact = joint_divergence(seen, epsilon)
    assert attacked * (1.0 - 1e-9) <= exact + OUTSIDE
    assert exact <= certified <= 1.1 * exact


@pytest.mark.parametrize(
    ("people", "level", "categories", "epsilon", "part"),
    [
        ({1.0: 2}, 1.0, (2, 2), 0.0, 1.0),
        ({1.0: 2}, 1.0, (2, 2, 2), 1.0, 0.99),
        ({1.0: 4}, 1.0, (2, 2, 2), 0.3, 0.99),
        ({0.5: 1, 2.0: 2}, 2.0, (2, 3), 0.3, 0.95),
    ],
)
def test_an_attack_on_all_is_stronger_than_on_any_of_them(
    people: dict[float, int],
    level: float,
    categories: tuple[int, ...],
    epsilon: float,
    part: float,
) -> None:
    protocols = [sdp.Frequency(k) for k in categories]
    exact = joint_divergence(
        [response_worlds(people, level, k) for k in categories], epsilon
    )

    attacked, certified = bounds(protocols, people, level, epsilon)

    # Alone in a list, each is bounded by the attacks on one protocol.
    alone = [bounds([each], people, level, epsilon)[0] for each in protocols]
    assert attacked > 1.2 * max(alone)
    # Numbers of six digits, rounded down.
    assert part * exact * (1.0 - 1e-5) <= attacked <= exact <= certified


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_epsilon_lies_between_the_ends_of_another_accountant(delta: float) -> None:
    pld = pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution", reason="Needs the extra dev."
    )
    means = (60.0, 150.0)
    counts = [
        sdp.Counts(
            (sdp.CountGroup(2, 1, sdp.PoissonNoise(mean)),), (1.0,), (1.0,), honest=50
        )
        for mean in means
    ]
    ends = []
    for pessimistic in (False, True):
        parts = [
            pld.from_two_probability_mass_functions(
                *(logs_of(world) for world in moved_message(mean, 320)[0]),
                pessimistic_estimate=pessimistic,
                value_discretization_interval=1e-3,
                symmetric=True,
            )
            for mean in means
        ]
        composed = parts[0].compose(parts[1], tail_mass_truncation=0.0)
        ends.append(composed.get_epsilon_for_delta(delta))

    people = sdp.Population.from_counts({1.0: 50})
    certified = sdp.account(counts, people, delta=delta).levels[0].epsilon_central

    # What devices' draws and cuts cost is in the certificate only.
    assert ends[0] <= certified <= 1.01 * ends[1]


def logs_of(distribution: Any) -> dict[int, float]:
    flat = distribution.ravel()
    return {int(i): float(np.log(flat[i])) for i in np.flatnonzero(flat > 1e-40)}


def test_the_window_of_the_oracle_is_wide_enough() -> None:
    assert 1.0 - poisson(9.0, 40).sum() < OUTSIDE
    assert 1.0 - poisson(150.0, 320).sum() < OUTSIDE
