"""Grids of any number of cells: laws, moments and crowds, against sums over cells."""

import math
from typing import Any, TypeAlias

import numpy as np
import pytest
from covering import covering
from scipy.special import ndtr
from scipy.stats import chi2

from shuffledp import ClipLaplace, Gaussian, InvalidInputError, Laplace, SystemRandom
from shuffledp.types import Floats, Ints

Grid: TypeAlias = Laplace | ClipLaplace | Gaussian
KINDS = [Laplace, ClipLaplace, Gaussian]
# Of each of about 70 comparisons: a false alarm in 7e-7 of all seeds.
FALSE_ALARM = 1e-8


def device_of(kind: Any, cells: int) -> Grid:
    device: Grid = (
        kind(cells=cells) if kind is ClipLaplace else kind(-1.0, 1.0, cells=cells)
    )
    return device


def law_at(device: Grid, level: float, point: int) -> tuple[Ints, Floats]:
    """Cells, and their chances around a grid point, from the densities."""
    size = device.cells
    if isinstance(device, Gaussian):
        length = 2.0 / float(device.deviations(np.array([level]))[0]) / size
        reach = math.ceil(38.0 / length)
        cells = np.arange(point - reach, point + reach)
        edges = length * np.abs([cells - point, cells + 1 - point])
        return cells, np.abs(np.diff(ndtr(-edges), axis=0)[0])
    decay = level / size
    reach = size if isinstance(device, ClipLaplace) else math.ceil(745.0 / decay)
    cells = np.arange(point - reach, point + reach)
    chances = np.exp(-decay * np.where(cells < point, point - 1 - cells, cells - point))
    if isinstance(device, ClipLaplace):
        chances[(cells < 0) | (cells >= size)] = 0.0
    return cells, chances / chances.sum()


def law_of(device: Grid, level: float, value: float) -> dict[int, float]:
    """The chance of each message about a value from -1 to 1."""
    place = (value + 1.0) / 2.0 * device.cells
    below = math.floor(place)
    law: dict[int, float] = {}
    for point, weight in ((below, below + 1 - place), (below + 1, place - below)):
        if weight:
            for cell, chance in zip(*law_at(device, level, point), strict=True):
                law[int(cell)] = law.get(int(cell), 0.0) + weight * float(chance)
    return law


@pytest.mark.few_cases(11)
@pytest.mark.parametrize("level", [0.3, 4.0, 60.0])
@pytest.mark.parametrize("cells", [2, 3, 7, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_messages_follow_the_law_of_their_cells(
    kind: Any, cells: int, level: float
) -> None:
    device, size = device_of(kind, cells), 40_000

    for value in (-1.0, 0.15):
        messages = device.randomize(
            np.full(size, value), np.full(size, level), rng=np.random.default_rng(2)
        )

        device.check_messages(messages)
        law = law_of(device, level, value)
        found = dict(zip(*np.unique(messages, return_counts=True), strict=True))
        assert all(law.get(int(cell), 0.0) > 0.0 for cell in found)
        common = [cell for cell, chance in law.items() if size * chance >= 5.0]
        expected = size * np.array([law[cell] for cell in common])
        observed = np.array([found.get(cell, 0) for cell in common])
        statistic = float(((observed - expected) ** 2 / expected).sum())
        assert statistic < chi2.isf(FALSE_ALARM, max(len(common) - 1, 1))
        rare = size - observed.sum()
        assert rare <= (size - expected.sum()) + 6.0 * size**0.5


@pytest.mark.few_cases(12)
@pytest.mark.parametrize(
    ("cells", "level"),
    [(2, 0.1), (2, 1.0), (2, 700.0), (3, 0.5), (3, 20.0), (100, 2.0), (4096, 100.0)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_moments_are_those_of_the_middles_of_cells(
    kind: Any, cells: int, level: float
) -> None:
    device, values = device_of(kind, cells), np.array([-1.0, -0.77, 0.0, 0.3, 1.0])

    means, variances = device.moments(np.array([level]), values)

    for value, mean, variance in zip(values, means[0], variances[0], strict=True):
        law = law_of(device, level, float(value))
        numbers = device.decode(np.array(list(law)))
        chances = np.array(list(law.values()))
        exact = float(chances @ numbers)
        # Tails beyond e^-40 are left out, and rounding adds up over a million cells.
        assert mean == pytest.approx(exact, abs=1e-11)
        spread = float(chances @ (numbers - exact) ** 2)
        assert variance == pytest.approx(spread, rel=1e-7, abs=1e-14)


@pytest.mark.slow
@covering(("cells", [2, 5]), ("kind", KINDS))
def test_whole_outcomes_of_crowds_are_as_likely_as_one_by_one(
    kind: Any, cells: int
) -> None:
    device, trials, rng = device_of(kind, cells), 3_000, np.random.default_rng(3)
    values, counts = np.array([-1.0, 0.1, 1.0]), [2, 1, 1]
    levels = np.full(trials, 8.0)

    sums = device.draw_sums(values, np.tile(counts, (trials, 1)), levels, rng=rng)

    held = np.tile(np.repeat(values, counts), trials)
    messages = device.randomize(held, np.repeat(levels, 4), rng=rng).astype(np.int64)
    rows = messages.reshape(trials, 4)
    single = np.stack([rows.sum(axis=1), (rows**2).sum(axis=1)], axis=1)
    both = np.vstack([sums[:, 1:].astype(np.int64), single])
    _, places = np.unique(both, axis=0, return_inverse=True)
    table = np.bincount(places.reshape(-1))
    first = np.bincount(places.reshape(-1)[:trials], minlength=table.size)
    second = table - first
    common = table >= 10
    statistic = float(((first - second)[common] ** 2 / table[common]).sum())
    assert np.all(sums[:, 0] == 4)
    assert common.sum() >= 4
    assert statistic < chi2.isf(FALSE_ALARM, common.sum() - 1)


@pytest.mark.parametrize("cells", [0, 1, -5, 2**20 + 1, 2.5, True, "many"])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_cells_that_make_no_sense_are_refused(kind: Any, cells: Any) -> None:
    with pytest.raises(InvalidInputError, match="cells"):
        kind(cells=cells)


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_say_how_many_cells_there_are(kind: Any) -> None:
    assert kind().parameters["cells"] == 4096
    assert kind(cells=7).parameters["cells"] == 7
    assert kind(cells=7).unit.cells == 7


@pytest.mark.parametrize("cells", [2, 3, 200, 300, 2**20])
def test_messages_within_the_range_take_few_bytes(cells: int) -> None:
    device = ClipLaplace(cells=cells)

    messages = device.randomize([-1.0, 1.0], [700.0, 700.0], rng=SystemRandom())

    # A neighboring cell is less likely by e^(700/cells): by 10^101, at most three cells.
    if cells <= 3:
        assert messages.tolist() == [0, cells - 1]
    assert messages.min() >= 0
    assert messages.max() <= cells - 1
    assert messages.dtype == np.min_scalar_type(cells - 1)
    assert 2 ** (device.bits_per_person(np.ones(1)) - 1) < cells
    assert cells <= 2 ** device.bits_per_person(np.ones(1))
