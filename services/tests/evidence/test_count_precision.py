"""Counts that are nearer to the truth than coins allow."""

import itertools
import math

import numpy as np
import pytest
from canary_oracles import some_canaries, some_seen
from scipy.special import ive
from scipy.stats import binom

import shuffledp as sdp
from shuffledp.errors import InvalidInputError
from shuffledp_services.evidence.all_tests import run_all_tests
from shuffledp_services.evidence.count_precision_test import (
    _least_variances,
    precision_finding,
)
from shuffledp_services.evidence.epoch_view import SupportCounts, SupportDependence
from shuffledp_services.evidence.privacy_profiles import PrivacyProfiles


@pytest.mark.parametrize("chances", [[0.5] * 4, [0.3] * 9, [0.1, 0.9, 0.5, 0.2, 0.7]])
def test_no_value_of_a_sum_of_coins_is_likelier_than_its_variance_allows(
    chances: list[float],
) -> None:
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1.0 - chance, chance])

    variance = sum(chance * (1.0 - chance) for chance in chances)

    bound = float(ive(0, variance))
    assert law.max() <= bound <= 2.0 * law.max()
    for width in range(1, 4):
        window = max(law[a : a + width].sum() for a in range(law.size))
        assert window <= width * bound


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    ("randomizer", "columns"),
    [
        (sdp.KRandomizedResponse(24), SupportDependence.ONE),
        (sdp.UnaryEncoding(24), SupportDependence.INDEPENDENT),
        (sdp.SubsetSelection(24, 3), SupportDependence.UNKNOWN),
    ],
)
def test_honest_counts_are_as_noisy_as_they_should_be(
    randomizer: sdp.KRandomizedResponse | sdp.UnaryEncoding | sdp.SubsetSelection,
    columns: SupportDependence,
) -> None:
    rng, canaries = np.random.default_rng(11), some_canaries(12)
    holders = np.bincount(canaries.values.astype(np.int64), minlength=24)
    holders[0] += 988
    keep, flip = randomizer.densities(np.array([1.0]))
    found = []
    for _ in range(200):
        counts = randomizer.draw_support_counts(
            holders[None, :], np.array([1.0]), rng=rng
        )[0].astype(np.float64)
        support = SupportCounts(counts, keep, flip, columns)
        seen = some_seen(people=np.array([1000]), support=support)
        found.append(precision_finding(canaries, seen).p_value)

    p_values = np.array(found, np.float64)
    for alpha in (0.5, 0.1, 0.01):
        # Five standard errors: a false alarm once in 10^6 times.
        assert (p_values <= alpha).mean() <= alpha + 5.0 * math.sqrt(alpha / 200)


def test_counts_without_noise_are_found_though_others_hold_some_categories() -> None:
    canaries = some_canaries(12)
    randomizer = sdp.KRandomizedResponse(24)
    keep, flip = randomizer.densities(np.array([1.0]))
    held = np.bincount(canaries.values.astype(np.int64), minlength=24).astype(
        np.float64
    )
    held[:4] += 1247.0  # What is nobody's but the canaries' are the 20 others.
    counts = 5000.0 * flip[0] + held * (keep - flip)[0]

    support = SupportCounts(counts, keep, flip, SupportDependence.ONE)
    found = precision_finding(
        canaries, some_seen(people=np.array([5000]), support=support)
    )

    assert found.p_value is not None
    assert found.p_value <= 1e-15
    assert found.p_value == pytest.approx(binom.sf(19, 24, 0.05))


def test_conditional_variances_are_below_those_of_every_one_left() -> None:
    # Given that a message is in none of two categories, whatever its sender holds.
    randomizer = sdp.KRandomizedResponse(6)
    keep, flip = randomizer.densities(np.array([0.3, 2.0]))
    support = SupportCounts(np.ones(6), keep, flip, SupportDependence.ONE)

    least = _least_variances(support, 2)

    for level, value in itertools.product(range(2), range(6)):
        chances = np.full(6, flip[level])
        chances[value] = keep[level]
        chance = chances[2] / chances[2:].sum()
        assert least[level] <= chance * (1.0 - chance) * (1.0 + 1e-12)


def test_everybody_absent_leaves_no_noise_and_no_finding() -> None:
    support = SupportCounts(
        np.full(8, 20.0), np.array([0.5]), np.array([0.1]), SupportDependence.ONE
    )
    seen = some_seen(absent=100, support=support)

    found = precision_finding(some_canaries(4), seen)

    assert found.p_value == 1.0
    assert precision_finding(some_canaries(4), some_seen()).p_value is None
    with pytest.raises(InvalidInputError, match="categories in"):
        precision_finding(some_canaries(5), seen)


def test_an_epoch_is_examined_whole_and_only_with_its_own_canaries() -> None:
    canaries = some_canaries()
    promises = PrivacyProfiles(np.array([1.0]), np.array([[0.1]]), np.array([[1e-6]]))

    found = run_all_tests(canaries, some_seen(), promises=promises)

    assert found.epoch == 3
    assert [one.p_value for one in found.findings] == [None] * 4 + [1.0, None]
    assert found.e_value == 1.0
    with pytest.raises(InvalidInputError, match="epoch 4"):
        run_all_tests(canaries, some_seen(epoch=4), promises=promises)
    with pytest.raises(InvalidInputError, match="of task"):
        run_all_tests(canaries, some_seen(task="cd" * 32), promises=promises)
