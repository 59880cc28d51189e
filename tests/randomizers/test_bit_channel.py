"""One randomized bit: covers, attacks and divergences from the definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from shuffledp import Population, Rappor, UnaryEncoding, account
from shuffledp.accounting.lower.score_attack import score_bound
from shuffledp.accounting.lower.score_sum import score_sum
from shuffledp.cover import Attack, ScoreAttack, mirrored
from shuffledp.randomizers.bit_channel import BitChannel, symmetric_flips
from shuffledp.types import Floats

DEVICES: list[BitChannel] = [
    UnaryEncoding(2),
    UnaryEncoding(5),
    UnaryEncoding(2, "optimized"),
    UnaryEncoding(5, "optimized"),
    Rappor(9, 1),
    Rappor(9, 4).permanent,
    Rappor(9, 2, one_given_one=0.9, one_given_zero=0.2),
    Rappor(64, 20, one_given_one=0.3, one_given_zero=0.0),
]
CROWD = {0.1: 30, 0.7: 5, 2.0: 40, 6.0: 1}
devices = st.sampled_from(DEVICES)


def _evenly_weighted(device: BitChannel, attacks: tuple[Attack, ...]) -> ScoreAttack:
    """The attack on all coordinates in which every one counts for one."""
    scores = [one for one in attacks if isinstance(one, ScoreAttack)]
    return next(one for one in scores if one.second.size == device.changes + 1)


@given(devices, st.lists(st.floats(1e-3, 20.0), min_size=1, max_size=5, unique=True))
def test_everybody_sends_the_blanket_whatever_she_holds(
    device: BitChannel, levels: list[float]
) -> None:
    crowd = Population.from_budgets(levels)

    (pairs,) = device.covers([levels[0]], crowd, delta=1e-6)

    chances = device.drawn(crowd.epsilons)
    for cover in pairs:
        gammas, (one, zero) = cover.blanket_probabilities, cover.masses[:2]
        assert np.all(gammas * one <= chances.stray)
        assert np.all(gammas * zero <= chances.lost)
        assert np.all(gammas <= 1.0)
        # Nobody would be covered much better: one of the two is attained.
        lacks = np.minimum(chances.stray - gammas * one, chances.lost - gammas * zero)
        assert np.all(lacks <= 1e-13)


@pytest.mark.parametrize("device", DEVICES, ids=repr)
@pytest.mark.parametrize("level", [1e-12, 0.1, 2.0, 30.0])
def test_densities_of_covers_are_those_of_the_bit(
    device: BitChannel, level: float
) -> None:
    crowd = Population.from_counts(CROWD)

    (pairs,) = device.covers([level], crowd, delta=1e-6)

    chances = device.promised(np.array([level]))
    lost, stray = float(chances.lost[0]), float(chances.stray[0])
    # On x and on x', for a bit that is lost; then for one that appears.
    worlds = [(1.0 - lost, stray), (stray, 1.0 - lost)]
    for cover, (here, there) in zip(pairs, worlds, strict=False):
        one, zero = cover.masses[:2]
        with_x = cover.bases[:2] + cover.differences[:2]
        # Errors of 1e-15 in densities around 1.
        assert with_x * [one, zero] == pytest.approx([here, 1 - here], abs=4e-15)
        assert cover.bases[:2] * [one, zero] == pytest.approx(
            [there, 1 - there], abs=4e-15
        )
        # Without cancellation, where budgets are tiny.
        gap = float(chances.gap[0])
        assert abs(cover.differences[0] * one) == pytest.approx(gap, rel=1e-14)


@pytest.mark.parametrize("device", DEVICES, ids=repr)
def test_symmetric_bits_need_one_cover_which_is_summed_exactly(
    device: BitChannel,
) -> None:
    crowd = Population.from_counts(CROWD)

    (pairs,) = device.covers([0.7], crowd, delta=1e-6)

    chances = device.promised(crowd.epsilons)
    if np.array_equal(chances.lost, chances.stray):
        assert len(pairs) == 1
        assert mirrored(pairs[0]) is not None
    else:
        assert len(pairs) == 2
        assert pairs[0].blanket_probabilities is pairs[1].blanket_probabilities


@pytest.mark.parametrize("device", DEVICES, ids=repr)
def test_share_of_ones_leaves_the_least_spread_on_a_grid(device: BitChannel) -> None:
    crowd = Population.from_counts(CROWD)

    (pairs,) = device.covers([0.7], crowd, delta=1e-6)

    chances = device.promised(crowd.epsilons)

    def spread_out(w: float) -> float:
        least = np.minimum(chances.stray * (1.0 - w), chances.lost * w)
        return float(crowd.counts @ least)

    share = float(pairs[0].masses[0])
    best = max(spread_out(w) for w in np.linspace(0.001, 0.999, 999))
    assert spread_out(share) >= best * (1.0 - 1e-12)


@pytest.mark.parametrize("device", DEVICES, ids=repr)
@pytest.mark.parametrize("level", [0.1, 1.0, 8.0])
def test_divergence_of_one_bit_is_the_larger_of_both_directions(
    device: BitChannel, level: float
) -> None:
    chances = device.promised(np.array([level]))
    one, zero = 1.0 - float(chances.lost[0]), float(chances.stray[0])

    for epsilon in [0.0, 0.01, 0.1 * level, 0.5 * level, 0.9 * level]:
        found = device.local_delta(level, epsilon)

        growth = math.exp(epsilon)
        exact = max(one - growth * zero, (1.0 - zero) - growth * (1.0 - one), 0.0)
        assert exact - 1e-15 * growth <= found <= exact + 2e-12 * growth
    assert device.local_delta(level, level) == 0.0
    assert device.local_delta(level, 800.0) == 0.0


ALIKE = [one for one in DEVICES if one != UnaryEncoding(2, "optimized")]


@pytest.mark.parametrize("device", ALIKE, ids=repr)
def test_scores_of_an_attack_are_sums_over_pairs_of_coordinates(
    device: BitChannel,
) -> None:
    crowd = Population.from_counts(CROWD)

    (attacks,) = device.attacks([2.0], crowd)
    attack = _evenly_weighted(device, attacks)

    own = device.drawn(np.array([2.0]))
    one, zero = 1.0 - float(own.lost[0]), float(own.stray[0])
    up = np.array([zero * (1 - one), one * zero + (1 - one) * (1 - zero)])
    pair = np.array([up[0], up[1], one * (1 - zero)])
    with_x = np.ones(1)
    for _ in range(device.changes // 2):
        with_x = np.convolve(with_x, pair)
    assert attack.others.shape == (4, device.changes + 1)
    assert attack.others.sum(axis=1) == pytest.approx(1.0, rel=1e-14)
    # Differences lose a few digits where they are small against both laws.
    assert attack.second == pytest.approx(with_x[::-1], rel=1e-12)
    assert attack.second + attack.difference == pytest.approx(with_x, abs=1e-14)


@pytest.mark.parametrize("counts", [CROWD, {4.0: 500, 8.0: 500}])
def test_of_two_values_the_bit_with_less_noise_counts_for_more(
    counts: dict[float, int],
) -> None:
    device, crowd = UnaryEncoding(2, "optimized"), Population.from_counts(counts)
    levels = crowd.epsilons.tolist()

    (attacks,) = device.attacks([2.0], crowd)

    # Without a third value: all others hold x, or x'.
    assert len(attacks) == 3
    for attack, held, least in zip(
        attacks, (0, 0, 1), (True, False, True), strict=True
    ):
        assert isinstance(attack, ScoreAttack)
        size = attack.second.size
        # Scores of reports (0, 0), (0, 1), (1, 0), (1, 1): weights follow from their sum.
        laws = [reports(level, held) for level in levels]
        worlds = [reports(2.0, 0), reports(2.0, 1)]
        weights = [
            (own, size - 1 - own)
            for own in range(size)
            if all(
                np.allclose(put(law, own, size), found, rtol=1e-12)
                for law, found in zip(laws, attack.others, strict=True)
            )
            and np.allclose(put(worlds[1], own, size), attack.second, rtol=1e-12)
        ]
        ((own, other),) = weights
        shown = put(worlds[0], own, size) - put(worlds[1], own, size)
        assert attack.difference == pytest.approx(shown, abs=1e-15)
        assert np.sign(other - own) == least * (1 if held == 0 else -1)


@pytest.mark.slow
def test_holders_of_a_value_are_attacked_where_ones_are_less_noisy() -> None:
    (level,) = account(
        Rappor(32, 2), Population.from_counts({4.0: 10_000}), delta=1e-6
    ).levels

    # Among people whose bits are all 0, no more than 0.01475 is shown.
    assert level.epsilon_central_lower == pytest.approx(0.015292, abs=1e-6)
    assert level.epsilon_central <= 0.0157949


@pytest.mark.parametrize("others", [1, 4, 9])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_attacks_among_holders_stay_below_the_exact_divergence(
    others: int, epsilon: float
) -> None:
    device, level = Rappor(5, 1, one_given_one=0.9, one_given_zero=0.4), 2.0
    crowd = Population.from_counts({level: others + 1})
    drawn = device.drawn(crowd.epsilons)
    lost, stray = float(drawn.lost[0]), float(drawn.stray[0])
    # How many ones both coordinates show: everybody else holds x.
    ones, strays = (
        binom.pmf(np.arange(others + 1), others, chance) for chance in (1 - lost, stray)
    )
    worlds = [
        np.outer(np.convolve(ones, [1 - a, a]), np.convolve(strays, [1 - b, b]))
        for a, b in ((1 - lost, stray), (stray, 1 - lost))
    ]
    exact = np.maximum(worlds[0] - math.exp(epsilon) * worlds[1], 0.0).sum()

    (attacks,) = device.attacks([level], crowd)

    # One among those whose bits are 0, one among holders of x.
    zeros, holders = (one for one in attacks if isinstance(one, ScoreAttack))
    rest = score_sum(holders.others, np.array([others]))
    shown = score_bound(holders, rest).delta(epsilon)
    assert 0.9 * exact <= shown <= exact * (1 + 1e-12)
    assert zeros.second.size == 3


def reports(level: float, value: int) -> Floats:
    """Chances of the reports of two bits, of which a 1 is sent as it is or as a 0."""
    stray = 1.0 / (math.exp(level) + 1.0)
    ones = [0.5 if bit == value else stray for bit in (0, 1)]
    joint: Floats = np.outer([1 - ones[0], ones[0]], [1 - ones[1], ones[1]])
    return joint


def put(law: Floats, own: int, size: int) -> Floats:
    """Chances of scores: `own` for a 1 for x, the rest for a 0 for x'."""
    scores = np.array([[size - 1 - own, 0], [size - 1, own]])
    chances: Floats = np.bincount(scores.ravel(), law.ravel(), size).astype(np.float64)
    return chances


