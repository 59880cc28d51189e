import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import shuffledp as sdp
from shuffledp_papers.bounds.bound import Setting
from shuffledp_papers.bounds.target_user import others
from shuffledp_papers.bounds.two_counts import clone_count
from shuffledp_papers.hypothesis_testing.hypothesis_testing_bound import (
    HypothesisTesting,
)
from shuffledp_papers.outside_preconditions import OutsidePreconditions

PRINTED, REPAIRED = HypothesisTesting(), HypothesisTesting(as_printed=False)


def laplace(counts: dict[float, int], **more: Any) -> Setting:
    return Setting(sdp.Population.from_counts(counts), sdp.Laplace(), **more)


def gaussian(counts: dict[float, int], local: float = 1e-10) -> Setting:
    people = sdp.Population.from_counts(counts)
    return Setting(people, sdp.Gaussian(delta_local=local, calibration="classical"))


@pytest.mark.parametrize(
    ("setting", "delta", "claim"),
    [
        (gaussian({1.0: 1000}), 1e-5, 0.0100),
        (gaussian({4.0: 10_000}), 1e-7, 0.0206),
        (laplace({4.0: 10_000}), 1e-5, 0.1519),
        (laplace({3.0: 1000}), 1e-7, 0.5143),
        (laplace({0.5: 1, 2.0: 9999}), 1e-5, 0.0626),
        (gaussian({0.5: 1, 2.0: 9999}), 1e-5, 0.0058),
        (laplace({0.5: 999, 8.0: 1}), 1e-7, 0.5861),
    ],
)
def test_the_pinned_claims(setting: Setting, delta: float, claim: float) -> None:
    # Four decimals are printed.
    assert PRINTED.epsilon(setting, delta) == pytest.approx(claim, abs=6e-5)


def test_the_claims_of_sums_that_start_at_one() -> None:
    alone, two = laplace({2.0: 1}), laplace({3.0: 2})

    # True: 0.330 and 0.553.
    assert PRINTED.delta(alone, 1.2) == 0.0
    assert REPAIRED.delta(alone, 1.2) >= 0.330
    assert PRINTED.delta(two, 0.9) == pytest.approx(0.0867, abs=6e-5)
    assert REPAIRED.delta(two, 0.9) >= 0.553


@pytest.mark.parametrize(
    ("epsilon", "claim"), [(0.01, 4.8e-7), (0.03, 2e-23), (0.05, 1.6e-49)]
)
def test_the_papers_table_2_does_not_follow(epsilon: float, claim: float) -> None:
    budgets = 0.5 + 1.5 * (np.arange(10_000) + 0.5) / 10_000
    people = sdp.Population.from_budgets(budgets)
    setting = Setting(people, sdp.Gaussian(delta_local=1e-10, calibration="classical"))

    # The table has 7e-4, 2e-6 and 3e-10; one digit is pinned of what follows.
    assert PRINTED.delta(setting, epsilon) == pytest.approx(claim, rel=0.05)


def test_an_attack_exceeds_the_claim_for_a_conservative_person() -> None:
    setting = laplace({0.5: 1, 2.0: 9999})
    epsilon = PRINTED.epsilon(setting, 1e-5)

    protocol = sdp.SingleMessage(sdp.Laplace())
    true = sdp.account(protocol, setting.people, epsilon=epsilon, levels=[0.5]).levels[
        0
    ]

    # Pinned elsewhere: 1.35e-2.
    assert true.delta_central_lower > 1.2e-2


