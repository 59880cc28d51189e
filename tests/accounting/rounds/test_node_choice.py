"""Which chords of a loss distribution are split."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import shuffledp as sdp
from shuffledp.accounting.rounds.composition import composed
from shuffledp.accounting.rounds.loss_distribution import connect_dots
from shuffledp.accounting.rounds.node_choice import (
    _SHORT,
    Aim,
    _middles_to_add,
    loss_distribution,
)


def falling(epsilon: float) -> float:
    """A bound that leaves something uncovered."""
    return 0.1 * math.exp(-100.0 * epsilon) + 1e-6


def test_a_chord_that_cannot_be_split_hides_no_others() -> None:
    losses = np.array([0.0, 2.0, 2.2, 2.4])
    distribution = connect_dots(losses, np.array([0.5, 0.05, 0.03, 0.02]))

    # The first costs far more than the others; its middle was evaluated, and dropped.
    assert _middles_to_add(distribution, {}, None) == [1.0]
    assert _middles_to_add(distribution, {1.0: 0.2}, None) == pytest.approx([2.1, 2.3])


# Where no finite losses add up to epsilon, and where they hardly ever do.
@pytest.mark.parametrize(("rounds", "epsilon"), [(1, 0.3), (3, 0.9), (1_000, 6.0)])
def test_no_nodes_are_added_where_only_infinite_losses_matter(
    rounds: int, epsilon: float
) -> None:
    fine, coarse = (
        loss_distribution(falling, ceiling=np.inf, negligible=1e-5, aim=aim)
        for aim in (None, Aim(rounds, 1e-5, epsilon))
    )

    assert coarse.losses.size < 0.7 * fine.losses.size
    assert coarse.losses[-1] == fine.losses[-1] < 0.3
    bounds = [composed([(losses, rounds)]).delta(epsilon) for losses in (fine, coarse)]
    assert bounds == pytest.approx([rounds * coarse.infinite] * 2, rel=5e-3)


def test_nodes_are_added_where_finite_losses_matter_beside_infinite_ones() -> None:
    anywhere, aimed = (
        loss_distribution(falling, ceiling=np.inf, negligible=1e-5, aim=aim)
        for aim in (None, Aim(1_000, 1e-5, 0.4))
    )

    finest, chosen = (
        composed([(losses, 1_000)]).delta(0.4) for losses in (anywhere, aimed)
    )
    assert chosen > 1.5 * 1_000 * aimed.infinite
    assert chosen == pytest.approx(finest, rel=1e-2)


@pytest.mark.parametrize(
    ("uncovered", "fall"), [(1e-14, 0.0), (1e-13, 0.3), (2e-13, 0.0), (3e-13, 0.001)]
)
def test_what_stays_uncovered_is_infinite_and_takes_no_nodes(
    uncovered: float, fall: float
) -> None:
    # More than is negligible, at all epsilons up to that of the message alone.
    def upper(epsilon: float) -> float:
        # Of a normal loss of deviation 0.1.
        near, far = 0.05 - 10.0 * epsilon, -0.05 - 10.0 * epsilon
        normal = norm.cdf(near) - math.exp(epsilon) * norm.cdf(far)
        beyond = uncovered * math.exp(-fall * epsilon) * (epsilon < 50.0)
        return max(float(normal), 0.0) + beyond

    found = loss_distribution(upper, ceiling=math.inf, negligible=1e-15)

    assert found.losses[-1] < 1.5
    assert 0.5 * uncovered <= found.infinite <= 2.0 * uncovered
    # What rounding may add to every atom is what is negligible.
    once = composed([(found, 1)])
    for epsilon in np.linspace(0.0, 2.0, 41).tolist():
        # As of a slightly smaller epsilon, where some nodes are spent on what is uncovered.
        most = upper(0.95 * epsilon) * (1.0 + 1e-3) + 2.0 * uncovered
        assert upper(epsilon) <= once.delta(epsilon) <= most


@pytest.mark.slow
def test_noise_that_covers_less_does_not_grow_beyond_its_neighbors() -> None:
    people = sdp.Population.from_counts(
        dict.fromkeys((0.029, 0.163, 1.314, 1.489, 2.341, 2.533, 2.613, 8.485), 1_250)
    )

    numbers = [
        level.epsilon_central
        for level in sdp.account(
            sdp.Gaussian(), people, delta=1e-12, rounds=3, quantiles=False
        ).levels
    ]

    # 0.32 where nodes were spread up to the budget of the level.
    assert numbers[5] < numbers[6] < 1.1 * numbers[5]


@pytest.mark.slow
def test_a_third_of_delta_may_stay_uncovered() -> None:
    people = sdp.Population.from_counts(
        {
            0.0373: 13_044,
            0.0376: 475_981,
            0.4605: 13_847,
            9.7861: 942_730,
            11.286: 1_797,
        }
    )

    guarantee = sdp.account(
        sdp.Gaussian(), people, delta=1e-20, rounds=2, quantiles=False
    )

    # 10.1 for the last level, whose cover leaves 0.3 of delta uncovered, where nodes were
    # spread up to its budget.
    once = sdp.account(sdp.Gaussian(), people, delta=1e-20, quantiles=False)
    for twice, single in zip(guarantee.levels, once.levels, strict=True):
        assert single.epsilon_central < twice.epsilon_central
        assert twice.epsilon_central < 2.0 * single.epsilon_central


@pytest.mark.slow
def test_blankets_that_are_estimated_too_low_are_not_composed() -> None:
    people = sdp.Population.from_counts(
        dict.fromkeys((0.029, 0.163, 1.314, 1.489, 2.341, 2.533, 2.613, 8.485), 100_000)
    )

    guarantee = sdp.account(
        sdp.Laplace(), people, delta=1e-30, rounds=3, quantiles=False
    )

    # 1.3 for the level of 2.341, whose estimates were five orders below its bounds.
    numbers = [level.epsilon_central for level in guarantee.levels]
    assert numbers[3] < 1.2 * numbers[4]


@pytest.mark.slow
def test_profiles_of_few_flips_are_followed() -> None:
    people = sdp.Population.from_counts({10.316: 1_000_000})
    protocols: list[Any] = [sdp.Frequency(17), sdp.Mean(0, 1), sdp.BinarySum()]

    level = sdp.account(protocols, people, delta=1e-9, absent=1).worst

    # 2.39247 with 626 nodes in all.
    assert level.epsilon_central_lower <= 2.39247
    assert 2.39 <= level.epsilon_central <= 2.40


def test_chords_are_not_split_next_to_a_jump_for_ever() -> None:
    # A loss that is normal, up to one that has a mass of its own.
    def upper(epsilon: float) -> float:
        return float(norm.sf(10.0 * epsilon)) + 1e-3 * max(0.0, 1.0 - epsilon / 0.3)

    evaluated = []

    def counted(epsilon: float) -> float:
        evaluated.append(epsilon)
        return upper(epsilon)

    loss_distribution(counted, ceiling=1.0, negligible=1e-9)

    nodes = np.sort(evaluated)
    assert np.all(np.diff(nodes) >= 0.5 * _SHORT * nodes[:-1])
