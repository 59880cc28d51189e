import math
from fractions import Fraction

import pytest
from covering import covering
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.clone_counts import exact_divergence

import shuffledp as sdp
from shuffledp.accounting.upper_profiles import upper_profiles
from shuffledp_papers.bounds.bound import Setting, Status
from shuffledp_papers.bounds.feldman2021 import Feldman2021Numerical
from shuffledp_papers.bounds.feldman2023 import (
    Feldman2023Closed,
    Feldman2023Kary,
    Feldman2023Numerical,
)
from shuffledp_papers.eapes.slots import slot_divergence
from shuffledp_papers.outside_preconditions import OutsidePreconditions

CLOSED, NUMERICAL, KARY = (
    Feldman2023Closed(),
    Feldman2023Numerical(),
    Feldman2023Kary(),
)


def setting(budget: float, num_users: int, categories: int = 0) -> Setting:
    people = sdp.Population.from_counts({budget: num_users})
    mechanism = sdp.KRandomizedResponse(categories) if categories else None
    return Setting(people, mechanism)


PEOPLE = setting(1.0, 10**4)


def test_for_two_messages_it_is_the_privacy_blanket() -> None:
    (upper,) = upper_profiles(sdp.OneBit(), PEOPLE.people, [0], delta=1e-6)
    blanket = upper.bounds["blanket"]

    epsilon = NUMERICAL.epsilon(PEOPLE, 1e-6)

    assert epsilon == pytest.approx(0.0432062, rel=1e-5)
    assert blanket.delta(epsilon * (1.0 - 1e-5)) > 1e-6
    assert blanket.delta(epsilon * (1.0 + 1e-5)) <= 1e-6


@pytest.mark.parametrize("categories", [2, 4])
@pytest.mark.parametrize("num_users", [1, 2, 7])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(2), Fraction(9, 2)])
def test_the_reduction_is_the_enumerated_one(
    categories: int, num_users: int, ratio: Fraction
) -> None:
    p = Fraction(1, 5 + categories - 1)
    expected = exact_divergence(
        num_users, clone=2 * p, same=5 * p, other=p, ratio=ratio
    )

    found = KARY.delta(setting(math.log(5), num_users, categories), math.log(ratio))

    assert found == pytest.approx(float(expected), rel=1e-11, abs=1e-300)
    if categories == 2:
        two = NUMERICAL.delta(setting(math.log(5), num_users), math.log(ratio))
        assert two == pytest.approx(float(expected), rel=1e-11)


def test_k_ary_response_reaches_more_than_is_claimed() -> None:
    people = setting(4.0, 60, categories=10)

    claimed = KARY.delta(people, 3.6)

    assert claimed == pytest.approx(1.3e-12, rel=0.01)
    reached = sdp.account(sdp.Frequency(10), people.people, epsilon=3.6).levels[0]
    assert reached.delta_central_lower > 1e6 * claimed
    assert KARY.proven == Status.FALSE


@pytest.mark.parametrize(("budget", "num_users"), [(0.5, 1), (1.0, 7), (4.0, 60)])
def test_the_reduction_is_the_proven_bound_for_any_randomizer(
    budget: float, num_users: int
) -> None:
    assert NUMERICAL.proven == Status.PROVEN
    for share in (0.05, 0.3, 0.8):
        proven = slot_divergence({budget: num_users}, share * budget)

        found = NUMERICAL.delta(setting(budget, num_users), share * budget)

        # A sum over three outcomes of everybody, which loses digits to cancellation.
        assert found == pytest.approx(proven, rel=1e-9, abs=1e-15)


def test_the_closed_form_as_printed() -> None:
    spread = 4 * math.sqrt(2 * math.log(4e6)) / math.sqrt((math.e + 1) * 10**4)
    by_hand = math.log(1 + (math.e - 1) * (spread + 4 / 10**4))

    assert CLOSED.epsilon(PEOPLE, 1e-6) == pytest.approx(by_hand, rel=1e-12)
    assert CLOSED.delta(PEOPLE, by_hand) == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    budget=st.floats(0.1, 3.0),
    num_users=st.integers(50, 20_000),
    log_delta=st.floats(-250.0, -1.0),
)
def test_it_is_stronger_and_improves_with_more_people(
    budget: float, num_users: int, log_delta: float
) -> None:
    delta = math.exp(log_delta)
    people = setting(budget, num_users)
    epsilon = NUMERICAL.epsilon(people, delta)
    slack = 1.0 + 1e-9

    assert epsilon <= Feldman2021Numerical().epsilon(people, delta) * slack
    assert NUMERICAL.epsilon(setting(budget, 2 * num_users), delta) <= epsilon * slack
    assert epsilon <= NUMERICAL.epsilon(setting(1.1 * budget, num_users), delta) * slack
    assert epsilon <= NUMERICAL.epsilon(people, 0.5 * delta) * slack


@covering(("num_users", [10**3, 10**4, 10**6]), ("budget", [0.1, 1.0, 2.0]))
def test_the_closed_form_is_above_the_numerical_one(
    num_users: int, budget: float
) -> None:
    people = setting(budget, num_users)

    assert CLOSED.epsilon(people, 1e-4) >= NUMERICAL.epsilon(people, 1e-4)


def test_outside_its_preconditions_it_says_nothing() -> None:
    with pytest.raises(OutsidePreconditions, match=r"e\^eps_0 <= n / \(8"):
        CLOSED.epsilon(setting(5.0, 10**4), 1e-6)
    with pytest.raises(OutsidePreconditions, match=r"k-ary.*got any randomizer"):
        KARY.delta(PEOPLE, 0.1)
    with pytest.raises(OutsidePreconditions, match=r"k-ary.*got laplace"):
        KARY.delta(Setting(PEOPLE.people, sdp.Laplace()), 0.1)


@pytest.mark.parametrize("budget", [0.0, 1e-12, 30.0, 700.0])
def test_extreme_budgets_have_a_value(budget: float) -> None:
    for bound, people in (
        (NUMERICAL, setting(budget, 1000)),
        (KARY, setting(budget, 1000, 5)),
    ):
        assert 0.0 <= bound.epsilon(people, 1e-9) <= budget
