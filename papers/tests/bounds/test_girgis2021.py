import math
from collections.abc import Callable

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp_papers.bounds.bound import PublishedBound, Setting
from shuffledp_papers.bounds.girgis2021 import (
    Girgis2021Closed,
    Girgis2021Sum,
    closed_log_moment,
    sum_log_moment,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions

SUM, CLOSED = Girgis2021Sum(), Girgis2021Closed()


def setting(budget: float, num_users: int) -> Setting:
    return Setting(sdp.Population.from_counts({budget: num_users}))


def exact_sum(budget: float, num_users: int, order: int) -> float:
    """Theorem 1 in 50 digits, term by term."""
    with mpmath.workdps(50):
        e0 = mpmath.exp(mpmath.mpf(budget))
        m = mpmath.floor((num_users - 1) / (2 * e0)) + 1
        moment = 1 + mpmath.binomial(order, 2) * (e0 - 1) ** 2 / (m * e0)
        for i in range(3, order + 1):
            base = (e0**2 - 1) ** 2 / (2 * e0**2 * m)
            half = mpmath.mpf(i) / 2
            moment += mpmath.binomial(order, i) * i * mpmath.gamma(half) * base**half
        s = (e0**2 - 1) / e0
        few = mpmath.exp(-(num_users - 1) / (8 * e0))
        moment += ((1 + s) ** order - 1 - order * s) * few
        return float(mpmath.log(moment))


@pytest.mark.parametrize("order", [2, 3, 17, 200])
@pytest.mark.parametrize(("budget", "num_users"), [(1.0, 10**4), (0.1, 50), (3.0, 700)])
def test_the_sum_term_by_term(budget: float, num_users: int, order: int) -> None:
    found = sum_log_moment(setting(budget, num_users), order)

    # Log-factorials lose some digits; 1 + x loses those of a small x.
    expected = exact_sum(budget, num_users, order)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_small_budgets_keep_the_last_term() -> None:
    found = sum_log_moment(setting(1e-5, 2), 2)

    assert found >= exact_sum(1e-5, 2, 2)
    assert found == pytest.approx(exact_sum(1e-5, 2, 2), rel=1e-4)


def test_the_closed_form_as_printed() -> None:
    order, m = 30, math.floor(9999 / (2 * math.e)) + 1
    first = math.exp(order**2 * (math.e - 1) ** 2 / m)
    second = math.exp(order - 9999 / (8 * math.e))

    found = closed_log_moment(setting(1.0, 10**4), order)

    assert found == pytest.approx(math.log(first + second), rel=1e-12)


@pytest.mark.parametrize(
    ("bound", "log_moment"), [(SUM, sum_log_moment), (CLOSED, closed_log_moment)]
)
def test_the_best_order_is_found(
    bound: PublishedBound, log_moment: Callable[[Setting, int], float]
) -> None:
    people, delta = setting(1.0, 10**4), 1e-6

    def at(order: int) -> float:
        moment = log_moment(people, order) - math.log(order * delta)
        return moment / (order - 1) + math.log1p(-1 / order)

    best = min(at(order) for order in range(2, 600))

    # Not every order is tried.
    assert best <= bound.epsilon(people, delta) <= best * (1.0 + 1e-4)


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("bound", [SUM, CLOSED])
@pytest.mark.parametrize(
    ("budget", "num_users"), [(0.5, 500), (1.0, 10**4), (3.0, 5000)]
)
def test_it_is_above_the_certificate(
    bound: PublishedBound, budget: float, num_users: int
) -> None:
    people = setting(budget, num_users)
    protocol = sdp.SingleMessage(sdp.OneBit())

    certified = sdp.account(protocol, people.people, delta=1e-6).levels[0]

    assert bound.epsilon(people, 1e-6) >= certified.epsilon_central


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    budget=st.floats(0.05, 3.0),
    num_users=st.integers(10, 10**5),
    log_delta=st.floats(-200.0, -1.0),
)
def test_more_people_and_larger_deltas_never_hurt(
    budget: float, num_users: int, log_delta: float
) -> None:
    # The largest order that is tried may differ a little from the best.
    delta, slack = math.exp(log_delta), 1.0 + 1e-3

    for bound in (SUM, CLOSED):
        people = setting(budget, num_users)
        epsilon = bound.epsilon(people, delta)
        assert epsilon >= 0.0
        assert bound.epsilon(setting(budget, 2 * num_users), delta) <= epsilon * slack
        assert epsilon <= bound.epsilon(setting(1.2 * budget, num_users), delta) * slack
        assert epsilon <= bound.epsilon(people, 0.5 * delta) * slack
        if epsilon > 0.0:
            # The orders tried for delta are not those tried for epsilon.
            assert math.log(bound.delta(people, epsilon)) <= 0.999 * log_delta


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("budget", [0.0, 1e-12, 30.0, 700.0])
def test_extreme_budgets_have_a_value(budget: float) -> None:
    for bound in (SUM, CLOSED):
        assert bound.epsilon(setting(budget, 1000), 1e-9) >= 0.0
        assert 0.0 <= bound.delta(setting(budget, 1000), 0.1) <= 1.0


def test_outside_its_preconditions_it_says_nothing() -> None:
    people = Setting(sdp.Population.from_counts({1.0: 10}), delta_local=1e-9)

    with pytest.raises(OutsidePreconditions, match="pure"):
        SUM.epsilon(people, 1e-6)
