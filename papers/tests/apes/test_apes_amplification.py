import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp_papers.apes.amplification import (
    ApesClosed,
    ApesNumerical,
    UniformShuffle,
    echoes,
)
from shuffledp_papers.bounds.bound import Setting, Status, status_in
from shuffledp_papers.outside_preconditions import OutsidePreconditions

N = 10_000
QUANTILES = sdp.Population.from_budgets(0.05 + 0.95 * (np.arange(N) + 0.5) / N)


def clip_laplace(counts: dict[float, int]) -> Setting:
    return Setting(sdp.Population.from_counts(counts), sdp.ClipLaplace())


UNIFORM = Setting(QUANTILES, sdp.ClipLaplace())


@pytest.mark.parametrize(
    ("bound", "claim"),
    [
        (ApesNumerical("uniform"), 0.0689),
        (ApesNumerical(), 0.0571),
        (ApesNumerical(as_printed=False), 0.0766),
        (UniformShuffle(), 0.2408),
    ],
)
def test_table_3_follows_from_the_two_counts(bound: Any, claim: float) -> None:
    # Table 3 has 0.069 and 0.057; pinned to four decimals.
    assert bound.epsilon(UNIFORM, 1e-8) == pytest.approx(claim, rel=1e-3)


def test_the_closed_form_is_far_from_the_table() -> None:
    # The paper's delta_s is 1e-8.
    delta = math.tanh(0.5) * 1e-8

    assert ApesClosed().epsilon(UNIFORM, delta) == pytest.approx(0.2051, rel=1e-3)


def test_the_sums_behind_the_two_readings() -> None:
    printed, counts = echoes(UNIFORM)
    own, _ = echoes(UNIFORM, as_printed=False)

    # 5258 with other quantiles.
    assert counts @ printed == pytest.approx(5258, rel=1e-3)
    assert counts @ own == pytest.approx(3003, abs=0.5)


@pytest.mark.parametrize(
    ("crowd", "victim", "delta", "claim"),
    [
        (9999, 200.0, 1e-5, 0.2589),
        (9999, 100.0, 1e-8, 0.3118),
        (1999, 60.0, 1e-8, 0.5993),
    ],
)
def test_what_theorem_4_states_for_very_liberal_victims(
    crowd: int, victim: float, delta: float, claim: float
) -> None:
    setting = clip_laplace({0.05: crowd, victim: 1})

    assert ApesClosed().epsilon(setting, delta) == pytest.approx(claim, abs=6e-5)


@pytest.mark.parametrize(
    ("people", "delta", "claim"),
    [
        ({0.05: 9999, 5.0: 1}, 1e-5, 0.0594),
        ({0.05: 9999, 8.0: 1}, 1e-8, 0.0940),
        ({0.05: 9999, 20.0: 1}, 1e-8, 0.0940),
        ({0.05: 9000, 8.0: 1000}, 1e-8, 0.1049),
    ],
)
def test_what_the_two_counts_state_for_liberal_victims(
    people: dict[float, int], delta: float, claim: float
) -> None:
    # |T| with one coin per person; n coins each, as printed, differ in the fourth digit.
    found = ApesNumerical().epsilon(clip_laplace(people), delta)

    assert found == pytest.approx(claim, rel=1e-3)


def test_an_attack_exceeds_the_averaged_counts() -> None:
    setting = clip_laplace({0.05: 9999, 5.0: 1})
    protocol = sdp.SingleMessage(sdp.ClipLaplace())

    epsilon = ApesNumerical().epsilon(setting, 1e-5)
    true = sdp.account(protocol, setting.people, epsilon=epsilon, levels=[5.0]).levels[
        0
    ]

    # Pinned elsewhere: at least 2.2e-5.
    assert true.delta_central_lower > 2e-5
    assert ApesNumerical(as_printed=False).epsilon(setting, 1e-5) > 4.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "bound", [UniformShuffle(), ApesClosed(), ApesNumerical()], ids=lambda one: one.name
)
@given(st.floats(0.05, 2.0), st.floats(1e-12, 1e-3), st.integers(3_000, 50_000))
@settings(max_examples=10, deadline=None)
def test_epsilon_falls_with_delta_and_people_and_inverts(
    bound: Any, budget: float, delta: float, people: int
) -> None:
    setting = clip_laplace({budget / 2: people, budget: people})
    more = clip_laplace({budget / 2: people, budget: 2 * people})
    try:
        epsilon = bound.epsilon(setting, delta)
    except OutsidePreconditions:
        reject()

    assume(epsilon > 0.0)
    assert bound.epsilon(setting, 2.0 * delta) < epsilon
    assert bound.epsilon(more, delta) < epsilon * 1.2
    # The closed forms cancel digits where epsilon is small.
    assert bound.delta(setting, epsilon) == pytest.approx(delta, rel=1e-6)


