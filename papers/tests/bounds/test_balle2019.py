import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import shuffledp as sdp
from shuffledp_papers.bounds.balle2019 import (
    Balle2019Bennett,
    Balle2019Blanket,
    Balle2019Hoeffding,
    losses,
)
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.feldman2023 import Feldman2023Numerical
from shuffledp_papers.outside_preconditions import OutsidePreconditions

HOEFFDING, BENNETT, BLANKET = (
    Balle2019Hoeffding(),
    Balle2019Bennett(),
    Balle2019Blanket(),
)


def setting(budget: float, num_users: int, mechanism: Any = None) -> Setting:
    return Setting(sdp.Population.from_counts({budget: num_users}), mechanism)


@pytest.mark.parametrize(
    ("mechanism", "hoeffding", "bennett"),
    [
        (None, 0.1666, 0.1662),
        (sdp.Laplace(), 0.0540, 0.0450),
        (sdp.OneBit(), 0.0507, 0.0512),
        (sdp.KRandomizedResponse(2), 0.0507, 0.0512),
    ],
)
def test_the_pinned_values(mechanism: Any, hoeffding: float, bennett: float) -> None:
    people = setting(1.0, 10**4, mechanism)

    # Pinned to four decimals.
    assert HOEFFDING.epsilon(people, 1e-6) == pytest.approx(hoeffding, abs=6e-5)
    assert BENNETT.epsilon(people, 1e-6) == pytest.approx(bennett, abs=6e-5)


@pytest.mark.parametrize("categories", [2, 3, 12])
@pytest.mark.parametrize(("budget", "epsilon"), [(1.0, 0.2), (3.0, 1.5), (0.1, 0.05)])
def test_losses_of_k_ary_response(
    categories: int, budget: float, epsilon: float
) -> None:
    e0, ratio = math.exp(budget), math.exp(epsilon)
    weights = np.ones((2, categories))
    weights[0, 0] = weights[1, 1] = e0
    here, there = weights / (e0 + categories - 1)
    expected = categories * (here - ratio * there)

    loss = losses(setting(budget, 9, sdp.KRandomizedResponse(categories)), epsilon)

    assert loss.gamma == pytest.approx(categories * here.min())
    assert loss.largest == pytest.approx(expected.max())
    assert loss.length == pytest.approx(np.ptp(expected))
    assert loss.square == pytest.approx((expected**2).mean())


@pytest.mark.parametrize(("budget", "epsilon"), [(1.0, 0.2), (3.0, 1.5), (0.1, 0.05)])
def test_losses_of_laplace_noise(budget: float, epsilon: float) -> None:
    ratio = math.exp(epsilon)

    def density(y: float, value: float) -> float:
        return 0.5 * budget * math.exp(-budget * abs(y - value))

    # Values 0 and 1; the blanket is the smaller of the two densities of the ends.
    gamma = 2 * quad(lambda y: min(density(y, 0), density(y, 1)), 0.5, 500)[0]

    def loss_at(y: float) -> float:
        omega = min(density(y, 0), density(y, 1)) / gamma
        return (density(y, 0) - ratio * density(y, 1)) / omega

    def weighed(y: float) -> float:
        return loss_at(y) ** 2 * min(density(y, 0), density(y, 1)) / gamma

    parts = [(-400 / budget, 0), (0, 0.5), (0.5, 1), (1, 1 + 400 / budget)]
    square = sum(quad(weighed, *part, limit=200)[0] for part in parts)

    loss = losses(setting(budget, 9, sdp.Laplace()), epsilon)

    assert loss.gamma == pytest.approx(gamma, rel=1e-6)
    assert loss.largest == pytest.approx(loss_at(-1.0))
    assert loss.length == pytest.approx(loss_at(-1.0) - loss_at(2.0))
    assert loss.square == pytest.approx(square, rel=1e-6)


@pytest.mark.parametrize("mechanism", [sdp.OneBit(), sdp.KRandomizedResponse(5)])
def test_any_randomizer_allows_for_more_than_a_given_one(mechanism: Any) -> None:
    anyone, given = (losses(setting(1.0, 9, m), 0.3) for m in (None, mechanism))

    assert anyone.gamma <= given.gamma
    assert anyone.length >= given.length
    assert anyone.largest >= given.largest
    assert anyone.square >= given.square


