"""Sums over a crowd follow the law of people who randomize one by one."""

import time
from typing import Any, TypeAlias

import numpy as np
import pytest
from covering import covering
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import chi2

from shuffledp import ClipLaplace, Gaussian, InvalidInputError, Laplace, OneBit
from shuffledp.randomizers import sampled_cells
from shuffledp.randomizers.drawn_counts import draw_multinomials, exact_sums, halves
from shuffledp.randomizers.number_randomizer import NumberRandomizer
from shuffledp.randomizers.sparsified_clip_laplace import SparsifiedClipLaplace
from shuffledp.types import Floats, Ints

# Of each comparison, of some forty: a false alarm in 4e-7 of all seeds.
FALSE_ALARM = 1e-8
STEPS = 4096
Grid: TypeAlias = Laplace | ClipLaplace | SparsifiedClipLaplace | Gaussian
GRIDS: list[Grid] = [
    Laplace(-1.0, 1.0),
    ClipLaplace(),
    SparsifiedClipLaplace(1.0, share=0.3),
    Gaussian(-1.0, 1.0, delta_local=1e-3),
]
# The same noise in fewer cells, where there is a choice: many crowds are faster in them.
COARSE: list[Grid] = [
    Laplace(-1.0, 1.0, cells=512),
    ClipLaplace(cells=512),
    SparsifiedClipLaplace(1.0, share=0.3),
    Gaussian(-1.0, 1.0, delta_local=1e-3, cells=512),
]


def chi_square(table: Floats, expected: Floats) -> float:
    return float(((table - expected) ** 2 / expected).sum())


def two_samples(first: NDArray[Any], second: NDArray[Any]) -> tuple[float, float]:
    """Pearson's statistic for one law behind both, in bins of both columns' quantiles."""
    both = np.vstack([first, second]).astype(np.float64)
    places = np.zeros(len(both), dtype=np.int64)
    for column in both.T:
        edges = np.unique(np.quantile(column, np.linspace(0.0, 1.0, 8)[1:-1]))
        places = 7 * places + np.searchsorted(edges, column, side="right")
    table = np.array(
        [np.bincount(part, minlength=49) for part in np.split(places, 2)], dtype=float
    )
    table = table[:, table.sum(axis=0) >= 10]
    expected = np.broadcast_to(table.sum(axis=0) / 2.0, table.shape)
    return chi_square(table, expected), float(
        chi2.isf(FALSE_ALARM, max(table.shape[1] - 1, 1))
    )


def sums_one_by_one(
    device: NumberRandomizer,
    values: Floats,
    counts: list[int],
    levels: Floats,
    rng: np.random.Generator,
) -> Ints:
    """Sum and sum of squares of each level's messages, shape (levels, 2)."""
    held = np.tile(np.repeat(values, counts), levels.size)
    messages = device.randomize(held, np.repeat(levels, sum(counts)), rng=rng)
    rows = messages.reshape(levels.size, -1).astype(np.int64)
    return np.stack([rows.sum(axis=1), (rows**2).sum(axis=1)], axis=1)


@pytest.mark.parametrize("level", [0.0, 0.7, 5.0])
def test_bits_are_as_likely_as_one_by_one(level: float) -> None:
    device, rng, trials = OneBit(0.0, 4.0), np.random.default_rng(7), 20_000
    values, counts = np.array([0.0, 1.0, 3.5, 4.0]), [2, 1, 0, 1]
    levels = np.full(trials, level)

    sums = device.draw_sums(values, np.tile(counts, (trials, 1)), levels, rng=rng)

    assert np.all(sums[:, 0] == 4)
    assert np.array_equal(sums[:, 1], sums[:, 2])
    first = sums[:, 1:].astype(np.int64)
    second = sums_one_by_one(device, values, counts, levels, rng)
    table = np.array([np.bincount(part[:, 0], minlength=5) for part in (first, second)])
    expected = table.sum(axis=0) / 2.0
    assert chi_square(table, expected) < chi2.isf(FALSE_ALARM, 4)


