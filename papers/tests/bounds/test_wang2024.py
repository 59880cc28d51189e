import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.clone_counts import exact_divergence

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting, Status
from shuffledp_papers.bounds.wang2024 import Wang2024, variation_ratio_delta
from shuffledp_papers.outside_preconditions import OutsidePreconditions

BOUND = Wang2024()


def setting(budget: float, num_users: int, mechanism: Any = None) -> Setting:
    return Setting(sdp.Population.from_counts({budget: num_users}), mechanism)


def test_the_pinned_value_is_that_of_two_messages() -> None:
    generic = BOUND.epsilon(setting(1.0, 10**4), 1e-6)

    assert generic == pytest.approx(0.0432062, rel=1e-5)
    assert BOUND.epsilon(setting(1.0, 10**4, sdp.OneBit()), 1e-6) == generic


def shuffled_pair_divergence(ratio: Fraction) -> Fraction:
    """Two people, four messages: the victim's laws and the other's, all shuffled."""
    here, there = [Fraction(k, 8) for k in (3, 1, 4, 0)], [1, 3, 4, 0]
    other = [Fraction(k, 16) for k in (3, 3, 4, 6)]
    first: dict[tuple[int, ...], Fraction] = {}
    for i in range(4):
        for j in range(4):
            key = tuple(sorted((i, j)))
            excess = here[i] - ratio * Fraction(there[i], 8)
            first[key] = first.get(key, Fraction(0)) + excess * other[j]
    return sum((max(value, Fraction(0)) for value in first.values()), Fraction(0))


def test_the_smallest_counterexample() -> None:
    claimed = variation_ratio_delta(math.log(2), p=3.0, beta=0.25, q=2.0, num_users=2)

    assert claimed == pytest.approx(3 / 128, rel=1e-12)
    assert shuffled_pair_divergence(Fraction(2)) == Fraction(9, 128)
    assert BOUND.proven == Status.FALSE


@pytest.mark.parametrize(
    ("categories", "num_users", "epsilon", "claim"),
    [(10, 60, 3.6, 1.3106e-12), (100, 30, 2.0, 8.9002e-4)],
)
def test_k_ary_response_reaches_more_than_is_claimed(
    categories: int, num_users: int, epsilon: float, claim: float
) -> None:
    mechanism = sdp.KRandomizedResponse(categories)
    people = setting(4.0, num_users, mechanism)

    claimed = BOUND.delta(people, epsilon)

    assert claimed == pytest.approx(claim, rel=1e-4)
    reached = sdp.account(
        sdp.SingleMessage(mechanism), people.people, epsilon=epsilon
    ).levels[0]
    assert reached.delta_central_lower > claimed


@pytest.mark.parametrize("num_users", [1, 2, 3, 9])
@pytest.mark.parametrize("beta", [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)])
@pytest.mark.parametrize("q", [Fraction(2), Fraction(3)])
def test_the_reduction_is_the_enumerated_one(
    num_users: int, beta: Fraction, q: Fraction
) -> None:
    p, ratio = Fraction(3), Fraction(7, 4)
    alpha = beta / (p - 1)
    expected = exact_divergence(
        num_users, clone=2 * alpha * p / q, same=p * alpha, other=alpha, ratio=ratio
    )

    found = variation_ratio_delta(
        math.log(ratio), p=float(p), beta=float(beta), q=float(q), num_users=num_users
    )

    assert found == pytest.approx(float(expected), rel=1e-11)


def test_the_table_of_randomizers() -> None:
    laplace, kary = sdp.Laplace(), sdp.KRandomizedResponse(7)
    ratio = math.exp(1.5)

    for mechanism, beta in (
        (laplace, 1 - math.exp(-0.75)),
        (kary, (ratio - 1) / (ratio + 6)),
        (None, (ratio - 1) / (ratio + 1)),
    ):
        expected = variation_ratio_delta(
            0.2, p=ratio, beta=beta, q=ratio, num_users=500
        )
        found = BOUND.delta(setting(1.5, 500, mechanism), 0.2)
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    budget=st.floats(0.1, 3.0),
    num_users=st.integers(50, 20_000),
    categories=st.integers(2, 50),
    log_delta=st.floats(-250.0, -1.0),
)
def test_more_people_and_smaller_deltas(
    budget: float, num_users: int, categories: int, log_delta: float
) -> None:
    delta, mechanism = math.exp(log_delta), sdp.KRandomizedResponse(categories)
    epsilon = BOUND.epsilon(setting(budget, num_users, mechanism), delta)
    slack = 1.0 + 1e-9

    assert 0.0 <= epsilon <= budget
    assert (
        BOUND.epsilon(setting(budget, 2 * num_users, mechanism), delta)
        <= epsilon * slack
    )
    assert (
        epsilon
        <= BOUND.epsilon(setting(budget, num_users, mechanism), 0.5 * delta) * slack
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": 1.0}, "p > 1, got 1"),
        ({"p": math.nan}, "p > 1, got nan"),
        ({"beta": 0.6}, "got beta = 0.6 and p = 3"),
        ({"q": 0.5}, "q >= 1, got 0.5"),
        ({"q": 1.0, "beta": 0.5}, r"2 beta p <= \(p - 1\) q"),
    ],
)
def test_parameters_that_no_randomizer_has(
    change: dict[str, float], message: str
) -> None:
    parameters = {"p": 3.0, "beta": 0.25, "q": 2.0} | change

    with pytest.raises(OutsidePreconditions, match=message):
        variation_ratio_delta(0.1, num_users=10, **parameters)


@pytest.mark.parametrize("budget", [0.0, 1e-17, 1e-12, 30.0, 700.0])
def test_extreme_budgets_have_a_value(budget: float) -> None:
    assert 0.0 <= BOUND.epsilon(setting(budget, 1000), 1e-9) <= budget
