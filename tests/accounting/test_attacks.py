import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from oracles import multiprecision as oracle

from shuffledp.accounting import attacks, coin_sum
from shuffledp.accounting.attacks import lower_bound
from shuffledp.cover import Attack, OneCountAttack, TwoCountAttack
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.types import Floats

# An attack gives away 1e-8 on purpose; the best threshold loses nothing else.
TIGHTNESS = 1 - mp.mpf("1e-4")


def exact_divergence(attack: Attack, coins: Floats, epsilon: float) -> oracle.Number:
    others = oracle.coin_sum([mp.mpf(float(p)) for p in coins])
    flip, gap = mp.mpf(attack.flip), mp.mpf(attack.gap)
    if isinstance(attack, TwoCountAttack):
        divergence = oracle.two_count_divergence
    else:
        divergence = oracle.one_count_divergence
    return divergence(others, flip=flip, gap=gap, epsilon=epsilon)


def attack_delta(attack: Attack, coins: Floats, epsilon: float) -> float:
    ordered, counts = np.unique(coins, return_counts=True)
    return lower_bound(attack, coin_sum.coin_sum(ordered, counts)).delta(epsilon)


def one_count_attack(budget: float, others: Floats, *, keeps: bool) -> OneCountAttack:
    attack = KRandomizedResponse(2).attacks(budget, others)[int(keeps)]
    assert isinstance(attack, OneCountAttack)
    return attack


def assert_just_below(attack: Attack, epsilon: float) -> None:
    """The two-count attack must not exceed its exact divergence, nor waste much of it."""
    coins = attacks.coin_probabilities(attack)

    lower = attack_delta(attack, coins, epsilon)

    exact = exact_divergence(attack, coins, epsilon)
    assert lower <= exact
    if exact > 1e-5:
        # Sums t of probability below 1e-6 of the largest are left out.
        assert lower >= exact * (1 - mp.mpf("1e-3"))


@pytest.mark.parametrize("num_categories", [3, 4, 17])
@pytest.mark.parametrize("budget", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5])
def test_two_count_attack_is_just_below_the_exact_divergence(
    num_categories: int, budget: float, share: float
) -> None:
    others = np.repeat([0.3, 1.0, 2.5], [25, 20, 15])
    (attack,) = KRandomizedResponse(num_categories).attacks(budget, others)

    assert_just_below(attack, share * budget)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("budget", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6, 0.8, 0.95])