@pytest.mark.slow
@pytest.mark.parametrize("crowd", [{1.0: 1, 8.0: 100_000}, {2.0: 10_000}])
def test_two_values_of_unequal_bits_are_attacked_about_as_well_as_three(
    crowd: dict[float, int],
) -> None:
    people = Population.from_counts(crowd)

    levels = account(UnaryEncoding(2, "optimized"), people, delta=1e-6).levels

    for level in levels:
        assert level.epsilon_central_lower <= level.epsilon_central
        assert level.epsilon_central <= 1.45 * level.epsilon_central_lower


@pytest.mark.parametrize("level", [1e-13, 1e-5])
def test_attacks_keep_the_difference_of_tiny_budgets(level: float) -> None:
    device = Rappor(64, 16).permanent

    (attacks,) = device.attacks([level], Population.from_counts({level: 2}))
    attack = _evenly_weighted(device, attacks)

    scores = np.arange(device.changes + 1)
    # 16 pairs of bits, each of which adds its gap to the mean, twice.
    gap = 16 * 2.0 * float(device.drawn(np.array([level])).gap[0])
    assert attack.difference @ scores == pytest.approx(gap, rel=1e-12)


def test_flips_of_a_budget_are_binary_response() -> None:
    flips = symmetric_flips(np.array([0.0, math.log(3.0), 700.0]))

    assert flips.lost == pytest.approx([0.5, 0.25, math.exp(-700.0)], rel=1e-14)
    assert flips.gap == pytest.approx([0.0, 0.5, 1.0], rel=1e-14)
