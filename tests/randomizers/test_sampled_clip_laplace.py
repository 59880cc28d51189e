"""Oracles add up the 4096 cells one by one, and know no closed form."""

import itertools
import math

import numpy as np
import pytest
from oracles.noise import chi_square
from oracles.shuffled import divergence, shuffled, with_victim

from shuffledp import InvalidInputError, Population, account
from shuffledp.randomizers.clip_laplace import ClipLaplace
from shuffledp.randomizers.sampled_clip_laplace import SampledClipLaplace
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.testing import check_randomizer
from shuffledp.types import Floats

# Of draws with a fixed seed: the chance that a test fails by bad luck for a random seed.
FALSE_ALARM = 1e-5
STEPS = 4096
CELLS = np.arange(STEPS)
POINTS = (0, 700, 1600, 2048, 2700, 3500, STEPS)


def noise_at(level: float, point: int) -> Floats:
    """Chances of all cells under Clip-Laplace around a point of the grid."""
    away = np.where(point <= CELLS, CELLS - point, point - 1 - CELLS)
    density = np.exp(-level / STEPS * away)
    result: Floats = density / density.sum()
    return result


def sent(level: float, point: int, share: float) -> Floats:
    """Chances of all cells that a device may send."""
    result: Floats = share * noise_at(level, point)
    result += (1.0 - share) * noise_at(level, STEPS // 2)
    return result


@pytest.mark.parametrize("point", [0, 1000, 4096])
def test_messages_fall_into_cells_as_often_as_they_should(point: int) -> None:
    device, size = SampledClipLaplace(3.0, share=0.3), 40_000
    levels = np.array([0.0, 1.0, 20.0])
    held = np.tile(levels, size)

    messages = device.randomize(
        np.full(held.size, -3.0 + 6.0 * point / STEPS),
        held,
        rng=np.random.default_rng(point),
    )

    assert messages.dtype == np.uint16
    for level in levels.tolist():
        observed = np.bincount(messages[held == level], minlength=STEPS)
        expected = size * sent(level, point, 0.3)
        assert chi_square(observed.astype(np.float64), expected) > FALSE_ALARM


def test_cells_of_a_large_crowd_follow_the_law() -> None:
    device, points = SampledClipLaplace(1.0, share=0.3), np.zeros(STEPS + 1, np.int64)
    points[[0, 1500]] = 10**7, 2 * 10**7
    found = np.zeros(STEPS)

    for cells, often in device.draw_population(
        points, 2.0, rng=np.random.default_rng(9)
    ):
        np.add.at(found, cells, often)

    expected = 1e7 * sent(2.0, 0, 0.3) + 2e7 * sent(2.0, 1500, 0.3)
    assert found.sum() == 3e7
    assert chi_square(found, expected) > FALSE_ALARM


@pytest.mark.parametrize("share", [1e-6, 0.2, 0.9, 1.0])
@pytest.mark.parametrize("level", [1e-9, 0.05, 1.0, 8.0, 60.0])
def test_local_divergence_is_that_of_the_two_ends(level: float, share: float) -> None:
    device = SampledClipLaplace(1.0, share=share)
    laws = {point: sent(level, point, share) for point in POINTS}

    for part in (0.0, 0.1, 0.5, 0.9, 1.0):
        epsilon = part * level
        shown = {
            (x, other): divergence(laws[x], laws[other], epsilon)
            for x, other in itertools.permutations(POINTS, 2)
        }
        stated = device.local_delta(level, epsilon)
        # Sums of 4096 doubles.
        assert max(shown.values()) <= stated * (1.0 + 1e-9) + 1e-15
        # Cells tell a little less than the density.
        assert stated <= shown[0, STEPS] * (1.0 + 1e-5 * level) + 1e-6 * share * level
    assert device.local_delta(level, level) == 0.0


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("victim", [0.1, 1.0, 6.0])
def test_cover_is_sent_whatever_the_value_is(victim: float, share: float) -> None:
    device = SampledClipLaplace(1.0, share=share)
    levels = [0.0, 0.1, 1.0, 6.0, 30.0]
    # Among people of the victim's level omega is the victim's own.
    crowd = Population.from_counts(dict.fromkeys(levels, 5) | {victim: 5_000})

    cover = device.cover_of(victim, crowd, delta=1e-6)

    # What omega is on the right half of the grid, from the masses of the cover's cells.
    half = cover.masses.size // 2
    edges = np.concatenate([[0.0], np.cumsum(cover.masses[:half])])
    right = np.linspace(0.0, 1.0, half + 1)
    for level, gamma in zip(levels, cover.blanket_probabilities.tolist(), strict=True):
        for point in POINTS:
            density = sent(level, point, share)
            for law in (density[STEPS // 2 :], density[: STEPS // 2][::-1]):
                beyond = np.concatenate([[0.0], np.cumsum(law)])
                least = np.interp(right, np.linspace(0.0, 1.0, STEPS // 2 + 1), beyond)
                # A cell of the grid lies in several of the cover's, or the reverse.
                assert np.all(np.diff(least) >= gamma * np.diff(edges) * (1 - 1e-4))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("victim", [0.3, 2.0, 6.0])
def test_ends_of_the_range_are_the_worst_pair(victim: float, share: float) -> None:
    omega = noise_at(victim, STEPS // 2)
    laws = {point: sent(victim, point, share) for point in POINTS}

    for epsilon, cut in itertools.product([0.0, 0.1, 0.5], [-1.0, -0.1, 0.0, 0.1, 0.5]):
        over = {
            (x, other): divergence(laws[x] - cut * omega, laws[other], epsilon)
            for x, other in itertools.permutations(POINTS, 2)
        }
        assert max(over.values()) <= over[0, STEPS] * (1.0 + 1e-12) + 1e-15


SMALL: list[dict[float, int]] = [{2.0: 2}, {0.5: 1, 3.0: 1}, {1.0: 3}, {0.5: 1, 2.0: 2}]


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("counts", SMALL, ids=str)
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_exact_divergence_is_between_attack_and_certificate(
    counts: dict[float, int], share: float
) -> None:
    people = Population.from_counts(counts)
    device = SampledClipLaplace(1.0, share=share)
    # The attack's forty bins: what they show, all cells do.
    starts = np.unique(np.round(np.linspace(0.0, STEPS, 41)).astype(np.int64))[:-1]

    def coarse(level: float, point: int) -> Floats:
        result: Floats = np.add.reduceat(sent(level, point, share), starts)
        return result

    for victim in counts:
        levels = people.budgets().tolist()
        levels.remove(victim)
        epsilon = 0.1 * share * victim
        (answer,) = account(
            SingleMessage(device), people, epsilon=epsilon, levels=[victim]
        ).levels
        exact = 0.0
        for held in (0, 2048, STEPS):
            others = shuffled([coarse(level, held) for level in levels])
            for x, other in [(0, 4096), (4096, 0), (2048, 0), (0, 3000), (3700, 500)]:
                worlds = [with_victim(others, coarse(victim, v)) for v in (x, other)]
                exact = max(exact, divergence(worlds[0], worlds[1], epsilon))
        assert 0.0 < answer.delta_central_lower <= exact * (1.0 + 1e-9)
        assert exact <= answer.delta_central * (1.0 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.99, 1.0])
def test_speaking_less_is_never_certified_for_more(share: float) -> None:
    people = Population.from_counts({0.1: 500, 0.5: 400, 1.0: 100})
    whole = account(ClipLaplace(0.1), people, delta=1e-6)

    less = account(SampledClipLaplace(0.1, share=share), people, delta=1e-6)

    for one, other in zip(less.levels, whole.levels, strict=True):
        assert one.epsilon_central_lower <= one.epsilon_central
        assert one.epsilon_central <= other.epsilon_central
        if share <= 0.3:
            assert one.epsilon_central <= 1.05 * share * other.epsilon_central


@pytest.mark.slow
def test_extreme_budgets_are_certified() -> None:
    people = Population.from_counts({0.0: 3, 1e-15: 2, 1.0: 5, 700.0: 2})

    for share in (1e-9, 0.5, 1.0):
        guarantee = account(SampledClipLaplace(share=share), people, delta=1e-6)
        for level in guarantee.levels:
            assert level.epsilon_central_lower <= level.epsilon_central
            assert level.epsilon_central <= level.chosen


@pytest.mark.slow
def test_device_sends_what_it_says() -> None:
    found = check_randomizer(
        SampledClipLaplace(0.25, share=0.4), rng=np.random.default_rng(17)
    )

    assert found.failed == ()


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, math.nan])
def test_shares_out_of_range_are_refused(share: float) -> None:
    with pytest.raises(InvalidInputError, match=r"share in \(0, 1\]"):
        SampledClipLaplace(1.0, share=share)
