import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.eapes.eapes_theorem import (
    EapesCorollary,
    EapesTheorem,
    gdp_parameter,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions

PRINTED, REPAIRED, PURE = (
    EapesTheorem(),
    EapesTheorem(as_printed=False),
    EapesCorollary(),
)


def crowd(counts: dict[float, int], **more: Any) -> Setting:
    return Setting(sdp.Population.from_counts(counts), **more)


def test_mu_is_that_of_corollary_1() -> None:
    setting = crowd({0.1: 5, 0.5: 3, 1.0: 2})
    # The victim is one of the two at 1.
    total = 5 / (1 + math.exp(0.1)) + 3 / (1 + math.exp(0.5)) + 1 / (1 + math.e)

    assert gdp_parameter(setting) == pytest.approx(math.sqrt(2 / total))
    assert gdp_parameter(crowd({700.0: 9})) == pytest.approx(
        math.sqrt(2 / 8) * math.exp(350)
    )


def test_the_theorem_is_false_where_randomizers_may_fail() -> None:
    budgets = 0.05 + 0.95 * (np.arange(10_000) + 0.5) / 10_000
    setting = Setting(sdp.Population.from_budgets(budgets), delta_local=1e-5)
    failing = crowd({0.5: 10**6}, delta_local=0.5)

    # True is 1e-5, whatever epsilon: a failure reveals the victim.
    assert PRINTED.delta(setting, 0.2) == pytest.approx(7.6e-21, rel=5e-3)
    assert REPAIRED.delta(setting, 0.2) >= 1e-5
    # As printed, it improves with delta_i, though half of the victims are revealed.
    assert PRINTED.delta(failing, 0.0) < 1e-3
    assert REPAIRED.delta(failing, 5.0) >= 0.5


def test_what_corollary_2_states_of_binary_response() -> None:
    setting, few = crowd({5.0: 2000}), crowd({4.0: 500})

    assert PURE.epsilon(setting, 1e-7) == pytest.approx(1.8857, abs=6e-5)
    assert PURE.delta(setting, 2.5) == pytest.approx(9.9e-12, rel=5e-3)
    assert PURE.epsilon(few, 1e-5) == pytest.approx(1.869, abs=6e-4)
    assert PURE.epsilon(crowd({4.0: 2000}), 1e-10) == pytest.approx(1.40, abs=6e-3)
    assert PURE.epsilon(few, 1e-10) == pytest.approx(2.92, abs=6e-3)


@pytest.mark.parametrize(
    ("epsilon", "claim", "true"), [(0.30, 7.6e-16, 3.1e-3), (0.45, 1.0e-30, 4.6e-4)]
)
def test_what_corollary_1_states_of_a_conservative_person(
    epsilon: float, claim: float, true: float
) -> None:
    setting = crowd({0.5: 1, 2.0: 9999}, mechanism=sdp.Laplace(), target_user=0.5)

    assert PURE.delta(setting, epsilon) == pytest.approx(claim, rel=0.04)

    protocol = sdp.SingleMessage(sdp.Laplace())
    exact = sdp.account(protocol, setting.people, epsilon=epsilon, levels=[0.5])
    # The values pinned are another attack's.
    assert exact.levels[0].delta_central_lower > 0.5 * true


def test_what_theorem_3_states_of_a_conservative_person_with_gaussian_noise() -> None:
    setting = crowd({0.5: 1, 2.0: 59_999}, target_user=0.5, delta_local=1e-5)

    assert PRINTED.epsilon(setting, 1e-8) == pytest.approx(0.0759, abs=6e-5)


@pytest.mark.parametrize("as_printed", [True, False])
@given(
    st.floats(0.0, 2.0), st.floats(0.0, 0.3), st.floats(0.0, 1.0), st.integers(5, 500)
)
@settings(max_examples=40, deadline=None)
def test_delta_is_the_distance_from_the_trade_off(
    as_printed: bool, epsilon: float, marked: float, constant: float, people: int
) -> None:
    setting = crowd({1.0: people}, delta_local=marked)
    mu = gdp_parameter(setting, delta_local=marked)
    gap = constant / math.sqrt(people - 1)
    alpha = np.linspace(0.0, 1.0, 20_001)
    hidden = norm.cdf(norm.isf(np.minimum(alpha + gap, 1.0)) - mu) - gap
    if as_printed:
        beta = marked * (1 - alpha) + (1 - marked) * hidden
        expected = (1 - math.exp(epsilon) * alpha - beta).max()
    else:
        inner = (1 - math.exp(epsilon) * alpha - hidden).max()
        expected = marked + (1 - marked) * inner

    bound = EapesTheorem(constant=constant, as_printed=as_printed)

    # A grid finds the largest value up to its spacing.
    found = bound.delta(setting, epsilon)
    assert found == pytest.approx(min(expected, 1.0), abs=1e-4)
    assert found >= min(expected, 1.0) - 1e-12


@given(st.floats(0.1, 3.0), st.integers(50, 10**6), st.floats(1e-12, 1e-2))
@settings(max_examples=40, deadline=None)
def test_epsilon_falls_with_delta_and_people_and_inverts(
    budget: float, people: int, delta: float
) -> None:
    setting = crowd({budget: people})

    epsilon = PURE.epsilon(setting, delta)

    assume(epsilon > 0.0)
    assert PURE.delta(setting, epsilon) == pytest.approx(delta, rel=1e-6)
    assert PURE.epsilon(setting, delta * 2) < epsilon
    assert PURE.epsilon(crowd({budget: 2 * people}), delta) < epsilon
    assert PRINTED.epsilon(setting, delta) == pytest.approx(epsilon)
    assert EapesTheorem(constant=1e-9).delta(setting, epsilon) > delta


def test_the_omitted_term_is_as_large_as_delta() -> None:
    setting = crowd({1.0: 10_000})
    epsilon = gdp_parameter(setting)

    without, with_term = (
        EapesTheorem(constant=c).delta(setting, epsilon) for c in (0.0, 0.5)
    )

    assert with_term - without > 2.0 * without


def test_settings_outside_the_theorem() -> None:
    with pytest.raises(OutsidePreconditions, match="at least 2 people"):
        PRINTED.delta(crowd({1.0: 1}), 0.1)
    with pytest.raises(OutsidePreconditions, match="pure local privacy"):
        PURE.delta(crowd({1.0: 10}, delta_local=1e-9), 0.1)
    with pytest.raises(sdp.InvalidInputError, match="C >= 0, got -1"):
        EapesTheorem(constant=-1.0)
