"""Oracles add up the 4096 cells one by one, and know no closed form."""

import math

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise import chi_square
from oracles.shuffled import divergence, shuffled, with_victim

from shuffledp import InvalidInputError, Population, account
from shuffledp.cover import ScoreAttack
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats, Ints

# Of draws with a fixed seed: the chance that a test fails by bad luck for a random seed.
FALSE_ALARM = 1e-5
STEPS = 4096
CELLS = np.arange(STEPS)


def noise_at(level: float, point: int) -> Floats:
    """Chances of all cells under Clip-Laplace around a point of the grid."""
    away = np.where(point <= CELLS, CELLS - point, point - 1 - CELLS)
    density = np.exp(-level / STEPS * away)
    result: Floats = density / density.sum()
    return result


def is_kept(threshold: int) -> "np.typing.NDArray[np.bool_]":
    outer = np.ones(STEPS, dtype=np.bool_)
    outer[STEPS // 2 - threshold : STEPS // 2 + threshold] = False
    return outer


def sent(level: float, point: int, threshold: int) -> Floats:
    """Chances of all cells that a device may send."""
    noise, kept = noise_at(level, point), is_kept(threshold)
    dummy = float(noise[~kept].sum())
    result: Floats = np.where(kept, noise, 0.0) + dummy * noise_at(level, STEPS // 2)
    return result


def sent_from(level: float, position: float, threshold: int) -> Floats:
    """The same for a value between two points."""
    below = min(math.floor(position), STEPS - 1)
    share = position - below
    left, right = (sent(level, point, threshold) for point in (below, below + 1))
    return (1.0 - share) * left + share * right


def threshold_of(device: SparsifiedClipLaplace) -> int:
    (threshold,) = device.thresholds(np.array([1.0])).tolist()
    return int(threshold)


@pytest.mark.parametrize("share", [0.2, 0.001, 0.5, 0.9])
def test_the_outer_share_of_cells_is_kept_at_every_level(share: float) -> None:
    device = SparsifiedClipLaplace(2.0, share=share)

    thresholds = device.thresholds(np.array([0.0, 0.5, 8.0]))

    assert np.unique(thresholds).size == 1
    kept = device.keeps(CELLS)
    assert np.array_equal(kept, is_kept(int(thresholds[0])))
    # To a cell on either side.
    assert kept.mean() == pytest.approx(share, abs=1.0 / STEPS)


@pytest.mark.parametrize("position", [0.0, 1000.25, 2048.0, 3900.5, 4096.0])
def test_messages_fall_into_cells_as_often_as_they_should(position: float) -> None:
    device, size, levels = SparsifiedClipLaplace(3.0), 40_000, np.array([0.0, 1.0, 20])
    values = np.full(3 * size, -3.0 + 6.0 * position / STEPS)
    held = np.tile(levels, size)

    messages = device.randomize(values, held, rng=np.random.default_rng(int(position)))

    assert messages.dtype == np.uint16
    for level in levels.tolist():
        chances = sent_from(level, position, threshold_of(device))
        observed = np.bincount(messages[held == level], minlength=STEPS)
        assert chi_square(observed.astype(np.float64), size * chances) > FALSE_ALARM


@pytest.mark.parametrize("level", [1e-9, 0.05, 1.0, 8.0, 100.0, 700.0])
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_moments_are_sums_over_all_cells(level: float, share: float) -> None:
    device, middles = (
        SparsifiedClipLaplace(3.0, share=share),
        3.0 * ((CELLS + 0.5) / 2048 - 1),
    )
    positions = np.array([0.0, 0.25, 1500.5, 2048.3, 3686.0, 4095.5, 4096.0])

    means, variances = device.moments(
        np.array([level]), 3.0 * (positions / 2048.0 - 1.0)
    )

    for position, mean, variance in zip(positions, means[0], variances[0], strict=True):
        chances = sent_from(level, position, threshold_of(device))
        exact = float(chances @ middles)
        # 4096 roundings of numbers up to 3; the variance is stated to a part of a cell.
        assert mean == pytest.approx(exact, abs=1e-11)
        second = float(chances @ (middles - exact) ** 2)
        assert variance == pytest.approx(second, abs=1e-3 * (3.0 / 2048.0) ** 2)


@pytest.mark.parametrize("level", [0.01, 1.0, 30.0])
def test_bins_are_sums_of_cells(level: float) -> None:
    device = SparsifiedClipLaplace(1.0, share=0.2)

    for value in (-1.0, 0.0, 0.5, 1.0):
        bins = device.bins(np.array([level]), value)[0]

        # Forty bins as for other noise, and the threshold on either side.
        edges = np.round(np.linspace(-1.0, 1.0, 41) * 2048).astype(np.int64)
        inner = np.array([-threshold_of(device), threshold_of(device)])
        starts = np.union1d(edges, inner)[:-1] + 2048
        chances = sent_from(level, (value + 1.0) * 2048, threshold_of(device))
        assert bins == pytest.approx(np.add.reduceat(chances, starts), rel=1e-9)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("level", [0.05, 1.0, 8.0, 60.0])
def test_what_is_sent_keeps_the_level_and_its_local_divergence(level: float) -> None:
    device = SparsifiedClipLaplace(1.0, share=0.2)
    kept = np.flatnonzero(is_kept(threshold_of(device)))
    with mp.workdps(30):
        laws = []
        for point in (0, 1000, 2048, STEPS):
            weights = [mp.exp(-mp.mpf(level) / STEPS * int(a)) for a in range(STEPS)]
            away = np.where(point <= CELLS, CELLS - point, point - 1 - CELLS)
            noise = np.array(weights)[away]
            laws.append(noise / noise.sum())
        middle = laws[2]
        outer = [law[kept] + (1 - law[kept].sum()) * middle[kept] for law in laws]
        measured = max(
            abs(mp.log(one[cell] / two[cell]))
            for one in outer
            for two in outer
            for cell in (0, kept.size // 2 - 1, kept.size - 1)
        )

    assert measured <= level
    for share in (0.0, 0.3, 0.9):
        epsilon = share * level
        first, second = (sent(level, p, threshold_of(device)) for p in (0, STEPS))
        shown = np.maximum(first - math.exp(epsilon) * second, 0.0).sum()
        assert shown <= device.local_delta(level, epsilon) * (1.0 + 1e-9)
    assert device.local_delta(level, level) == 0.0


SMALL: list[dict[float, int]] = [{2.0: 2}, {0.5: 1, 3.0: 1}, {1.0: 3}, {0.5: 1, 2.0: 2}]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("counts", SMALL, ids=str)
def test_messages_of_few_people_never_exceed_the_certificate(
    counts: dict[float, int],
) -> None:
    people, device = (
        Population.from_counts(counts),
        SparsifiedClipLaplace(1.0, share=0.25),
    )
    t, size = threshold_of(device), {2: 256, 3: 32}[people.num_users]

    def coarse(level: float, point: int) -> Floats:
        result: Floats = sent(level, point, t).reshape(size, -1).sum(axis=1)
        return result

    for victim in counts:
        levels = people.budgets().tolist()
        levels.remove(victim)
        epsilon = 0.25 * victim
        (answer,) = account(
            SingleMessage(device), people, epsilon=epsilon, levels=[victim]
        ).levels
        for point in (0, 2048, STEPS):
            others = shuffled([coarse(level, point) for level in levels])
            for x, other in [(0, 4096), (4096, 0), (2048, 0), (0, 3000), (3700, 500)]:
                worlds = [with_victim(others, coarse(victim, v)) for v in (x, other)]
                exact = divergence(worlds[0], worlds[1], epsilon)
                assert exact <= answer.delta_central * (1.0 + 1e-12)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(
    level=st.floats(0.1, 5.0),
    others=st.floats(0.0, 3.0),
    size=st.integers(1, 3000),
    share=st.floats(0.01, 0.99),
)
def test_attack_never_exceeds_the_certificate(
    level: float, others: float, size: int, share: float
) -> None:
    people = Population.from_counts(
        {level: 1} | {others: size} if others != level else {level: size + 1}
    )

    guarantee = account(
        SingleMessage(SparsifiedClipLaplace(0.1, share=share)), people, delta=1e-6
    )

    for answer in guarantee.levels:
        assert answer.epsilon_central_lower <= answer.epsilon_central
        assert answer.epsilon_central <= answer.chosen


def test_attack_speaks_of_the_two_ends() -> None:
    device, people = (
        SparsifiedClipLaplace(1.0, share=0.2),
        Population.from_counts({1.0: 1000}),
    )

    ((attack, *_),) = device.attacks([1.0], people)

    assert isinstance(attack, ScoreAttack)
    first = attack.second + attack.difference
    assert first.sum() == pytest.approx(1.0)
    # Chances of scores are those of cells, put together: no more is shown by them.
    worlds = [sent(1.0, point, threshold_of(device)) for point in (0, STEPS)]
    shown = np.maximum(worlds[0] - worlds[1], 0.0).sum()
    assert np.maximum(attack.difference, 0.0).sum() <= shown * (1.0 + 1e-9)


@pytest.mark.slow
def test_numbers_at_ten_thousand_people() -> None:
    budgets = 0.05 + 0.95 * (np.arange(10_000) + 0.5) / 10_000
    budgets[-1] = 1.0
    people = Population.from_budgets(budgets)

    (most_liberal,) = account(
        SingleMessage(SparsifiedClipLaplace(0.1, share=0.2)),
        people,
        delta=3.6e-5,
        coordinates=7850,
        levels=[1.0],
    ).levels

    assert most_liberal.epsilon_central_lower >= 0.948
    assert most_liberal.epsilon_central <= 1.024


@pytest.mark.parametrize(
    ("clip", "share", "match"),
    [
        (0.0, 0.2, "clip"),
        (math.nan, 0.2, "clip"),
        (1.0, 0.0, "share"),
        (1.0, 1.0, "share"),
        (1.0, 1e-5, "share"),
        (1.0, math.nan, "share"),
    ],
)
def test_parameters_out_of_range(clip: float, share: float, match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        SparsifiedClipLaplace(clip, share=share)


def test_values_out_of_range_and_messages_that_are_none() -> None:
    device, rng = SparsifiedClipLaplace(1.0, share=0.2), np.random.default_rng(1)
    wrong: Ints = np.array([4096])

    with pytest.raises(InvalidInputError, match=r"\[-1, 1\]"):
        device.randomize([1.5], [1.0], rng=rng)
    with pytest.raises(InvalidInputError):
        device.check_messages(wrong)
    assert device.bits_per_person(np.array([1.0])) == 12.0
    assert device.decode(np.array([0, 4095])) == pytest.approx(
        [-1 + 1 / 4096, 1 - 1 / 4096]
    )
