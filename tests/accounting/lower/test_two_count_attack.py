import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from oracles import multiprecision as oracle

from shuffledp import Population
from shuffledp.accounting.lower import two_count_attack
from shuffledp.accounting.lower.two_count_attack import two_count_bound
from shuffledp.accounting.sums.bernoulli_sum import bernoulli_sum
from shuffledp.cover import TwoCountAttack
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.types import Floats

CROWD = Population.from_counts({0.3: 25, 1.0: 20, 2.5: 15})
HUNDRED_BUDGETS = Population.from_budgets(
    np.random.default_rng(0).uniform(0.3, 6.0, 100)
)


def attack_on(budget: float, others: Population, num_categories: int) -> TwoCountAttack:
    ((attack, *_),) = KRandomizedResponse(num_categories).attacks([budget], others)
    assert isinstance(attack, TwoCountAttack)
    return attack


def coins_of(attack: TwoCountAttack, others: Population) -> Floats:
    """One chance per person to send x or x'."""
    coins: Floats = np.repeat(2.0 * attack.hit_probabilities, others.counts)
    return coins


def exact_divergence(
    attack: TwoCountAttack, coins: Floats, epsilon: float
) -> oracle.Number:
    others = oracle.bernoulli_sum([mp.mpf(float(p)) for p in coins])
    flip, gap = mp.mpf(attack.flip), mp.mpf(attack.gap)
    return oracle.two_count_divergence(others, flip=flip, gap=gap, epsilon=epsilon)


def attack_delta(attack: TwoCountAttack, coins: Floats, epsilon: float) -> float:
    ordered, counts = np.unique(coins, return_counts=True)
    return two_count_bound(attack, bernoulli_sum(ordered, counts)).delta(epsilon)


def assert_just_below(attack: TwoCountAttack, coins: Floats, epsilon: float) -> None:
    """The attack must not exceed its exact divergence, nor waste much of it."""
    lower = attack_delta(attack, coins, epsilon)

    exact = exact_divergence(attack, coins, epsilon)
    assert lower <= exact
    if exact > 1e-5:
        # Sums t of probability below 1e-6 of the largest are left out.
        assert lower >= exact * (1 - mp.mpf("1e-3"))


@pytest.mark.few_cases(3)
@covering(
    ("num_categories", [3, 4, 17]),
    ("budget", [0.3, 1.0, 2.5]),
    ("share", [0.0, 0.1, 0.3, 0.5]),
)
def test_attack_is_just_below_the_exact_divergence(
    num_categories: int, budget: float, share: float
) -> None:
    attack = attack_on(budget, CROWD, num_categories)

    assert_just_below(attack, coins_of(attack, CROWD), share * budget)


@pytest.mark.few_cases(1)
@covering(("budget", [0.5, 2.0, 6.0]), ("share", [0.0, 0.1, 0.3]))
def test_attack_stays_below_with_a_hundred_distinct_budgets(
    budget: float, share: float
) -> None:
    attack = attack_on(budget, HUNDRED_BUDGETS, 5)

    assert_just_below(attack, coins_of(attack, HUNDRED_BUDGETS), share * budget)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("block", [0.05, 0.2])
def test_wide_blocks_only_weaken_the_attack(
    monkeypatch: pytest.MonkeyPatch, epsilon: float, block: float
) -> None:
    others = Population.from_counts({1.0: 300})
    attack = attack_on(1.0, others, 3)
    coins = coins_of(attack, others)

    fine = attack_delta(attack, coins, epsilon)
    monkeypatch.setattr(two_count_attack, "_BLOCK", block)
    coarse = attack_delta(attack, coins, epsilon)

    assert 0.0 < coarse < fine


def test_attack_beyond_the_local_budget_finds_nothing() -> None:
    others = Population.from_counts({1.0: 20})
    attack = attack_on(1.0, others, 3)

    assert attack_delta(attack, coins_of(attack, others), 1.001) == 0.0


def test_attack_on_a_victim_who_is_alone_finds_her_local_privacy() -> None:
    nobody = bernoulli_sum(np.array([0.3]), np.array([1])).without(0.3)
    attack = TwoCountAttack(np.array([0.15]), 0.2, 0.4)

    lower = two_count_bound(attack, nobody).delta(0.5)

    exact = 0.6 - np.exp(0.5) * 0.2
    # 1e-8 is given away on purpose.
    assert exact * (1.0 - 1e-7) <= lower <= exact


@pytest.mark.parametrize("share", [0.8, 0.9, 0.99, 0.9999])
def test_attack_stays_below_where_rounding_is_magnified(share: float) -> None:
    # e^eps turns the last digit of a probability into the first one of delta.
    others = Population.from_counts({32.0: 2})
    attack = attack_on(32.0, others, 3)
    coins = coins_of(attack, others)

    lower = attack_delta(attack, coins, share * 32.0)

    assert lower <= exact_divergence(attack, coins, share * 32.0)