def test_one_count_attack_is_just_below_the_exact_divergence(
    budget: float, share: float, *, keeps: bool
) -> None:
    others = np.repeat([0.3, 1.0, 2.5], [25, 20, 15])
    attack = one_count_attack(budget, others, keeps=keeps)

    lower = attack_delta(attack, attack.hit_probabilities, share * budget)

    exact = exact_divergence(attack, attack.hit_probabilities, share * budget)
    assert lower <= exact
    if exact > 1e-9:
        assert lower >= exact * TIGHTNESS


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.75, 0.8, 0.85, 0.9, 0.94, 0.98])
def test_one_count_attack_stays_below_far_out_in_the_tail(
    share: float, *, keeps: bool
) -> None:
    # Flips of 0.3: the tilted count is much narrower than the count itself.
    others = np.full(299, np.log(7.0 / 3.0))
    budget = float(others[0])
    attack = one_count_attack(budget, others, keeps=keeps)

    lower = attack_delta(attack, attack.hit_probabilities, share * budget)

    exact = exact_divergence(attack, attack.hit_probabilities, share * budget)
    assert lower <= exact


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 3.0, 3.5, 4.0])
def test_one_count_attack_stays_below_where_the_tilted_count_is_wide(
    epsilon: float,
) -> None:
    # Flips of 0.004: tilting makes the count up to eight times as wide.
    others = np.full(400, 5.5)
    attack = one_count_attack(5.5, others, keeps=False)

    lower = attack_delta(attack, attack.hit_probabilities, epsilon)

    exact = exact_divergence(attack, attack.hit_probabilities, epsilon)
    assert lower <= exact
    if exact > 1e-50:
        assert lower >= exact * TIGHTNESS


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("budget", [1.0, 3.0, 6.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_one_count_attack_stays_below_with_a_hundred_distinct_budgets(
    budget: float, share: float, *, keeps: bool
) -> None:
    # More distinct chances than groups, from 0.0025 to 0.43: the series is at work.
    others = np.sort(np.random.default_rng(0).uniform(0.3, 6.0, 100))
    attack = one_count_attack(budget, others, keeps=keeps)

    lower = attack_delta(attack, attack.hit_probabilities, share * budget)

    exact = exact_divergence(attack, attack.hit_probabilities, share * budget)
    assert lower <= exact


@pytest.mark.parametrize("budget", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_two_count_attack_stays_below_with_a_hundred_distinct_budgets(
    budget: float, share: float
) -> None:
    others = np.sort(np.random.default_rng(0).uniform(0.3, 6.0, 100))
    (attack,) = KRandomizedResponse(5).attacks(budget, others)

    assert_just_below(attack, share * budget)


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("block", [0.05, 0.2])
def test_wide_blocks_only_weaken_the_attack(
    monkeypatch: pytest.MonkeyPatch, epsilon: float, block: float
) -> None:
    others = np.full(300, 1.0)
    (attack,) = KRandomizedResponse(3).attacks(1.0, others)
    coins = attacks.coin_probabilities(attack)

    fine = attack_delta(attack, coins, epsilon)
    monkeypatch.setattr(attacks, "_BLOCK", block)
    coarse = attack_delta(attack, coins, epsilon)

    assert 0.0 < coarse < fine


def test_attack_beyond_the_local_budget_finds_nothing() -> None:
    others = np.full(20, 1.0)

    for num_categories in (2, 3):
        for attack in KRandomizedResponse(num_categories).attacks(1.0, others):
            coins = attacks.coin_probabilities(attack)
            assert attack_delta(attack, coins, 1.001) == 0.0


def test_attack_on_a_victim_who_is_alone_finds_her_local_privacy() -> None:
    nobody = coin_sum.coin_sum(np.array([0.3]), np.array([1])).without(0.3)
    attack = TwoCountAttack(np.array([0.15]), 0.2, 0.4)

    lower = lower_bound(attack, nobody).delta(0.5)

    exact = 0.6 - np.exp(0.5) * 0.2
    # 1e-8 is given away on purpose.
    assert exact * (1.0 - 1e-7) <= lower <= exact


@pytest.mark.parametrize("share", [0.8, 0.9, 0.99, 0.9999])
def test_two_count_attack_stays_below_where_rounding_is_magnified(share: float) -> None:
    # e^eps turns the last digit of a probability into the first one of delta.
    others = np.full(2, 32.0)
    (attack,) = KRandomizedResponse(3).attacks(32.0, others)
    coins = attacks.coin_probabilities(attack)

    lower = attack_delta(attack, coins, share * 32.0)

    exact = exact_divergence(attack, coins, share * 32.0)
    assert lower <= exact


@pytest.mark.parametrize("num_others", [10**6, 10**8, 10**9, 10**10])
@pytest.mark.parametrize("chance", [0.05, 0.3, 0.4999])
def test_one_count_attack_stays_below_the_closed_form_at_any_size(
    num_others: int, chance: float
) -> None:
    others = coin_sum.coin_sum(np.array([chance]), np.array([num_others]))

    lower = lower_bound(OneCountAttack(np.array([chance]), 0.1, 0.8), others).delta(0.0)

    # At epsilon 0 the divergence is gap times the largest single probability.
    n, p = mp.mpf(num_others), mp.mpf(chance)
    mode = mp.floor((n + 1) * p)
    with mp.workdps(60):
        log_weight = mp.loggamma(n + 1) - mp.loggamma(mode + 1)
        log_weight -= mp.loggamma(n - mode + 1)
        log_weight += mode * mp.log(p) + (n - mode) * mp.log(1 - p)
        exact = mp.mpf(0.8) * mp.exp(log_weight)
    assert exact * (1 - mp.mpf("1e-6")) <= lower <= exact


@pytest.mark.parametrize("num_others", [10**4, 10**6, 10**8, 10**10])
def test_weights_of_many_coins_are_as_accurate_as_they_say(num_others: int) -> None:
    coins = coin_sum.coin_sum(np.array([0.1]), np.array([num_others]))
    start, weights, error = coins.weights()

    n, p = mp.mpf(num_others), mp.mpf(0.1)
    center = int(num_others * 0.1) - start
    spread = int(math.sqrt(num_others * 0.09))
    for place in (center - 5 * spread, center - spread, center, center + 2 * spread):
        x = mp.mpf(start + place)
        with mp.workdps(60):
            log_weight = (
                mp.loggamma(n + 1) - mp.loggamma(x + 1) - mp.loggamma(n - x + 1)
            )
            exact = mp.exp(log_weight + x * mp.log(p) + (n - x) * mp.log(1 - p))
        assert abs(weights[place] - exact) <= error
    assert error <= 1e-8 * weights.max()
