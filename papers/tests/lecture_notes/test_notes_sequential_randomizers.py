"""Theorem 9.4: exact divergences of sequential randomizers."""

import itertools
import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.population import Population
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.feldman2021 import Feldman2021Numerical
from shuffledp_papers.lecture_notes.lower_bound import adaptive_tables
from shuffledp_papers.lecture_notes.sequential_randomizers import (
    condition_holds,
    exact_delta,
    printed_epsilon,
)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("budget", [0.5, 2.0])
def test_clones_bound_every_adaptive_protocol(seed: int, budget: float) -> None:
    rng, n = np.random.default_rng(seed), 4
    tables = adaptive_tables(n, budget, rng=rng)
    people = Setting(Population.from_counts({budget: n}))

    for others in ((0, 0, 0), (0, 1, 1)):
        for epsilon in (0.0, 0.4 * budget, 0.8 * budget):
            exact = exact_delta(tables, (*others, 0), (*others, 1), epsilon=epsilon)
            claimed = Feldman2021Numerical().delta(people, epsilon)

            assert 0.0 <= exact <= claimed * (1.0 + 1e-9) + 1e-15


def test_one_person_shows_her_budget() -> None:
    keep = 1.0 / (1.0 + math.exp(-1.0))
    table = np.array([[[keep, 1.0 - keep], [1.0 - keep, keep]]])

    found = exact_delta([table], (0,), (1,), epsilon=0.3)

    assert found == pytest.approx(keep - math.exp(0.3) * (1.0 - keep), rel=1e-12)


def test_divergences_of_two_users_by_hand() -> None:
    tables = adaptive_tables(2, 1.0, rng=np.random.default_rng(3))

    found = exact_delta(tables, (0, 1), (0, 0), epsilon=0.2)

    one_way, other_way = 0.0, 0.0
    for answers in itertools.product([0, 1], repeat=2):
        first = [tables[0][0, x, answers[0]] for x in (0, 1)]
        second = [tables[1][answers[0], x, answers[1]] for x in (0, 1)]
        differ = 0.5 * (first[0] * second[1] + first[1] * second[0])
        equal = first[0] * second[0]
        one_way += max(differ - math.exp(0.2) * equal, 0.0)
        other_way += max(equal - math.exp(0.2) * differ, 0.0)
    assert found == pytest.approx(max(one_way, other_way), rel=1e-12)


def test_the_rate_and_its_condition() -> None:
    rates = [printed_epsilon(10_000, budget, 1e-6) for budget in (0.5, 1.0, 3.0)]

    unit = math.sqrt(math.log(1e6) / 10_000)
    assert rates == pytest.approx([0.5 * unit, unit, math.exp(1.5) * unit])
    limit = math.log(10_000 / (16.0 * math.log(2e6)))
    assert condition_holds(10_000, limit - 1e-9, 1e-6)
    assert not condition_holds(10_000, limit + 1e-9, 1e-6)


def test_what_makes_no_sense_is_refused() -> None:
    tables = adaptive_tables(2, 1.0, rng=np.random.default_rng(3))

    with pytest.raises(InvalidInputError, match="Expected 2 values, got 3"):
        exact_delta(tables, (0, 1, 1), (0, 1, 0), epsilon=0.1)
    with pytest.raises(InvalidInputError, match="earlier answers"):
        exact_delta(tables[::-1], (0, 1), (0, 0), epsilon=0.1)
    with pytest.raises(InvalidInputError, match="differ in one person"):
        exact_delta(tables, (0, 1), (1, 0), epsilon=0.1)
