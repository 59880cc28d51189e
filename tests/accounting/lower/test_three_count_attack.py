"""The three-count attack against enumeration, and against the two-count attack."""

import itertools
import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.lower.three_count_attack import three_count_bound
from shuffledp.accounting.lower.two_count_attack import two_count_bound
from shuffledp.accounting.sums.bernoulli_sum import bernoulli_sum
from shuffledp.cover import TwoCountAttack


def attack_on(k: int, victim: float, crowd: sdp.Population) -> TwoCountAttack:
    (attacks,) = sdp.KRandomizedResponse(k).attacks([victim], crowd)
    found = attacks[0]
    assert isinstance(found, TwoCountAttack)
    return found


def enumerated(k: int, victim: float, others: list[float], epsilon: float) -> float:
    """The exact divergence of all shuffled messages, everybody else holding 2."""

    def response(level: float, value: int) -> list[float]:
        low = 1.0 / (math.exp(level) + k - 1)
        return [math.exp(level) * low if y == value else low for y in range(k)]

    worlds: list[dict[tuple[int, ...], float]] = []
    for value in (0, 1):
        rows = [response(victim, value)] + [response(level, 2) for level in others]
        chances: dict[tuple[int, ...], float] = {}
        for messages in itertools.product(range(k), repeat=len(rows)):
            counts = tuple(messages.count(y) for y in range(k))
            weight = math.prod(row[y] for row, y in zip(rows, messages, strict=True))
            chances[counts] = chances.get(counts, 0.0) + weight
        worlds.append(chances)
    scale = math.exp(epsilon)
    return sum(max(worlds[0][key] - scale * worlds[1][key], 0.0) for key in worlds[0])


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.8, 1.5])
@pytest.mark.parametrize("k", [4, 5])
def test_three_counts_are_all_there_is(k: int, epsilon: float) -> None:
    # Messages on none of x, x', z are exchangeable: their number says everything.
    crowd = sdp.Population.from_counts({1.0: 3, 2.0: 2})
    attack = attack_on(k, 2.0, crowd)
    assert attack.stray_probabilities is not None

    bound = three_count_bound(
        attack, attack.stray_probabilities, np.array([3, 1])
    ).delta(epsilon)

    exact = enumerated(k, 2.0, [1.0] * 3 + [2.0], epsilon)
    assert exact * (1 - 1e-6) - 1e-9 <= bound <= exact


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_a_third_count_never_tells_less(epsilon: float) -> None:
    crowd = sdp.Population.from_counts({1.0: 60, 3.0: 40})
    attack = attack_on(10, 3.0, crowd)
    assert attack.stray_probabilities is not None
    others = np.array([60, 39])

    two = two_count_bound(attack, bernoulli_sum(2 * attack.hit_probabilities, others))
    three = three_count_bound(attack, attack.stray_probabilities, others)

    assert two.delta(epsilon) * (1 - 1e-4) <= three.delta(epsilon)


def test_three_values_have_no_third_count() -> None:
    crowd = sdp.Population.from_counts({1.0: 10})

    assert attack_on(3, 1.0, crowd).stray_probabilities is None


def test_the_small_crowd_of_the_counterexample_is_nearly_tight() -> None:
    people = sdp.Population.from_counts({4.0: 30})

    (level,) = sdp.account(sdp.Frequency(100), people, epsilon=2.0).levels

    exact = 1.2126e-3  # By enumeration: examples/counterexample.py.
    assert level.delta_central_lower <= exact * 1.0001
    assert exact * 0.999 <= level.delta_central_lower
    assert exact <= level.delta_central <= exact * 1.01
