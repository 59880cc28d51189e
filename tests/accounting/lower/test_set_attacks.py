"""What attacks on favored sets reach, and that they stay below what is true."""

import numpy as np
import pytest

from shuffledp import Population, account
from shuffledp.accounting.lower.two_count_attack import two_count_bound
from shuffledp.accounting.sums.bernoulli_sum import bernoulli_sum
from shuffledp.cover import LocalRandomizer, TwoCountAttack
from shuffledp.randomizers.hadamard_response import HadamardResponse
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.randomizers.local_hashing import LocalHashing
from shuffledp.randomizers.subset_selection import SubsetSelection

TEN_THOUSAND_1 = {1.0: 10_000}
TEN_THOUSAND_2 = {2.0: 10_000}
LIBERAL = {1.0: 1, 8.0: 100_000}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("device", "crowd", "reached"),
    [
        (SubsetSelection(17, 4), TEN_THOUSAND_1, [0.0276]),
        (SubsetSelection(17, 4), TEN_THOUSAND_2, [0.0811]),
        (SubsetSelection(17, 4), LIBERAL, [0.21, 0.838]),
        # Most sets with x have a third value, too: then the others hold x.
        (SubsetSelection(17, 12), TEN_THOUSAND_2, [0.0469]),
        (SubsetSelection(3, 2), LIBERAL, [0.27, 0.515]),
        (HadamardResponse(2), LIBERAL, [0.22, 0.515]),
        (LocalHashing(17, 2), TEN_THOUSAND_2, [0.0587]),
        (LocalHashing(2, 3), TEN_THOUSAND_2, [0.0648]),
        # So few people that all of them may send what is frequent.
        (HadamardResponse(25), {4.066: 12, 4.671: 5}, [4.0, 4.6]),
        (KRandomizedResponse(4), {3.325: 38, 3.495: 53, 8.334: 27}, [3.3, 3.4, 3.4]),
    ],
)
def test_rare_messages_are_what_the_attack_looks_at(
    device: LocalRandomizer, crowd: dict[float, int], reached: list[float]
) -> None:
    delta = 1e-6 if max(crowd.values()) > 100 else 1e-7

    levels = account(device, Population.from_counts(crowd), delta=delta).levels

    for level, least in zip(levels, reached, strict=True):
        assert least <= level.epsilon_central_lower <= level.epsilon_central


def test_far_out_where_counts_say_nothing_their_difference_does() -> None:
    people = Population.from_counts({0.169: 85, 0.24: 14, 1.949: 20})

    level = account(KRandomizedResponse(23), people, delta=3.27e-30).levels[1]

    # What another sum shows, which reaches as far, is 0.081.
    assert 0.089 <= level.epsilon_central_lower <= level.epsilon_central


def test_counts_of_rare_messages_are_not_more_than_a_simulation_shows() -> None:
    device, people, epsilon = SubsetSelection(7, 3), 12, 0.2
    crowd = Population.from_counts({2.0: people})
    rng = np.random.default_rng(5)

    # All others hold 2; the victim holds 0 or 1.
    seen = np.zeros((2, people + 1, people + 1))
    for victim in (0, 1):
        values = np.full((100_000, people), 2)
        values[:, 0] = victim
        sets = device.randomize(values.ravel(), np.full(values.size, 2.0), rng=rng)
        has = [(sets == value).any(axis=1) for value in (0, 1, 2)]
        counts = [
            (has[value] & ~has[1 - value] & ~has[2]).reshape(values.shape).sum(axis=1)
            for value in (0, 1)
        ]
        np.add.at(seen[victim], tuple(counts), 1.0 / len(values))

    # It is at least what the best set of counts shows, within 5 standard errors of that:
    # one false alarm in 3 million.
    shown = float(np.maximum(seen[0] - np.exp(epsilon) * seen[1], 0.0).sum())
    error = 2.5 * np.sqrt((1.0 + np.exp(2.0 * epsilon)) / 100_000)
    (attacks,) = device.attacks([2.0], crowd)
    bounds = [
        two_count_bound(
            attack,
            bernoulli_sum(2.0 * attack.hit_probabilities, np.array([people - 1])),
        ).delta(epsilon)
        for attack in attacks
        if isinstance(attack, TwoCountAttack)
    ]
    assert len(bounds) == 2
    assert max(bounds) > 5.0 * error
    assert max(bounds) <= shown + error
    assert max(bounds) > 1.2 * min(bounds)
