import math
from fractions import Fraction

import pytest
from covering import covering
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.clone_counts import exact_divergence, summed_divergence

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.feldman2021 import (
    Feldman2021Closed,
    Feldman2021Numerical,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions

CLOSED, NUMERICAL = Feldman2021Closed(), Feldman2021Numerical()


def setting(budget: float, num_users: int) -> Setting:
    return Setting(sdp.Population.from_counts({budget: num_users}))


PEOPLE = setting(1.0, 10**4)


def test_the_pinned_values() -> None:
    program = Feldman2021Closed(as_printed=False)

    assert NUMERICAL.epsilon(PEOPLE, 1e-6) == pytest.approx(0.053005, rel=1e-5)
    assert program.epsilon(PEOPLE, 1e-6) == pytest.approx(0.2333, rel=3e-4)
    bracket = 8 * math.sqrt(math.e * math.log(4e6)) / 100 + 8 * math.e / 10**4
    by_hand = math.log(1 + (math.e - 1) / (math.e + 1) * bracket)
    assert CLOSED.epsilon(PEOPLE, 1e-6) == pytest.approx(by_hand, rel=1e-12)
    assert by_hand == pytest.approx(0.2140, rel=3e-4)


@pytest.mark.parametrize("num_users", [1, 2, 5, 12])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(3, 2), Fraction(5, 2)])
def test_the_reduction_is_the_enumerated_one(num_users: int, ratio: Fraction) -> None:
    expected = exact_divergence(
        num_users,
        clone=Fraction(1, 3),
        same=Fraction(3, 4),
        other=Fraction(1, 4),
        ratio=ratio,
    )

    found = NUMERICAL.delta(setting(math.log(3), num_users), math.log(ratio))

    assert found == pytest.approx(float(expected), rel=1e-11)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.9, 0.97])
def test_tiny_deltas_keep_their_digits(epsilon: float) -> None:
    half = math.exp(-1) / (1 + math.exp(-1))
    expected = summed_divergence(
        1500, clone=math.exp(-1), same=1 - half, other=half, epsilon=epsilon
    )

    found = NUMERICAL.delta(setting(1.0, 1500), epsilon)

    # Log-factorials of 1500 lose four digits in the sum over all counts.
    assert found == pytest.approx(expected, rel=1e-9)
    assert expected > 0.0


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    budget=st.floats(0.1, 3.0),
    num_users=st.integers(50, 20_000),
    log_delta=st.floats(-250.0, -1.0),
)
def test_more_people_and_smaller_budgets_never_hurt(
    budget: float, num_users: int, log_delta: float
) -> None:
    delta = math.exp(log_delta)
    epsilon = NUMERICAL.epsilon(setting(budget, num_users), delta)
    slack = 1.0 + 1e-9

    assert 0.0 <= epsilon <= budget
    assert NUMERICAL.delta(setting(budget, num_users), epsilon) <= delta
    assert NUMERICAL.epsilon(setting(budget, 2 * num_users), delta) <= epsilon * slack
    assert epsilon <= NUMERICAL.epsilon(setting(1.1 * budget, num_users), delta) * slack
    assert epsilon <= NUMERICAL.epsilon(setting(budget, num_users), 0.5 * delta) * slack


@covering(
    ("num_users", [2000, 10**4, 10**6]),
    ("budget", [0.1, 1.0, 2.0]),
    ("as_printed", [True, False]),
)
def test_the_closed_form_is_above_the_numerical_one(
    num_users: int, budget: float, as_printed: bool
) -> None:
    closed = Feldman2021Closed(as_printed=as_printed)
    people = setting(budget, num_users)

    assert closed.epsilon(people, 1e-4) >= NUMERICAL.epsilon(people, 1e-4)


def test_delta_of_the_closed_form_is_the_inverse() -> None:
    assert CLOSED.delta(PEOPLE, CLOSED.epsilon(PEOPLE, 1e-6)) == pytest.approx(
        1e-6, rel=1e-9
    )
    # Below 2 exp(-n / (16 e^eps_0)) it promises nothing, whatever the epsilon.
    least = 2.0 * math.exp(-(10**4) / (16.0 * math.e))
    assert CLOSED.delta(PEOPLE, 50.0) == pytest.approx(least, rel=1e-9)


def test_the_closed_form_may_exceed_the_local_budget() -> None:
    # The smallest crowd that the theorem speaks of.
    assert CLOSED.epsilon(setting(0.01, 236), 1e-6) > 0.01


def test_outside_its_preconditions_it_says_nothing() -> None:
    with pytest.raises(OutsidePreconditions, match=r"got 4\."):
        CLOSED.epsilon(setting(4.0, 10**4), 1e-6)
    with pytest.raises(OutsidePreconditions, match="an epsilon that the bound"):
        CLOSED.delta(PEOPLE, 1e-4)
    with pytest.raises(OutsidePreconditions, match="pure"):
        NUMERICAL.delta(Setting(PEOPLE.people, sdp.Gaussian(delta_local=1e-6)), 0.1)


@pytest.mark.parametrize("budget", [0.0, 1e-12, 30.0, 700.0])
def test_extreme_budgets_have_a_value(budget: float) -> None:
    epsilon = NUMERICAL.epsilon(setting(budget, 1000), 1e-9)

    assert 0.0 <= epsilon <= budget