def test_equal_budgets_leave_nothing_to_average() -> None:
    setting = clip_laplace({0.7: 5000})

    printed, own, uniform = (
        bound.epsilon(setting, 1e-6)
        for bound in (
            ApesNumerical(),
            ApesNumerical(as_printed=False),
            ApesNumerical("uniform"),
        )
    )

    # p_ij = e^-eps: the same clones in all three.
    assert printed == pytest.approx(own, rel=1e-9)
    assert printed == pytest.approx(uniform, rel=1e-9)
    assert status_in(UniformShuffle(), setting) == Status.PROVEN
    assert status_in(UniformShuffle(), UNIFORM) == Status.UNPROVEN


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (Setting(QUANTILES), "mechanism clip-laplace, got None"),
        (Setting(QUANTILES, sdp.Laplace()), "mechanism clip-laplace, got laplace"),
        (Setting(QUANTILES, sdp.ClipLaplace(), delta_local=1e-6), "pure local privacy"),
        (clip_laplace({0.0: 5, 1.0: 10}), "every budget > 0"),
        (clip_laplace({1.0: 1}), "at least 2 people"),
    ],
)
def test_settings_outside_the_theorem(setting: Setting, message: str) -> None:
    for bound in (ApesClosed(), ApesNumerical()):
        with pytest.raises(OutsidePreconditions, match=message):
            bound.epsilon(setting, 1e-6)


def test_crowds_too_small_for_the_closed_form() -> None:
    few = clip_laplace({0.5: 300})

    with pytest.raises(OutsidePreconditions, match=r"S >= 16 ln\(4 / delta_s\)"):
        ApesClosed().epsilon(few, 1e-8)
    with pytest.raises(OutsidePreconditions, match="16 ln"):
        UniformShuffle().epsilon(few, 1e-8)
    assert ApesNumerical().epsilon(few, 1e-8) < 0.5


@pytest.mark.parametrize("bound", [ApesClosed(), UniformShuffle()])
def test_an_epsilon_too_small_for_the_closed_form(bound: Any) -> None:
    with pytest.raises(OutsidePreconditions, match="Expected"):
        bound.delta(UNIFORM, 1e-6)


@pytest.mark.parametrize("epsilon", [650.0, 720.0, 1e308])
@pytest.mark.parametrize("bound", [ApesClosed(), UniformShuffle()])
def test_an_epsilon_whose_powers_are_no_doubles(bound: Any, epsilon: float) -> None:
    # The closed form states next to nothing there, of which its condition cannot hold.
    with pytest.raises(OutsidePreconditions, match="16 ln"):
        bound.delta(UNIFORM, epsilon)


def test_a_crowd_of_another_name() -> None:
    with pytest.raises(sdp.InvalidInputError, match="personal or uniform"):
        ApesNumerical("mixed")  # type: ignore[arg-type]


def test_a_delta_that_no_double_holds_is_not_stated_as_0() -> None:
    crowd = Setting(
        sdp.Population.from_counts({1.0: 10**6}), sdp.KRandomizedResponse(17)
    )

    # 4 e^-1000 and less: the condition of the theorem cannot be checked, either.
    with pytest.raises(OutsidePreconditions, match="16 ln"):
        UniformShuffle().delta(crowd, 0.2)