def largest_right_side(setting: Setting, epsilon: float, bound: Any) -> float:
    """Eq. (5) as printed, at the best of many t, with sums from 0 or 1."""
    clone_probabilities, w = bound.clone_probabilities(setting)
    _, counts = others(setting)
    clones = clone_count(2.0 * clone_probabilities, counts)
    i = np.arange(clones.weights.size) + clones.start
    d = max(setting.delta_local, setting.mechanism.delta_local)  # type: ignore[union-attr]
    keep = i >= (1 if bound.as_printed else 0)
    i, weights = i[keep], clones.weights[keep]
    best = 0.0
    for t in np.linspace(0.0, 1.0, 601):
        low = weights @ binom.cdf(np.floor(i - (i + 1) / (t + 1) + 1e-12), i, 0.5)
        high = weights @ binom.cdf(np.floor(i + 1 - (i + 1) / (t + 1) + 1e-12), i, 0.5)
        credit = d if bound.as_printed else 0.0
        side = (-math.exp(epsilon) + (1 - d) * 2 * w + credit) * low
        side += (1 - d) * (1 - 2 * w) * high
        best = max(best, float(side))
    return best if bound.as_printed else best + d


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("bound", [PRINTED, REPAIRED])
@pytest.mark.parametrize(
    "setting",
    [
        laplace({0.5: 3, 1.0: 4, 3.0: 1}),
        laplace({0.5: 3, 1.0: 4, 3.0: 1}, target_user=0.5),
        gaussian({1.0: 9}, 0.05),
        gaussian({0.5: 6, 2.0: 6}, 0.01),
    ],
)
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.7])
def test_eq_5_at_the_best_t(setting: Setting, bound: Any, epsilon: float) -> None:
    expected = largest_right_side(setting, epsilon, bound)

    # The steps of eq. (5) in t are wider than the grid: the same maximum.
    assert bound.delta(setting, epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.5))
@settings(max_examples=40, deadline=None)
def test_theorem_2_lies_above_theorem_1(slope: float, epsilon: float) -> None:
    setting = laplace({0.5: 6, 1.5: 5})

    alpha, beta = REPAIRED.trade_off(setting, slope)

    claim = 1.0 - math.exp(epsilon) * alpha - beta
    assert REPAIRED.delta(setting, epsilon) >= claim - 1e-12
    # As printed, the second sum is not subtracted from one: no type-II error is left.
    assert PRINTED.trade_off(setting, 0.0)[1] != pytest.approx(1.0)


def test_the_printed_trade_off_does_not_end_at_zero() -> None:
    setting = laplace({1.0: 20})

    alpha, printed = PRINTED.trade_off(setting, 1e6)

    w = math.exp(-0.5) / 2
    assert alpha == pytest.approx(1.0, abs=2e-3)
    # 1 - 2 w = 0.3935, where a trade-off function is 0.
    assert printed == pytest.approx(1.0 - 2.0 * w, abs=2e-3)
    assert REPAIRED.trade_off(setting, 1e6)[1] == pytest.approx(0.0, abs=2e-3)


@pytest.mark.slow
@given(st.floats(0.2, 3.0), st.integers(50, 3000), st.floats(1e-10, 1e-2))
@settings(max_examples=30, deadline=None)
def test_epsilon_falls_with_delta_and_people_and_inverts(
    budget: float, people: int, delta: float
) -> None:
    setting = laplace({budget / 2: people, budget: people})

    try:
        epsilon = PRINTED.epsilon(setting, delta)
    except OutsidePreconditions:
        # Too few clones: delta tends to a number above 0.
        assert PRINTED.delta(setting, 900.0) > delta
        return

    assume(epsilon > 0.0)
    assert PRINTED.delta(setting, epsilon) == pytest.approx(delta, rel=1e-6)
    assert PRINTED.epsilon(setting, 2.0 * delta) < epsilon
    more = laplace({budget / 2: people, budget: 2 * people})
    assert PRINTED.epsilon(more, delta) < epsilon


def test_exactly_calibrated_noise_is_narrower_and_leaks_more() -> None:
    classical = gaussian({0.5: 500, 1.0: 500}, 1e-6)
    exact = Setting(classical.people, sdp.Gaussian(delta_local=1e-6))

    assert PRINTED.epsilon(exact, 1e-6) > PRINTED.epsilon(classical, 1e-6)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            Setting(sdp.Population.from_counts({1.0: 5})),
            "known chances, got any randomizer",
        ),
        (laplace({0.0: 5, 1.0: 2}), "every budget > 0"),
        (laplace({1.0: 5}, delta_local=1e-6), "delta_local = 0, the mechanism's own"),
    ],
)
def test_settings_outside_the_theorem(setting: Setting, message: str) -> None:
    with pytest.raises(OutsidePreconditions, match=message):
        PRINTED.delta(setting, 0.1)


def test_arguments_that_make_no_sense() -> None:
    with pytest.raises(sdp.InvalidInputError, match="t >= 0"):
        PRINTED.trade_off(laplace({1.0: 5}), -1.0)
