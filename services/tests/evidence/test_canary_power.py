"""What is said to be seen is seen as often as said."""

import math

import numpy as np
import pytest
from scipy.special import expit

from shuffledp.errors import InvalidInputError
from shuffledp_services.evidence.canary_guessing_test import (
    guessing_p_value,
    num_guesses,
)
from shuffledp_services.evidence.canary_power import (
    _as_noise,
    collection_power,
    single_test_p_value,
)
from shuffledp_services.evidence.e_values import calibrated
from shuffledp_services.evidence.inversions import inversions, two_sided_p_value
from shuffledp_services.evidence.privacy_profiles import PrivacyProfiles

PROMISE = PrivacyProfiles(
    np.array([1.0]), np.array([[0.5], [1.0], [1.02]]), np.array([[1e-3], [1e-6], [0.0]])
)


def test_one_test_alone_crosses_the_threshold() -> None:
    for alpha in (0.05, 0.01):
        p_value = single_test_p_value(alpha)
        assert calibrated(p_value) / 6.0 >= 1.0 / alpha
        assert calibrated(1.001 * p_value) / 6.0 < 1.0 / alpha


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("excess", [1, 2])
def test_so_many_canaries_are_enough_in_nine_audits_of_ten(excess: int) -> None:
    power = collection_power(np.array([50]), promises=PROMISE, delta=1e-6)
    one = power.guesses[excess]
    assert one.epsilon == 1.0
    assert one.at_best is not None

    rng, seen = np.random.default_rng(5), []
    for canaries in (one.at_best, one.at_best // 2):
        guessed = num_guesses(canaries)
        right = rng.binomial(guessed, expit((1.0 + one.excess) * one.epsilon), 2_000)
        known = {
            w: guessing_p_value(
                w, np.array([guessed]), np.array([canaries]), promises=PROMISE
            )
            for w in set(right.tolist())
        }
        seen.append(np.mean([known[w] <= power.p_value for w in right.tolist()]))

    # Five standard errors: a false alarm once in 10^6 times.
    assert seen[0] >= 0.9 - 5.0 * math.sqrt(0.09 / 2_000)
    assert seen[1] < 0.9


def test_normal_noise_of_a_budget_is_guessed_as_often_as_said() -> None:
    rng, runs = np.random.default_rng(6), 400_000
    # The distance at which noise keeps (1, 1e-3), by mpmath with 50 digits.
    scores = 0.5 * 0.388401248306584 + rng.normal(size=runs)
    half = np.abs(scores) >= np.median(np.abs(scores))

    assert _as_noise(1.0, 1e-3) == pytest.approx((scores[half] > 0.0).mean(), abs=4e-3)


@pytest.mark.slow
def test_shares_of_losses_and_kept_orders_are_seen_as_often_as_said() -> None:
    power = collection_power(np.array([200]), promises=PROMISE, delta=1e-6)
    rng = np.random.default_rng(7)

    for chance, share in zip((0.5, 0.9), power.losses, strict=True):
        assert 1.0 - (1.0 - share) ** 200 == pytest.approx(chance)
    for chance, kept in zip((0.5, 0.9), power.kept, strict=True):
        assert kept is not None
        seen = 0
        for _ in range(200):
            order = np.arange(200)
            moved = np.flatnonzero(rng.random(200) >= kept)
            order[moved] = rng.permutation(moved)
            count = inversions(order, np.arange(200))
            seen += two_sided_p_value(count, [200]) <= power.p_value
        # The normal approximation, and five standard errors.
        assert abs(seen / 200 - chance) <= 0.05 + 5.0 * math.sqrt(0.25 / 200)


@pytest.mark.slow
def test_an_audit_that_sees_nothing_says_so() -> None:
    power = collection_power(np.array([4]), promises=PROMISE, delta=1e-6)

    assert power.right is None
    assert power.kept == (None, None)
    said = " ".join(power.sentences)
    assert "cannot see a budget" in said
    assert "cannot see that an order is kept" in said
    large = PrivacyProfiles(np.array([1.0]), np.array([[14.0]]), np.array([[0.0]]))
    blind = collection_power(np.array([900]), promises=large, delta=1e-6)
    assert blind.right is None


@pytest.mark.slow
def test_a_budget_is_said_with_the_canaries_it_takes() -> None:
    power = collection_power(np.array([900]), promises=PROMISE, delta=1e-6)

    best = [one.at_best for one in power.guesses]
    assert power.right is not None
    sizes = np.array([450]), np.array([900])
    chances = [
        guessing_p_value(round(450 * power.right) - few, *sizes, promises=PROMISE)
        for few in (0, 1)
    ]
    assert chances[0] <= power.p_value < chances[1]
    assert power.guesses[0].at_best is not None  # 10% take many, but there are as many.
    assert best == sorted(best, key=lambda n: -(n or 10**9))
    assert any(
        f"100% more takes {best[2]:,} or" in sentence for sentence in power.sentences
    )


def test_nothing_is_said_of_no_canaries_or_no_promise() -> None:
    with pytest.raises(InvalidInputError, match="not all 0"):
        collection_power(np.array([0]), promises=PROMISE, delta=1e-6)
    promises = PrivacyProfiles(np.array([1.0]), np.array([[0.5]]), np.array([[1e-3]]))
    with pytest.raises(InvalidInputError, match="promise at delta"):
        collection_power(np.array([9]), promises=promises, delta=1e-9)


@pytest.mark.slow
def test_a_budget_that_no_canaries_can_see_is_said_to_be_so() -> None:
    promises = PrivacyProfiles(np.array([1.0]), np.array([[0.001]]), np.array([[1e-9]]))

    power = collection_power(np.array([90]), promises=promises, delta=1e-6)

    assert any("not even 100,000 canaries see 100%" in one for one in power.sentences)
