"""The attack by scores where there are two: the adversary counts the messages on x."""

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from covering import covering
from oracles import multiprecision as oracle

from shuffledp import Population
from shuffledp.accounting.lower.score_attack import score_bound
from shuffledp.accounting.lower.score_sum import score_sum
from shuffledp.cover import ScoreAttack
from shuffledp.randomizers.kary_response import KRandomizedResponse

# An attack gives away 1e-10 on purpose; the best threshold loses nothing else.
TIGHTNESS = 1 - mp.mpf("1e-4")

CROWD = Population.from_counts({0.3: 25, 1.0: 20, 2.5: 15})
HUNDRED_BUDGETS = Population.from_budgets(
    np.random.default_rng(0).uniform(0.3, 6.0, 100)
)


def device_attack(budget: float, others: Population, *, keeps: bool) -> ScoreAttack:
    """The device's own attack, on others who all hold x, or its mirror image: x'."""
    _, attack = KRandomizedResponse(2).attacks([budget], others)[0]
    assert isinstance(attack, ScoreAttack)
    rows = attack.others if keeps else attack.others[:, ::-1]
    return ScoreAttack(rows.copy(), attack.second, attack.difference)


def attack_on(budget: float, others: Population, *, keeps: bool) -> ScoreAttack:
    """Messages on x score 1, and those on x' score 0; the others all hold x, or x'."""
    attack = device_attack(budget, others, keeps=keeps)
    hits, flip, gap = attack.others[:, 2], attack.second[2], attack.difference[2]
    return ScoreAttack(
        np.stack([1.0 - hits, hits], axis=1),
        np.array([1.0 - flip, flip]),
        np.array([-gap, gap]),
    )


def exact_divergence(
    attack: ScoreAttack, others: Population, epsilon: float
) -> oracle.Number:
    coins = np.repeat(attack.others[:, -1], others.counts)
    return oracle.one_count_divergence(
        oracle.bernoulli_sum([mp.mpf(float(p)) for p in coins]),
        flip=mp.mpf(float(attack.second[-1])),
        gap=mp.mpf(float(attack.difference[-1])),
        epsilon=epsilon,
    )


def attack_delta(attack: ScoreAttack, others: Population, epsilon: float) -> float:
    total = score_sum(attack.others, others.counts)
    return score_bound(attack, total).delta(epsilon)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("budget", [0.3, 1.0, 2.5])
def test_device_and_count_are_the_same_attack(budget: float, *, keeps: bool) -> None:
    counted = attack_on(budget, CROWD, keeps=keeps)

    device = KRandomizedResponse(2).densities(CROWD.epsilons)[int(not keeps)]

    # Half a unit in the last place: densities are quotients of doubles.
    assert counted.others[:, 1] == pytest.approx(device, rel=2.0**-52, abs=0.0)
    keep, flip = KRandomizedResponse(2).densities(np.array([budget]))
    assert counted.second[1] == pytest.approx(flip[0], rel=2.0**-52, abs=0.0)
    assert counted.difference[1] == pytest.approx(keep[0] - flip[0], rel=1e-15, abs=0.0)


@pytest.mark.few_cases(23)
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("budget", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6, 0.8, 0.95])
def test_attack_is_just_below_the_exact_divergence(
    budget: float, share: float, *, keeps: bool
) -> None:
    attack = attack_on(budget, CROWD, keeps=keeps)

    lower = attack_delta(attack, CROWD, share * budget)

    exact = exact_divergence(attack, CROWD, share * budget)
    assert lower <= exact
    if exact > 1e-9:
        assert lower >= exact * TIGHTNESS


@pytest.mark.few_cases(23)
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("budget", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6, 0.8, 0.95])
def test_difference_of_two_counts_is_as_good_as_one_count(
    budget: float, share: float, *, keeps: bool
) -> None:
    # Everybody sends x or x', so that either count tells the other.
    attack = device_attack(budget, CROWD, keeps=keeps)

    lower = attack_delta(attack, CROWD, share * budget)

    exact = exact_divergence(attack, CROWD, share * budget)
    assert lower <= exact
    if exact > 1e-9:
        assert lower >= exact * TIGHTNESS


@pytest.mark.few_cases(1)
@covering(
    ("keeps", [False, True]), ("share", [0.3, 0.6, 0.75, 0.8, 0.85, 0.9, 0.94, 0.98])
)
def test_attack_stays_below_far_out_in_the_tail(share: float, *, keeps: bool) -> None:
    # Flips of 0.3: the tilted count is much narrower than the count itself.
    budget = float(np.log(7.0 / 3.0))
    others = Population.from_counts({budget: 299})
    attack = attack_on(budget, others, keeps=keeps)

    lower = attack_delta(attack, others, share * budget)

    assert lower <= exact_divergence(attack, others, share * budget)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 2.0, 3.0, 3.5, 4.0])
def test_attack_stays_below_where_the_tilted_count_is_wide(epsilon: float) -> None:
    # Flips of 0.004: tilting makes the count up to eight times as wide.
    others = Population.from_counts({5.5: 400})
    attack = attack_on(5.5, others, keeps=False)

    lower = attack_delta(attack, others, epsilon)

    exact = exact_divergence(attack, others, epsilon)
    assert lower <= exact
    if exact > 1e-50:
        assert lower >= exact * TIGHTNESS


@pytest.mark.few_cases(7)
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("budget", [1.0, 3.0, 6.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_attack_stays_below_with_a_hundred_distinct_budgets(
    budget: float, share: float, *, keeps: bool
) -> None:
    # More distinct chances than groups, from 0.0025 to 0.43: moments are at work.
    attack = attack_on(budget, HUNDRED_BUDGETS, keeps=keeps)

    lower = attack_delta(attack, HUNDRED_BUDGETS, share * budget)

    assert lower <= exact_divergence(attack, HUNDRED_BUDGETS, share * budget)


@pytest.mark.parametrize("keeps", [False, True])
def test_attack_beyond_the_local_budget_finds_nothing(*, keeps: bool) -> None:
    others = Population.from_counts({1.0: 20})

    assert attack_delta(attack_on(1.0, others, keeps=keeps), others, 1.001) == 0.0


@pytest.mark.parametrize("num_others", [10**6, 10**8, 10**9, 10**10])
@pytest.mark.parametrize("chance", [0.05, 0.3, 0.4999])
def test_attack_stays_below_the_closed_form_at_any_size(
    num_others: int, chance: float
) -> None:
    attack = ScoreAttack(
        np.array([[1.0 - chance, chance]]), np.array([0.9, 0.1]), np.array([-0.8, 0.8])
    )

    lower = score_bound(attack, score_sum(attack.others, np.array([num_others])))

    # At epsilon 0 the divergence is gap times the largest single probability.
    n, p = mp.mpf(num_others), mp.mpf(chance)
    mode = mp.floor((n + 1) * p)
    with mp.workdps(60):
        log_weight = mp.loggamma(n + 1) - mp.loggamma(mode + 1)
        log_weight -= mp.loggamma(n - mode + 1)
        log_weight += mode * mp.log(p) + (n - mode) * mp.log(1 - p)
        exact = mp.mpf(0.8) * mp.exp(log_weight)
    assert exact * (1 - mp.mpf("1e-6")) <= lower.delta(0.0) <= exact