@settings(max_examples=40, deadline=None)
@given(
    budget=st.floats(0.05, 4.0),
    share=st.floats(0.05, 0.95),
    categories=st.integers(2, 30),
    num_users=st.integers(10, 3000),
)
def test_inequalities_lie_above_the_blanket(
    budget: float, share: float, categories: int, num_users: int
) -> None:
    people = setting(budget, num_users, sdp.KRandomizedResponse(categories))

    blanket = BLANKET.delta(people, share * budget)

    # The blanket has one part in a billion of numerical caution.
    # Below this nothing is told apart.
    assert blanket <= max(HOEFFDING.delta(people, share * budget), 1e-300) * (
        1.0 + 1e-7
    )
    assert blanket <= max(BENNETT.delta(people, share * budget), 1e-300) * (1.0 + 1e-7)


@settings(max_examples=40, deadline=None)
@given(
    budget=st.floats(0.05, 1.0),
    num_users=st.integers(10, 10**6),
    log_delta=st.floats(-600.0, -1.0),
)
def test_more_people_and_larger_deltas_never_hurt(
    budget: float, num_users: int, log_delta: float
) -> None:
    delta, slack = math.exp(log_delta), 1.0 + 1e-9

    for bound in (HOEFFDING, BENNETT):
        people = setting(budget, num_users)
        epsilon = bound.epsilon(people, delta)
        assert 0.0 < epsilon <= budget
        assert bound.delta(people, epsilon) <= delta
        assert bound.epsilon(setting(budget, 2 * num_users), delta) <= epsilon * slack
        assert epsilon <= bound.epsilon(people, 0.5 * delta) * slack


@pytest.mark.parametrize("mechanism", [sdp.KRandomizedResponse(3), sdp.Laplace()])
def test_the_blanket_is_what_the_certificate_says(mechanism: Any) -> None:
    people = setting(1.0, 500, mechanism)

    epsilon = BLANKET.epsilon(people, 1e-6)

    protocol = sdp.SingleMessage(mechanism)
    certified = sdp.account(protocol, people.people, delta=1e-6).levels[0]
    # Six digits, rounded up.
    assert epsilon <= certified.epsilon_central <= epsilon * (1.0 + 1e-5)
    assert BLANKET.delta(people, epsilon) == pytest.approx(1e-6, rel=1e-4)


def test_the_blanket_of_two_messages_owes_nothing_to_our_own_theorem() -> None:
    people = setting(1.0, 500, sdp.OneBit())

    epsilon = BLANKET.epsilon(people, 1e-6)

    # An oracle without any blanket: the two counts of clones, which for binary response
    # are the same divergence.
    counts = Feldman2023Numerical().epsilon(people, 1e-6)
    assert epsilon == pytest.approx(counts, rel=1e-8)
    certified = sdp.account(sdp.OneBit(), people.people, delta=1e-6).levels[0]
    assert certified.rests_on == "two messages"
    assert certified.epsilon_central < 0.9 * epsilon


def test_bennett_without_the_correction_would_be_wrong() -> None:
    people = setting(1.0, 10**4, sdp.OneBit())
    attacked = sdp.account(
        sdp.SingleMessage(sdp.OneBit()), people.people, delta=1e-6
    ).levels[0]

    # The first version had another factor of about 1 / (a gamma n).
    rise = math.expm1(0.033) * losses(people, 0.033).gamma * 10**4

    assert BENNETT.delta(people, 0.033) / rise < 1e-6
    assert attacked.epsilon_central_lower > 0.035


def test_beyond_the_local_budget_delta_is_zero() -> None:
    for bound in (HOEFFDING, BENNETT, BLANKET):
        people = setting(1.0, 100, sdp.OneBit())
        assert bound.delta(people, 1.0) == 0.0
        assert 0.0 < bound.delta(people, 0.0) <= 1.0


@pytest.mark.parametrize("budget", [0.0, 1e-12, 1e-6, 30.0, 700.0])
@pytest.mark.parametrize(
    "mechanism", [None, sdp.OneBit(), sdp.Laplace(), sdp.KRandomizedResponse(9)]
)
def test_extreme_budgets_have_a_value(budget: float, mechanism: Any) -> None:
    for bound in (HOEFFDING, BENNETT):
        for num_users in (1, 1000):
            people = setting(budget, num_users, mechanism)
            assert 0.0 <= bound.epsilon(people, 1e-9) <= budget


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (setting(1.0, 10), "a given randomizer, got any"),
        (setting(1.0, 1, sdp.OneBit()), "at least 2 people"),
        (
            setting(1.0, 10, sdp.Gaussian(delta_local=1e-6)),
            "delta_local = 0, got 1e-06",
        ),
        (setting(1.0, 10, sdp.UnaryEncoding(8)), "one message per person"),
    ],
)
def test_outside_its_preconditions_it_says_nothing(
    people: Setting, message: str
) -> None:
    with pytest.raises(OutsidePreconditions, match=message):
        BLANKET.epsilon(people, 1e-6)
