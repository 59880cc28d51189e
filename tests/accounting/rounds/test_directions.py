"""Shuffles of two kinds, a pair and its reverse, composed each as what it is."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from shuffledp import Population, UnaryEncoding, account
from shuffledp.accounting.bounds_at import TargetUsers
from shuffledp.accounting.rounds.composition import composed
from shuffledp.accounting.rounds.loss_distribution import (
    LossDistribution,
    connect_directions,
)
from shuffledp.cover import Cover
from shuffledp.types import Floats

# Outcomes of a pair that is far from its mirror image.
FIRST = np.array([0.5, 0.25, 0.1, 0.05, 0.1])
SECOND = np.array([0.1, 0.35, 0.25, 0.2, 0.1])


def divergence(first: Floats, second: Floats, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def bits(others: tuple[float, ...], own: float) -> Floats:
    """Distribution of how many of the others' bits and the victim's are 1."""
    found = np.ones(1)
    for chance in (*others, own):
        found = np.convolve(found, [1.0 - chance, chance])
    return found


def connected(first: Floats, second: Floats, nodes: Floats) -> LossDistribution:
    bounds = [
        np.array([divergence(*pair, node) for node in nodes.tolist()])
        for pair in ((first, second), (second, first))
    ]
    found = connect_directions(nodes, bounds[0], bounds[1], least_mass=1e-290)
    assert found is not None
    return found


@pytest.mark.parametrize("times", [1, 2, 3])
def test_directions_compose_to_the_exact_divergence(times: int) -> None:
    # With a node at every loss nothing is lost.
    losses = np.log(FIRST / SECOND)
    nodes = np.unique(np.append(np.abs(losses), 0.0))
    there, back = connected(FIRST, SECOND, nodes), connected(SECOND, FIRST, nodes)
    first, second = np.ones(1), np.ones(1)
    for _ in range(times):
        first = np.multiply.outer(np.multiply.outer(first, FIRST), SECOND).ravel()
        second = np.multiply.outer(np.multiply.outer(second, SECOND), FIRST).ravel()

    bound = composed([(there, times), (back, times)])

    for epsilon in (0.1, 0.5, 1.0, 1.9):
        exact = divergence(first, second, epsilon)
        assert exact <= bound.delta(epsilon) <= 1.02 * exact + 1e-9


def test_fewer_nodes_only_raise_the_bound() -> None:
    nodes = np.array([0.0, 0.3, 1.0, 1.7])
    first, second = np.outer(FIRST, SECOND).ravel(), np.outer(SECOND, FIRST).ravel()
    there, back = connected(FIRST, SECOND, nodes), connected(SECOND, FIRST, nodes)

    bound = composed([(there, 1), (back, 1)])

    for epsilon in (0.05, 0.4, 1.2, 2.0):
        assert bound.delta(epsilon) >= divergence(first, second, epsilon)


def test_profiles_straight_at_equal_probabilities_are_connected() -> None:
    # No outcome is as likely under both, and so no mass at E = 1 is left for rounding.
    first, second = np.array([0.7, 0.2, 0.1]), np.array([0.3, 0.1, 0.6])
    nodes = np.unique(np.append(np.abs(np.log(first / second)), [0.0, 0.01, 0.3]))
    there, back = connected(first, second, nodes), connected(second, first, nodes)

    bound = composed([(there, 1), (back, 1)])

    both = np.outer(first, second).ravel(), np.outer(second, first).ravel()
    for epsilon in (0.1, 0.5, 1.0, 1.9):
        exact = divergence(*both, epsilon)
        assert exact <= bound.delta(epsilon) <= 1.02 * exact + 1e-9


@pytest.mark.parametrize("margin", [1e-12, 1e-3, 0.1])
def test_margins_of_the_total_variation_keep_no_pair_from_being_connected(
    margin: float,
) -> None:
    nodes = np.array([0.0, 0.3, 1.0, 1.7])
    profiles = np.array(
        [
            [divergence(*pair, node) for node in nodes.tolist()]
            for pair in ((FIRST, SECOND), (SECOND, FIRST))
        ]
    )
    profiles[:, 0] *= 1.0 + margin

    found = connect_directions(nodes, *profiles, least_mass=1e-290)

    assert found is not None
    for epsilon in (0.0, 0.1, 0.3, 0.7, 1.0, 1.4):
        connected_delta = float(
            found.masses @ np.maximum(np.exp(found.losses) - math.exp(epsilon), 0.0)
        )
        exact = divergence(FIRST, SECOND, epsilon)
        assert exact <= (connected_delta + found.infinite) * (1.0 + 1e-14)


def test_total_variations_are_no_larger_than_a_budget_permits() -> None:
    nodes = np.array([0.0, 0.1])

    # To fall so steeply on both sides takes more probability than there is.
    found = connect_directions(nodes, *np.array([[0.9, 0.0]] * 2), least_mass=1e-290)

    # What is left are the two outcomes of binary randomized response.
    assert found is not None
    total = float(found.masses @ np.maximum(np.expm1(found.losses), 0.0))
    assert math.tanh(0.05) <= total * (1.0 + 1e-14) <= math.tanh(0.05) * (1.0 + 1e-10)


def test_one_more_person_does_not_raise_a_certificate() -> None:
    device = UnaryEncoding(6, "optimized")

    (fewer,), (more,) = (
        TargetUsers(
            device, Population.from_counts({0.0141: 2, 3.52: people}), [0]
        ).epsilons_at(8e-9)
        for people in (104, 105)
    )

    # Of 105 the profile is straight at E = 1: as if directions were one, 0.0139934.
    assert more.upper[0] <= fewer.upper[0]


@pytest.mark.parametrize(("others", "level"), [(1, 1.0), (3, 2.5), (4, 5.0)])
def test_no_data_exceed_the_certificate(others: int, level: float) -> None:
    device = UnaryEncoding(3, "optimized")
    people = Population.from_counts({level: others + 1})
    chances = device.drawn(np.array([level]))
    one, zero = 1.0 - float(chances.lost[0]), float(chances.stray[0])

    for epsilon in (0.05, 0.2 * level, 0.6 * level):
        (answer,) = account(device, people, epsilon=epsilon).levels

        for data in itertools.combinations_with_replacement(range(3), others):
            here, there = (
                tuple(one if value == bit else zero for value in data) for bit in (0, 1)
            )
            first = np.multiply.outer(bits(here, one), bits(there, zero))
            second = np.multiply.outer(bits(here, zero), bits(there, one))
            assert divergence(first, second, epsilon) <= answer.delta_central


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "people", "most"),
    [(4.0, 10_000, 0.19448), (12.0, 100_000, 2.51353)],
)
def test_bits_that_turn_on_are_composed_apart_from_those_that_turn_off(
    level: float, people: int, most: float
) -> None:
    crowd = Population.from_counts({level: people})

    (answer,) = account(UnaryEncoding(6, "optimized"), crowd, delta=1e-6).levels

    # As if every bit showed either, 0.19771 and 2.9625.
    assert answer.epsilon_central_lower <= answer.epsilon_central <= most


@pytest.mark.slow
def test_pairs_that_every_shuffle_may_show_are_not_taken_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowd = Population.from_counts({5.0: 20})
    device, covers = UnaryEncoding(6, "optimized"), UnaryEncoding.covers
    (half,) = account(device, crowd, epsilon=0.8).levels

    def of_any_shuffle(*arguments: Any, **named: Any) -> list[tuple[Cover, ...]]:
        return [
            tuple(replace(cover, shuffles=None) for cover in pairs)
            for pairs in covers(*arguments, **named)
        ]

    monkeypatch.setattr(UnaryEncoding, "covers", of_any_shuffle)
    (either,) = account(device, crowd, epsilon=0.8).levels

    # Both shuffles may show the direction that tells more.
    assert either.delta_central > 1.001 * half.delta_central
