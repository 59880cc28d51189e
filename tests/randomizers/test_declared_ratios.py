import itertools
import math

import numpy as np
import pytest
from oracles.shuffled import divergence, shuffled, with_victim

from shuffledp import InvalidInputError, Population, account
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp.randomizers.declared_ratios import DeclaredRatios
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats

# p = 3, beta = 1/4, q = 2.
TARGET_USER = np.array([[3.0, 1.0, 4.0, 0.0], [1.0, 3.0, 4.0, 0.0]]) / 8.0
OTHER = np.array([3.0, 3.0, 4.0, 6.0]) / 16.0
BUDGET = math.log(3.0)


def certified(device: DeclaredRatios, num_users: int, epsilon: float) -> float:
    people = Population.from_counts({BUDGET: num_users})
    (answer,) = account(SingleMessage(device), people, epsilon=epsilon).levels
    assert answer.delta_central_lower == 0.0
    return answer.delta_central


def exact_divergence(num_users: int, epsilon: float) -> float:
    others = shuffled([OTHER] * (num_users - 1))
    here, there = (with_victim(others, chances) for chances in TARGET_USER)
    return divergence(here, there, epsilon)


@pytest.mark.parametrize(("num_users", "exact"), [(2, 9.0 / 128.0), (6, 0.00750)])
def test_certificate_is_attained_by_the_worst_mechanism_with_these_ratios(
    num_users: int, exact: float
) -> None:
    epsilon = math.log(2.0)
    # The hand calculation has three digits at six people.
    assert exact_divergence(num_users, epsilon) == pytest.approx(exact, rel=1e-3)

    delta = certified(DeclaredRatios(q=2.0, beta=0.25), num_users, epsilon)

    worst = exact_divergence(num_users, epsilon)
    assert worst * (1.0 - 1e-12) <= delta <= worst * (1.0 + 1e-5)  # six digits
    # What the variation ratio publishes for two people is not a bound.
    assert num_users > 2 or delta > 2.9 * 3.0 / 128.0


@pytest.mark.parametrize("num_users", [2, 3, 4, 5])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6, 0.9])
def test_no_divergence_exceeds_the_certificate(num_users: int, share: float) -> None:
    exact = exact_divergence(num_users, share * BUDGET)

    delta = certified(DeclaredRatios(q=2.0, beta=0.25), num_users, share * BUDGET)

    assert exact * (1.0 - 1e-12) <= delta


def random_mechanism(rng: np.random.Generator, messages: int) -> tuple[Floats, Floats]:
    """What a victim sends on two values, and what others send on two."""
    rows = rng.dirichlet(np.ones(messages), 4) + 0.05
    rows /= rows.sum(axis=1, keepdims=True)
    return rows[:2], rows[2:]


@pytest.mark.few_cases(12)
@pytest.mark.parametrize("seed", range(25))
def test_measured_ratios_of_any_mechanism_give_a_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    victim, others = random_mechanism(rng, messages=4)
    budget = float(np.abs(np.log(victim[0] / victim[1])).max())
    beta = float(np.abs(victim[0] - victim[1]).sum()) / 2.0
    q = float(max((a / b).max() for a, b in itertools.product(victim, others)))
    # Budgets are rounded up a hair, so that the measured ratio is kept.
    level = budget * (1.0 + 1e-12)
    people = Population.from_counts({level: 4})

    for epsilon in (0.0, 0.3 * level, 0.8 * level):
        (answer,) = account(
            SingleMessage(DeclaredRatios(q, beta)), people, epsilon=epsilon
        ).levels
        (loose,) = account(
            SingleMessage(DeclaredRatios(q)), people, epsilon=epsilon
        ).levels
        for first, second, third in itertools.product(others, repeat=3):
            rest = shuffled([first, second, third])
            worlds = [with_victim(rest, chances) for chances in victim]
            exact = divergence(worlds[0], worlds[1], epsilon)
            assert exact <= answer.delta_central * (1.0 + 1e-9) + 1e-15
        # The largest distance is not better than the measured one.
        assert answer.delta_central <= loose.delta_central * (1.0 + 1e-5)


@pytest.mark.parametrize("share", [0.0, 0.4, 0.999, 1.0, 1.3])
def test_local_delta_is_that_of_the_worst_mechanism(share: float) -> None:
    exact = divergence(TARGET_USER[0], TARGET_USER[1], share * BUDGET)

    local = DeclaredRatios(2.0, 0.25).local_delta(BUDGET, share * BUDGET)

    assert local == pytest.approx(exact, rel=1e-9, abs=1e-15)
    assert local >= exact - 1e-16


def test_binary_response_is_declared_as_well_as_known() -> None:
    # With two messages, q is the largest of all ratios between levels.
    people = Population.from_counts({1.0: 300})
    blankets = [
        upper_profiles(device, people, [0], delta=1e-6)[0].bounds["blanket"]
        for device in (KRandomizedResponse(2), DeclaredRatios(math.e))
    ]

    # The whole of the declaration is attained.
    assert blankets[0].delta(0.1) == pytest.approx(blankets[1].delta(0.1), rel=1e-5)


def test_that_there_are_two_messages_is_worth_knowing() -> None:
    people = Population.from_counts({1.0: 300})

    known, declared = (
        account(SingleMessage(device), people, epsilon=0.1).levels[0].delta_central
        for device in (KRandomizedResponse(2), DeclaredRatios(math.e))
    )

    assert known < 0.6 * declared


def test_no_distance_exceeds_what_the_budget_allows() -> None:
    people = Population.from_counts({1.0: 50})

    first, second = (
        account(SingleMessage(device), people, epsilon=0.1)
        for device in (DeclaredRatios(3.0, 1.0), DeclaredRatios(3.0))
    )

    assert first.levels == second.levels
    assert DeclaredRatios(3.0, 1.0).local_delta(1.0, 0.0) == pytest.approx(
        math.tanh(0.5), rel=1e-9
    )


@pytest.mark.parametrize("q", [0.99, 0.0, -1.0, math.nan, math.inf])
def test_ratios_below_one_are_refused(q: float) -> None:
    with pytest.raises(InvalidInputError, match="q"):
        DeclaredRatios(q)


@pytest.mark.parametrize("beta", [0.0, -0.1, 1.1, math.nan, math.inf])
def test_distances_that_make_no_sense_are_refused(beta: float) -> None:
    with pytest.raises(InvalidInputError, match="beta"):
        DeclaredRatios(2.0, beta)


def test_declaration_is_repeated_in_the_certificate() -> None:
    device = DeclaredRatios(7.25, 0.125)

    (assumption,) = device.assumptions

    assert "7.25" in assumption
    assert "0.125" in assumption
    assert device.parameters == {"q": 7.25, "beta": 0.125}
    assert DeclaredRatios(7.25).parameters == {"q": 7.25}