@pytest.mark.slow
@covering(
    ("device", COARSE), ("level", [30.0, 700.0]), ("crowd", [False, True]), ids=repr
)
def test_sums_of_cells_are_as_likely_as_one_by_one(
    device: Grid, level: float, crowd: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if crowd:
        # Few people are drawn one by one, unless there are no few.
        monkeypatch.setattr(sampled_cells, "_MAX_SEPARATE", 0)
        monkeypatch.setattr(sampled_cells, "_CELLS_PER_USER", 2**40)
    rng, trials = np.random.default_rng(8), 2_000
    values, counts = np.array([-1.0, 0.3 / device.cells, 0.5, 1.0]), [1, 2, 0, 1]
    levels = np.full(trials, level)

    sums = device.draw_sums(values, np.tile(counts, (trials, 1)), levels, rng=rng)

    assert np.all(sums[:, 0] == 4)
    statistic, limit = two_samples(
        sums[:, 1:], sums_one_by_one(device, values, counts, levels, rng)
    )
    assert statistic < limit


def laplace_cells(level: float, point: int, cells: Ints) -> Floats:
    away = np.where(cells >= point, cells - point, point - 1 - cells)
    chances: Floats = -np.expm1(-level / STEPS) * np.exp(-level / STEPS * away) / 2.0
    return chances


def cell_law(device: Grid, level: float, point: int, cells: Ints) -> Floats:
    """The chances of cells, from densities on the line."""
    if isinstance(device, Gaussian):
        length = 2.0 / float(device.deviations(np.array([level]))[0]) / STEPS
        below = ndtr(length * (cells - point))
        normal: Floats = ndtr(length * (cells + 1 - point)) - below
        return normal
    chances: Floats = laplace_cells(level, point, cells)
    if isinstance(device, Laplace):
        return chances
    within = np.arange(STEPS)
    chances /= laplace_cells(level, point, within).sum()
    chances[(cells < 0) | (cells >= STEPS)] = 0.0
    if isinstance(device, SparsifiedClipLaplace):
        kept = device.keeps(cells)
        dummies = cell_law(ClipLaplace(), level, STEPS // 2, cells)
        chances = np.where(kept, chances, 0.0) + chances[~kept].sum() * dummies
    return chances


@pytest.mark.few_cases(5)
@pytest.mark.parametrize("level", [0.5, 8.0])
@pytest.mark.parametrize("device", GRIDS, ids=repr)
def test_cells_of_a_large_crowd_follow_the_law(device: Grid, level: float) -> None:
    points = np.zeros(STEPS + 1, dtype=np.int64)
    points[[0, 1500, STEPS]] = people = [10**8, 2 * 10**8, 5 * 10**7]
    cells = np.arange(-60 * STEPS, 61 * STEPS)
    found = np.zeros(cells.size)

    for messages, often in device.draw_population(
        points, level, rng=np.random.default_rng(9)
    ):
        inside = (messages >= cells[0]) & (messages <= cells[-1])
        np.add.at(found, messages[inside] - cells[0], often[inside])

    expected = np.zeros(cells.size)
    for point, number in zip([0, 1500, STEPS], people, strict=True):
        expected += number * cell_law(device, level, point, cells)
    common = expected >= 10.0
    assert found.sum() == pytest.approx(sum(people), rel=1e-6)
    assert found[expected == 0.0].sum() == 0
    statistic = chi_square(found[common], expected[common])
    assert statistic < chi2.isf(FALSE_ALARM, common.sum() - 1)


@pytest.mark.parametrize(("device", "seconds"), [(OneBit(), 0.1), (Laplace(), 2.0)])
def test_ten_billion_people_take_a_moment(device: Any, seconds: float) -> None:
    levels, values = np.array([0.5, 1.0, 4.0]), np.linspace(0.0, 1.0, 11)
    counts = np.full((3, 11), 10**10 // 33)
    started = time.process_time()

    sums = device.draw_sums(values, counts, levels, rng=np.random.default_rng(10))

    assert time.process_time() - started < seconds
    for row, level in zip(sums, levels, strict=True):
        number, total, squares = row.tolist()
        assert all(type(part) is int for part in (number, total, squares))
        assert number == counts[0].sum()
        average, variance = total / number, squares / number - (total / number) ** 2
        scale = device.decode(np.array([1])) - device.decode(np.array([0]))
        mean, noise = device.moments(np.array([level]), values)
        # Sums are unbiased: six standard errors.
        error = 6.0 * (variance / number) ** 0.5
        assert abs(average - (mean.mean() - device.decode(np.array([0]))) / scale) < (
            error
        )
        spread = (noise.mean() + mean.var()) / scale**2
        # Of a variance; the fourth moment of Laplace noise is 6 variances squared.
        assert abs(variance / spread - 1.0) < 6.0 * (6.0 / number) ** 0.5 + 1e-6


@pytest.mark.parametrize("device", [*GRIDS, OneBit(-1.0, 1.0)], ids=repr)
def test_nobody_sends_nothing(device: NumberRandomizer) -> None:
    sums = device.draw_sums(
        np.array([-1.0, 0.2]),
        np.zeros((2, 2), dtype=np.int64),
        np.array([1.0, 2.0]),
        rng=np.random.default_rng(1),
    )

    assert sums.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("device", [Laplace(), Gaussian()], ids=repr)
def test_noise_too_wide_to_be_counted_is_refused(device: NumberRandomizer) -> None:
    values, rng = np.array([0.0, 1.0]), np.random.default_rng(1)

    for level in (1e-6, 1e-3):
        with pytest.raises(InvalidInputError, match="larger levels"):
            device.draw_sums(
                values, np.array([[10**9, 10**9]]), np.array([level]), rng=rng
            )
        few = device.draw_sums(values, np.array([[5, 5]]), np.array([level]), rng=rng)
        assert few[0, 0] == 10


@pytest.mark.parametrize("device", [*GRIDS, OneBit(-1.0, 1.0)], ids=repr)
@pytest.mark.parametrize(
    ("values", "counts", "level"),
    [
        ([1.5], [[1]], 1.0),
        ([np.nan], [[1]], 1.0),
        ([0.5], [[1, 2]], 1.0),
        ([0.5], [[-1]], 1.0),
        ([0.5], [[0.5]], 1.0),
        ([0.5], [[1]], -1.0),
        ([0.5], [[1]], np.inf),
    ],
)
def test_crowds_that_make_no_sense_are_refused(
    device: NumberRandomizer, values: Any, counts: Any, level: float
) -> None:
    with pytest.raises(InvalidInputError):
        device.draw_sums(
            np.array(values),
            np.array(counts),
            np.array([level]),
            rng=np.random.default_rng(1),
        )


@pytest.mark.parametrize("device", [*GRIDS, OneBit(3.0, 7.0)], ids=repr)
def test_unit_sends_the_same_messages(device: Any) -> None:
    middle, half = (device.low + device.high) / 2.0, (device.high - device.low) / 2.0
    values, levels = np.linspace(-1.0, 1.0, 500), np.full(500, 2.0)

    unit = device.unit.randomize(values, levels, rng=np.random.default_rng(3))
    own = device.randomize(middle + half * values, levels, rng=np.random.default_rng(3))

    assert (device.unit.low, device.unit.high) == (-1.0, 1.0)
    assert device.unit.mechanism == device.mechanism
    assert np.array_equal(unit, own)


def test_sums_of_any_size_are_exact() -> None:
    rng = np.random.default_rng(4)
    messages = rng.integers(-(2**40), 2**40, 1_000)
    counts = rng.integers(0, 10**7, 1_000)

    sums = exact_sums(messages, counts)

    pairs = list(zip(messages.tolist(), counts.tolist(), strict=True))
    assert sums == (
        sum(count for _, count in pairs),
        sum(message * count for message, count in pairs),
        sum(message**2 * count for message, count in pairs),
    )
    assert exact_sums(messages[:0], counts[:0]) == (0, 0, 0)


def test_people_are_scattered_by_weight() -> None:
    weights, rng = np.array([3.0, 0.0, 1e-9, 5.0, 1.0]), np.random.default_rng(5)

    places = draw_multinomials(np.array([10**9, 0, 90]), weights, rng=rng)

    assert places.sum(axis=1).tolist() == [10**9, 0, 90]
    assert not places[:, 1].any()
    share = weights / weights.sum()
    common = share > 1e-6
    expected = 10**9 * share[common]
    assert chi_square(places[0, common], expected) < chi2.isf(FALSE_ALARM, 3)
    assert 0 <= places[0, 2] <= 5
    assert draw_multinomials(np.array([7]), np.array([2.0]), rng=rng).tolist() == [[7]]


def test_halves_lie_beside_each_other() -> None:
    nodes = np.array([[4, 5], [6, 7]])

    both = halves(nodes, np.array([1.0, 0.0]), rng=np.random.default_rng(1))

    assert both.tolist() == [[4, 0, 0, 5], [6, 0, 0, 7]]
