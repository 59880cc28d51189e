"""Attacks against the law of all shuffled messages, at a handful of people."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.shuffled import divergence, shuffled, with_victim

from shuffledp.types import Floats
from shuffledp_papers.court.additive import additive_divergence
from shuffledp_papers.court.attacks import attack
from shuffledp_papers.court.count_attack import (
    binomial,
    count_divergence,
    number_inside,
    threshold_divergence,
)
from shuffledp_papers.court.enumeration import enumerated_divergence, response_worlds
from shuffledp_papers.court.item_attack import blanket_distribution, item_divergence
from shuffledp_papers.court.worlds import Worlds


def random_worlds(seed: int, *, cells: int, others: int) -> Worlds:
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(cells), 2 + min(others, 2))
    counts = np.array([others - others // 2, others // 2][: min(others, 2)])
    return Worlds(chances[0], chances[1], chances[2:], counts)


def brute_force(worlds: Worlds, epsilon: float) -> float:
    """The divergence of the shuffled messages, message by message."""
    people: list[Floats] = []
    for row, count in zip(worlds.others, worlds.counts.tolist(), strict=True):
        people += [row] * count
    rest = shuffled(people)
    first, second = (
        with_victim(rest, chances) for chances in (worlds.first, worlds.second)
    )
    return max(divergence(first, second, epsilon), divergence(second, first, epsilon))


cases = {
    "seed": st.integers(0, 10**6),
    "cells": st.integers(2, 4),
    "others": st.integers(0, 5),
    "epsilon": st.floats(0.0, 2.0),
}


@given(**cases)
@settings(max_examples=40, deadline=None)
def test_enumeration_is_the_divergence_of_the_shuffle(
    seed: int, cells: int, others: int, epsilon: float
) -> None:
    worlds = random_worlds(seed, cells=cells, others=others)

    found = enumerated_divergence(worlds, epsilon)

    assert found == pytest.approx(brute_force(worlds, epsilon), abs=1e-14)


@pytest.mark.slow
@given(**cases)
@settings(max_examples=40, deadline=None)
def test_no_attack_exceeds_the_divergence_of_the_shuffle(
    seed: int, cells: int, others: int, epsilon: float
) -> None:
    worlds = random_worlds(seed, cells=cells, others=others)
    exact = brute_force(worlds, epsilon)

    counted = threshold_divergence(worlds, epsilon)
    added = additive_divergence(worlds, epsilon)

    # Sums of a few terms, each rounded.
    assert counted <= exact + 1e-14
    assert added <= exact


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_two_messages_are_told_apart_by_counting(epsilon: float) -> None:
    worlds = random_worlds(7, cells=2, others=5)

    exact = brute_force(worlds, epsilon)

    assert threshold_divergence(worlds, epsilon) == pytest.approx(exact, rel=1e-12)
    # Rounding that is subtracted, 1e-11, and scores in steps.
    assert additive_divergence(worlds, epsilon) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.05, 0.4, 1.0])
def test_adding_is_all_there_is_to_learn_from_equal_others(epsilon: float) -> None:
    worlds = random_worlds(3, cells=3, others=6)
    same = Worlds(worlds.first, worlds.second, worlds.others[:1], np.array([6]))

    exact = brute_force(same, epsilon)

    # Rounding scores to 2000 steps moves few sums across 0.
    assert additive_divergence(same, epsilon) >= 0.999 * exact


def test_counting_sums_over_everybody() -> None:
    chances = np.array([0.1, 0.5, 1.0])
    counts = np.array([2, 3, 2])

    start, law = number_inside(chances, counts)

    everybody = np.repeat(chances, counts)
    expected = np.zeros(8)
    for coins in itertools.product((0, 1), repeat=7):
        expected[sum(coins)] += np.where(coins, everybody, 1 - everybody).prod()
    assert start == 2
    np.testing.assert_allclose(law, expected[2:], atol=1e-15)


@pytest.mark.parametrize(
    ("trials", "chance"), [(10**6, 1e-7), (50_000, 0.3), (3, 1e-300)]
)
def test_a_binomial_in_a_window_has_its_moments(trials: int, chance: float) -> None:
    start, law = binomial(trials, chance)

    values = start + np.arange(law.size)
    mean = trials * chance
    assert law.sum() == pytest.approx(1.0, abs=1e-14)
    assert values @ law == pytest.approx(mean, rel=1e-11)
    assert (values - mean) ** 2 @ law == pytest.approx(mean * (1 - chance), rel=1e-9)


def test_messages_that_nobody_else_sends_reveal_the_victim() -> None:
    found = count_divergence(0.25, 0.0, np.zeros(1), np.array([10**6]), epsilon=5.0)

    assert found == pytest.approx(0.25, rel=1e-12)


def test_response_worlds_are_those_of_all_categories() -> None:
    budgets, k = np.array([0.7, 0.7, 1.5]), 5
    worlds = response_worlds(k, budgets, 1.1, others_hold=2)

    def row(budget: float, held: int) -> Floats:
        chances = np.ones(k)
        chances[held] = math.exp(budget)
        chances /= chances.sum()
        return chances

    full = Worlds(
        row(1.1, 0),
        row(1.1, 1),
        np.array([row(0.7, 2), row(1.5, 2)]),
        np.array([2, 1]),
    )
    # Categories that nobody holds need not be told apart.
    assert enumerated_divergence(worlds, 0.5) == pytest.approx(
        brute_force(full, 0.5), rel=1e-12
    )
    assert attack(full, 0.5) <= brute_force(full, 0.5) + 1e-14


ItemLaw = dict[tuple[int, ...], float]


def item_law(items: int, blankets: int, held: tuple[int, ...], others: int) -> ItemLaw:
    """The law of all counts; `others` people send the last item, or not."""
    law: ItemLaw = {}
    for cells in itertools.product(range(items), repeat=blankets):
        for sent in itertools.product((0, 1), repeat=len(held) + others):
            counts = [cells.count(cell) for cell in range(items)]
            holders = [*held, *[items - 1] * others]
            for item, used in zip(holders, sent, strict=True):
                counts[item] += used
            chance = (
                items**-blankets * 0.6 ** sum(sent) * 0.4 ** (len(sent) - sum(sent))
            )
            law[tuple(counts)] = law.get(tuple(counts), 0.0) + chance
    return law


def between(here: ItemLaw, there: ItemLaw, epsilon: float) -> float:
    excess = (p - math.exp(epsilon) * there.get(key, 0.0) for key, p in here.items())
    return sum(max(value, 0.0) for value in excess)


def found_items(
    num_users: int, items: int, held: int, others: int, epsilon: float
) -> float:
    return item_divergence(
        num_users=num_users,
        num_items=items,
        blanket_messages=1,
        items_per_user=held,
        sampling_rate=0.6,
        epsilon=epsilon,
        other_rates=np.array([0.6]) if others else None,
        other_counts=np.array([others]) if others else None,
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.2])
@pytest.mark.parametrize("others", [0, 2])
def test_one_item_is_told_apart_by_two_counts_and_the_total(
    others: int, epsilon: float
) -> None:
    here, there = (item_law(4, 4, (item,), others) for item in (0, 1))

    exact = between(here, there, epsilon)
    found = found_items(4, 4, 1, others, epsilon)

    if others == 0:
        assert found == pytest.approx(exact, rel=1e-10)
    # Other counts hint at how many of the others sent something.
    assert 0.8 * exact <= found <= exact + 1e-14


def test_sets_of_items_are_told_apart_at_least_by_their_totals() -> None:
    here, there = (item_law(5, 4, held, 0) for held in ((0, 1), (2, 3)))

    exact = between(here, there, 0.5)

    assert 0.7 * exact <= found_items(4, 5, 2, 0, 0.5) <= exact + 1e-14


def test_blanket_messages_follow_a_trinomial_law() -> None:
    law = blanket_distribution(3, 0.25, 1)

    for a, b in itertools.product(range(4), repeat=2):
        rest = 3 - a - b
        expected = 0.0
        if rest >= 0:
            ways = math.factorial(3) / math.prod(map(math.factorial, (a, b, rest)))
            expected = ways * 0.25 ** (a + b) * 0.5**rest
        assert law[a + 1, b + 1] == pytest.approx(expected, abs=1e-15)
    assert law[0].sum() == law[:, 0].sum() == 0.0


def test_worlds_are_checked() -> None:
    half = np.array([0.5, 0.5])
    with pytest.raises(ValueError, match="add up to 1"):
        Worlds(half, 2 * half, half[None, :], np.array([3]))
    with pytest.raises(ValueError, match="one count for each group"):
        Worlds(half, half, half[None, :], np.array([3, 4]))
    many = Worlds(half, half, half[None, :], np.array([4_000_000]))
    with pytest.raises(ValueError, match="fewer people"):
        enumerated_divergence(many, 0.1)
